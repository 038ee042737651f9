/**
 * The connections of one MCP server and what they share: skill entries, the watch on skill folders, and where errors
 * go. Each connection has an SDK server; in protocol versions without connections, each request has one.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { openHostCalls } from "@metier/base/diagnostic";
import { VERSION } from "@metier/base/places";
import { hideRuns, type SkillLibrary } from "@metier/run";
import { type Catalog, planListing } from "@metier/skills";
import { type CacheHint, McpServer } from "@modelcontextprotocol/server";
import { SkillsExtension } from "@modelcontextprotocol/server/ext/skills";
import type { Metier } from "../runtime/create-metier.ts";
import { type Connection, createMcpConversation, type McpHost } from "./connection.ts";
import { createEntries, type Entries } from "./entries.ts";
import { createKeptAnswers, type KeptAnswers } from "./kept-answers.ts";
import type { McpServerOptions } from "./mcp-server.ts";
import { answerPrompts, listPrompts } from "./prompts.ts";
import { answerResourceList, createSkillSource } from "./skills-extension.ts";
import { answerTools, listTools } from "./tools.ts";

export interface Connections {
  connect(): Connection;
  /** An SDK server that answers for a connection, and sends nothing on its own. */
  build(connection: Connection): McpServer;
  /** The same for a lasting connection, which is notified of changes. */
  open(): McpServer;
  /** Notifies someone else of changes too. The returned function stops it. */
  follow(listener: Listener): () => void;
  /** For one connection, or for all requests without one. */
  keepAnswers(): KeptAnswers;
  onError(error: unknown): void;
  close(): void;
}

export function createConnections(metier: Metier, options: McpServerOptions, host?: McpHost): Connections {
  const report = reportOnce(options.onDiagnostic);
  const onError = (error: unknown): void => report(describeFault(error));
  const library = metier.skillLibrary(options.caller);
  const entries = createEntries(metier, library, report, () => notices.isWatching());
  const connect = (): Connection => ({
    metier,
    library,
    options,
    host,
    conversation: createMcpConversation(),
  });
  const instructions = rememberListing(metier, library, options.run !== undefined);
  const build = (connection: Connection): McpServer =>
    buildServer(connection, entries, instructions(), onError);
  const lists = (): { readonly tools: string; readonly prompts: string } => {
    const connection = connect();
    return {
      tools: JSON.stringify(listTools(connection)),
      prompts: JSON.stringify(listPrompts(connection)),
    };
  };
  const notices = createChangeNotices(metier, lists, onError);
  const follow: Connections["follow"] = (listener) =>
    options.watch === false ? () => undefined : notices.add(listener);
  return {
    connect,
    build,
    follow,
    keepAnswers: () => createKeptAnswers(metier, library, entries, onError),
    onError,
    open() {
      const mcp = build(connect());
      const { server } = mcp;
      const send = (sent: Promise<void>): void => void sent.catch(onError);
      const end = follow({
        toolsChanged: () => send(server.sendToolListChanged()),
        promptsChanged: () => send(server.sendPromptListChanged()),
        resourcesChanged: () => send(server.sendResourceListChanged()),
      });
      server.onclose = end;
      return mcp;
    },
    close: () => notices.close(),
  };
}

/** Clients cut long instructions, and the tools provide the rest. */
const INSTRUCTION_TOKENS = 2_000;

/** Made once per catalog state: over HTTP, every request has its own server. */
function rememberListing(metier: Metier, library: SkillLibrary, canRun: boolean): () => string {
  let known: { readonly catalog: Catalog; readonly text: string } | undefined;
  return () => {
    const { catalog } = metier;
    const options = { budget: INSTRUCTION_TOKENS, location: "none", activation: "tool" } as const;
    if (known?.catalog !== catalog) {
      const { skills: list } = canRun ? library : hideRuns(library, metier.config.config);
      const skills = list();
      const text = skills.length === 0 ? "There are no skills to use." : planListing(skills, options).text;
      known = { catalog, text };
    }
    return known.text;
  };
}

/** Every list checks every skill again, but listeners want each report once. */
function reportOnce(onDiagnostic: McpServerOptions["onDiagnostic"]): (diagnostic: Diagnostic) => void {
  const told = new Set<string>();
  const tell = openHostCalls(undefined);
  return (diagnostic) => {
    const key = `${diagnostic.code}\0${diagnostic.path}\0${diagnostic.message}`;
    if (told.has(key)) return;
    if (told.size < MOST_REMEMBERED) told.add(key);
    tell("onDiagnostic", onDiagnostic, diagnostic);
  };
}

const MOST_REMEMBERED = 10_000;

/** The SDK would list in dozens of lines which of its schemas don't match. */
const NO_MESSAGE = "A client sent something that is not a protocol message; it was not answered.";

function describeFault(error: unknown): Diagnostic {
  const said = error instanceof Error ? error.message : String(error);
  const isZodError = error instanceof Error && "issues" in error;
  const message = isZodError ? NO_MESSAGE : said;
  return { code: "mcp.connection", severity: "warning", path: "mcp", message };
}

/**
 * Clients are notified of changes; this is for those that don't listen. One caller's answers aren't for anyone else.
 */
const CACHE: CacheHint = { ttlMs: 10_000, cacheScope: "private" };

/** `instructions` are what a client may put into its system prompt. */
function buildServer(
  connection: Connection,
  entries: Entries,
  instructions: string,
  onWarning: (message: string) => void,
): McpServer {
  const mcp = new McpServer(
    { name: "metier", title: "Metier", version: VERSION },
    {
      instructions,
      cacheHints: {
        "tools/list": CACHE,
        "prompts/list": CACHE,
        "resources/list": CACHE,
        "resources/templates/list": CACHE,
        "resources/read": CACHE,
        "server/discover": CACHE,
      },
    },
  );
  mcp.server.registerCapabilities({ tools: { listChanged: true }, prompts: { listChanged: true } });
  answerTools(mcp.server, connection);
  answerPrompts(mcp.server, connection);
  const { library, conversation } = connection;
  const source = createSkillSource(library, entries, conversation);
  const warn = ({ path, message }: { path: string; message: string }): void =>
    onWarning(`${path}: ${message}`);
  new SkillsExtension({ source, cacheHint: CACHE, onWarning: warn }).attach(mcp);
  answerResourceList(mcp.server, library, entries); // After the extension, which has its own answer.
  return mcp;
}

/** Who is notified: a connection, or everyone listening to an HTTP handler. */
interface Listener {
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
}

interface ChangeNotices {
  /** The returned function stops it. */
  add(listener: Listener): () => void;
  isWatching(): boolean;
  close(): void;
}

/**
 * Notifies clients when their lists change, while anyone is listening. `lists` returns the current lists, each as text
 * that changes when the list does. `onFault`: the new state couldn't be read, and the old one remains.
 */
function createChangeNotices(
  metier: Metier,
  lists: () => { readonly tools: string; readonly prompts: string },
  onFault: (fault: unknown) => void,
): ChangeNotices {
  const listeners = new Set<Listener>();
  let endWatch: (() => void) | undefined;
  let told = lists();
  const tell = (): void => {
    const now = lists();
    const before = told;
    told = now;
    for (const listener of listeners) {
      if (now.tools !== before.tools) listener.toolsChanged();
      if (now.prompts !== before.prompts) listener.promptsChanged();
      // Something below a skills folder changed, so digests may have changed even if the names didn't.
      listener.resourcesChanged();
    }
  };
  const end = (): void => {
    endWatch?.();
    endWatch = undefined;
  };
  return {
    add(listener) {
      listeners.add(listener);
      endWatch ??= metier.watch((outcome) => ("fault" in outcome ? onFault(outcome.fault) : tell()));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0) end();
      };
    },
    isWatching: () => endWatch !== undefined,
    close() {
      listeners.clear();
      end();
    },
  };
}
