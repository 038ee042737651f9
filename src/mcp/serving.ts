/** What all connections of one server share: what was hashed, the watch over the skills' folders, and where faults go. */
import type { McpServer } from "@modelcontextprotocol/server";
import type { Catalog } from "../catalog/catalog.ts";
import { planListing } from "../disclose/plan-listing.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Metier } from "../runtime/create-metier.ts";
import type { Skill } from "../skill/skill.ts";
import type { SkillLibrary } from "../tools/skills/skill-tool.ts";
import { listPrompts } from "./answer-prompts.ts";
import { listTools } from "./answer-tools.ts";
import { buildServer } from "./build-server.ts";
import { createChangeNotices, type Listener } from "./change-notices.ts";
import type { Connection } from "./connection.ts";
import { createMcpConversation } from "./mcp-conversation.ts";
import type { McpServerOptions } from "./mcp-options.ts";
import { createServedSkills } from "./served-skills.ts";

export interface Serving {
  connect(): Connection;
  /** A server of the SDK that answers for a connection, and says nothing by itself. */
  build(connection: Connection): McpServer;
  /** The same for a connection that stays: it is told of changes. */
  open(): McpServer;
  /** Somebody else to be told of changes. The answer ends it. */
  follow(listener: Listener): () => void;
  onError(error: unknown): void;
  close(): void;
}

export function createServing(metier: Metier, options: McpServerOptions): Serving {
  const report = reportOnce(options.onDiagnostic);
  const onError = (error: unknown): void => report(describeFault(error));
  const library = metier.skillLibrary(options.caller);
  const served = createServedSkills({ metier, library, report });
  const connect = (): Connection => ({ metier, library, options, conversation: createMcpConversation() });
  const instructions = rememberListing(metier, library);
  const build = (connection: Connection): McpServer =>
    buildServer({ connection, served, instructions: instructions(), onWarning: onError });
  const notices = createChangeNotices({
    metier,
    lists: () => {
      const connection = connect();
      return {
        tools: JSON.stringify(listTools(connection)),
        prompts: JSON.stringify(listPrompts(connection)),
      };
    },
    onFault: onError,
  });
  const follow: Serving["follow"] = (listener) =>
    options.watch === false ? () => undefined : notices.add(listener);
  return {
    connect,
    build,
    follow,
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

/** Clients cut long instructions, and the tools tell the rest. */
const INSTRUCTION_TOKENS = 2_000;

/** Made once for each state of the catalog: over HTTP every request has a server of its own. */
function rememberListing(metier: Metier, library: SkillLibrary): () => string {
  let known: { readonly catalog: Catalog; readonly text: string } | undefined;
  return () => {
    const { catalog } = metier;
    if (known?.catalog !== catalog) known = { catalog, text: describeSkills(library.skills()) };
    return known.text;
  };
}

function describeSkills(skills: readonly Skill[]): string {
  if (skills.length === 0) return "There are no skills to use.";
  const options = { budget: INSTRUCTION_TOKENS, location: "none", activation: "tool" } as const;
  return planListing(skills, options).text;
}

/** Every list asks anew about every skill; whoever listens wants to hear of each thing once. */
function reportOnce(onDiagnostic: McpServerOptions["onDiagnostic"]): (diagnostic: Diagnostic) => void {
  const told = new Set<string>();
  return (diagnostic) => {
    const key = `${diagnostic.code}\0${diagnostic.path}\0${diagnostic.message}`;
    if (told.has(key)) return;
    if (told.size < MOST_REMEMBERED) told.add(key);
    onDiagnostic?.(diagnostic);
  };
}

const MOST_REMEMBERED = 10_000;

/** The SDK would tell in dozens of lines which of its schemas do not fit. */
const NO_MESSAGE = "A client sent what is no message of the protocol; it was not answered.";

function isZodError(error: unknown): boolean {
  return error instanceof Error && "issues" in error;
}

function describeFault(error: unknown): Diagnostic {
  const message = isZodError(error) ? NO_MESSAGE : error instanceof Error ? error.message : String(error);
  return { code: "mcp.connection", severity: "warning", path: "mcp", message };
}
