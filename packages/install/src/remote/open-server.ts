/**
 * A connection to an MCP server, only for its skills: its declarations, page by page or one by one, and single files.
 * Everything the server or the connection does becomes an answer; the server's error messages are cleaned and redacted.
 * Its list is read within bounds: an endless list is refused.
 */
import { existsSync, readdirSync } from "node:fs";
import type { Diagnostic } from "@metier/base/diagnostic";
import { showPath } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import type { Places } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import {
  describeMcpFailure,
  fetchVariables,
  type McpParts,
  openMcpSession,
  type ProgramWords,
  showAddress,
  tidyFault,
} from "@metier/capabilities/mcp";
import { createRedactor, type SecretMachine } from "@metier/sandbox/secrets";
import type { StandardSchemaV1 } from "@modelcontextprotocol/client";
import type { RemoteServer } from "./find-remote.ts";
import { checkEntry, type EntryCheck, type EntryFault, type RemoteEntry } from "./remote-entry.ts";
import { type CacheScope, fetchedFolder, type RefusedEntry } from "./remote-index.ts";

export interface ServerSurroundings {
  readonly places: Pick<Places, "home" | "cache">;
  readonly environment: Environment;
  /** Fetches values that the config only references. */
  readonly machine: SecretMachine;
}

type Said = Result<unknown, Diagnostic>;

/** Answers are unchecked. */
export interface ServerConnection {
  /** A page of its list. */
  listPage(cursor?: string): Promise<Said>;
  /** Its declaration of one skill. */
  getSkill(uri: string): Promise<Said>;
  readFile(uri: string): Promise<Said>;
  close(): Promise<void>;
}

/** A 16 MiB file as base64 in JSON, and some more: a text may need escapes. */
const MAX_MESSAGE_BYTES = 40 * 1024 * 1024;
const INVALID_PARAMS = -32602;
/** How many times longer than one answer all answers of one connection may take. */
const PATIENCE = 10;

export async function openServer(
  remote: RemoteServer,
  surroundings: ServerSurroundings,
  signal?: AbortSignal,
): Promise<Result<ServerConnection, Diagnostic>> {
  const { label, timeoutMs } = remote;
  const redactor = createRedactor();
  const parts = await toParts(remote, surroundings, redactor);
  if (!parts.ok) return parts;
  const opened = await openMcpSession(parts.value, () => undefined, true);
  if (!opened.ok) return failed(label, tidyFault(opened, redactor).fault);
  const { client, transport } = opened.value;
  const { SkillsClient } = await import("@modelcontextprotocol/client/ext/skills");
  if (!new SkillsClient(client).supported) {
    await client.close();
    return failed(label, NO_SKILLS);
  }
  const patience = AbortSignal.timeout(timeoutMs * PATIENCE);
  const until = signal ? AbortSignal.any([signal, patience]) : patience;
  const limits = { timeout: timeoutMs, maxTotalTimeout: timeoutMs, signal: until };
  const ask = async (method: string, params: Readonly<Record<string, unknown>>): Promise<Said> => {
    try {
      return done(await client.request({ method, params }, ANYTHING, limits));
    } catch (error) {
      const { fault } = tidyFault(describeMcpFailure(parts.value, error, transport), redactor);
      const isUnknown = (error as { readonly code?: unknown }).code === INVALID_PARAMS;
      return failed(label, fault, isUnknown ? "remote.not-found" : "remote.unreachable");
    }
  };
  return done({
    listPage: (cursor) => ask("skills/list", cursor === undefined ? {} : { cursor }),
    getSkill: (uri) => ask("skills/get", { uri }),
    readFile: (uri) => ask("resources/read", { uri }),
    close: () => client.close(),
  });
}

/** We check what arrives, so that faults can be reported one by one. */
const ANYTHING: StandardSchemaV1 = {
  "~standard": { version: 1, vendor: "metier", validate: (value) => ({ value }) },
};

const NO_SKILLS = {
  message: "It does not offer skills: it does not declare the extension `io.modelcontextprotocol/skills`.",
  hint: "Remove it from `[mcp.servers]`, or ask its operator.",
};

/** Like other MCP connections; a bearer becomes the header. */
async function toParts(
  remote: RemoteServer,
  { places, environment, machine }: ServerSurroundings,
  redactor: McpParts["redactor"],
): Promise<Result<McpParts, Diagnostic>> {
  const { label, server, env, bearer, timeoutMs } = remote;
  const words = wordsFor(remote, places);
  const token = bearer && (await fetchVariables(words, { BEARER: bearer }, machine));
  if (token && !token.ok) return failed(label, token.fault);
  const value = token?.value.variables.BEARER;
  if (value !== undefined) redactor.add({ name: `mcp.servers.${label}.bearer`, value });
  return done({
    name: label,
    timeoutMs,
    server,
    env: value === undefined ? env : { AUTHORIZATION: { value: `Bearer ${value}`, secret: true } },
    surroundings: { home: places.home, environment, machine },
    redactor,
    maxBytes: MAX_MESSAGE_BYTES,
    words,
  });
}

/** Only the program of a command: its arguments may contain what a model must not read. */
function wordsFor({ label, server }: RemoteServer, places: ServerSurroundings["places"]): ProgramWords {
  const isProgram = "command" in server;
  const where = isProgram ? server.command[0] : showAddress(server.url);
  const table = `[mcp.servers.${label}]`;
  const check = `Check that it runs and that \`${isProgram ? "command" : "url"}\` in \`${table}\` is correct, then try again`;
  const fetched = fetchedFolder(places, label);
  const hasFetched = existsSync(fetched) && readdirSync(fetched).length > 0;
  const meanwhile = hasFetched ? "; until then, you can use what was fetched before" : "";
  return { subject: `The MCP server \`${label}\` (\`${where}\`)`, table, advice: `${check}${meanwhile}.` };
}

function failed(
  label: string,
  { message, hint }: { readonly message: string; readonly hint?: string | undefined },
  code: "remote.unreachable" | "remote.not-found" = "remote.unreachable",
): Refused<Diagnostic> {
  return refused({ code, severity: "error", path: `mcp:${label}`, message, hint });
}

interface ListedSkills extends Freshness {
  readonly entries: readonly RemoteEntry[];
  readonly refused: readonly RefusedEntry[];
}

export interface ListLimits {
  readonly pages: number;
  readonly entries: number;
  /** For all entries as JSON. */
  readonly bytes: number;
}

export const LIST_LIMITS: ListLimits = { pages: 64, entries: 5_000, bytes: 32 * 1024 * 1024 };

/** If a server does not say how long its answer is valid. */
const USUAL_TTL_MS = 5 * 60 * 1000;
/** The maximum, whatever a server says. */
const LONGEST_TTL_MS = 24 * 60 * 60 * 1000;

export async function listEntries(
  label: string,
  server: Pick<ServerConnection, "listPage">,
  limits: ListLimits = LIST_LIMITS,
): Promise<Result<ListedSkills, Diagnostic>> {
  const found: unknown[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  let freshness: Freshness | undefined;
  for (let cursor: string | undefined; ; ) {
    const said = await server.listPage(cursor);
    if (!said.ok) return said;
    const { skills, nextCursor } = said.value as { readonly skills?: unknown; readonly nextCursor?: unknown };
    if (!Array.isArray(skills)) return refuseList(label, "a page has no `skills` list");
    freshness ??= readFreshness(said.value);
    if (found.length + skills.length > limits.entries) {
      return refuseList(label, `it has more than ${limits.entries} entries`);
    }
    found.push(...skills);
    bytes += Buffer.byteLength(JSON.stringify(skills));
    if (bytes > limits.bytes) return refuseList(label, `it has more than ${limits.bytes} bytes`);
    if (typeof nextCursor !== "string") break;
    cursor = nextCursor;
    if (cursors.has(cursor)) return refuseList(label, "it never ends: a page links back to an earlier one");
    cursors.add(cursor);
    if (cursors.size >= limits.pages) return refuseList(label, `it has more than ${limits.pages} pages`);
  }
  return done({ ...sortEntries(label, found), ...freshness });
}

interface Freshness {
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

/** A server with an older protocol does not say it. */
export function readFreshness(result: unknown): Freshness {
  const { ttlMs, cacheScope } = result as { readonly ttlMs?: unknown; readonly cacheScope?: unknown };
  const isSaid = typeof ttlMs === "number" && ttlMs >= 0;
  return {
    ttlMs: isSaid ? Math.min(ttlMs, LONGEST_TTL_MS) : USUAL_TTL_MS,
    cacheScope: cacheScope === "public" ? "public" : "private",
  };
}

/** If a URI appears twice, no entry counts: which one is meant is unknown. */
function sortEntries(label: string, values: readonly unknown[]): Pick<ListedSkills, "entries" | "refused"> {
  const checks = values.map(checkEntry);
  const byUri = Map.groupBy(checks, uriOf);
  const entries: RemoteEntry[] = [];
  const rejected: RefusedEntry[] = [];
  for (const check of checks) {
    const uri = uriOf(check);
    const twice = uri !== undefined && (byUri.get(uri)?.length ?? 0) > 1 ? [TWICE] : [];
    if (check.ok && twice.length === 0) entries.push(check.value);
    else rejected.push(refuseEntry(label, uri, [...twice, ...(check.ok ? [] : check.refusal.faults)]));
  }
  return { entries, refused: rejected };
}

function uriOf(check: EntryCheck): string | undefined {
  return check.ok ? check.value.uri : check.refusal.uri;
}

const TWICE: EntryFault = { code: "remote.entry", fault: "its URI is listed more than once" };

/** Reported in one message; the first fault gives the code. */
export function refuseEntry(
  label: string,
  uri: string | undefined,
  faults: readonly EntryFault[],
): RefusedEntry {
  const [first] = faults;
  const which = uri === undefined ? "An entry" : `The skill ${showPath(uri)}`;
  const why = faults.map(({ fault }) => fault).join("; ");
  return {
    ...presentFields({ uri }),
    code: first?.code ?? "remote.entry",
    message: `${which} from the MCP server \`${label}\` was refused: ${why}.`,
  };
}

function refuseList(label: string, why: string): Refused<Diagnostic> {
  return refused({
    code: "remote.endless-list",
    severity: "error",
    path: `mcp:${label}`,
    message: `The skill list of the MCP server \`${label}\` was refused: ${why}.`,
    hint: "Metier keeps what it knew about the server before. Ask its operator.",
  });
}
