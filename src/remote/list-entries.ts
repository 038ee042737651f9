/** The whole list of a server's skills, page by page within bounds: a list without an end is no list. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { showPath } from "../host/contained-path.ts";
import { checkEntry, type EntryFault, type RemoteEntry } from "./check-entry.ts";
import type { Said, SkillServer } from "./open-server.ts";
import type { CacheScope, RefusedEntry } from "./remote-index.ts";

export interface ListedSkills {
  readonly entries: readonly RemoteEntry[];
  readonly refused: readonly RefusedEntry[];
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

export interface ListLimits {
  readonly pages: number;
  readonly entries: number;
  /** Of all entries as JSON. */
  readonly bytes: number;
}

export const LIST_LIMITS: ListLimits = { pages: 64, entries: 5_000, bytes: 32 * 1024 * 1024 };

/** Where a server does not say for how long its answer holds. */
const USUAL_TTL_MS = 5 * 60 * 1000;
/** However long a server says. */
const LONGEST_TTL_MS = 24 * 60 * 60 * 1000;

export async function listEntries(
  label: string,
  server: Pick<SkillServer, "listPage">,
  limits: ListLimits = LIST_LIMITS,
): Promise<Said<ListedSkills>> {
  const found: unknown[] = [];
  const cursors = new Set<string>();
  let bytes = 0;
  let freshness: Freshness | undefined;
  for (let cursor: string | undefined; ; ) {
    const said = await server.listPage(cursor);
    if (!said.ok) return said;
    const page = readPage(said.value);
    if (page === undefined) return refuse(label, "a page of it has no list `skills`");
    freshness ??= readFreshness(said.value);
    if (found.length + page.skills.length > limits.entries) {
      return refuse(label, `it has more than ${limits.entries} entries`);
    }
    found.push(...page.skills);
    bytes += Buffer.byteLength(JSON.stringify(page.skills));
    if (bytes > limits.bytes) return refuse(label, `it has more than ${limits.bytes} bytes`);
    cursor = page.nextCursor;
    if (cursor === undefined) break;
    if (cursors.has(cursor)) return refuse(label, "it has no end: a page leads back to one before it");
    cursors.add(cursor);
    if (cursors.size >= limits.pages) return refuse(label, `it has more than ${limits.pages} pages`);
  }
  return { ok: true, value: { ...sortEntries(label, found), ...freshness } };
}

export interface Freshness {
  readonly ttlMs: number;
  readonly cacheScope: CacheScope;
}

/** A server of an older protocol does not say it. */
export function readFreshness(result: unknown): Freshness {
  const { ttlMs, cacheScope } = result as { readonly ttlMs?: unknown; readonly cacheScope?: unknown };
  const isSaid = typeof ttlMs === "number" && ttlMs >= 0;
  return {
    ttlMs: isSaid ? Math.min(ttlMs, LONGEST_TTL_MS) : USUAL_TTL_MS,
    cacheScope: cacheScope === "public" ? "public" : "private",
  };
}

interface Page {
  readonly skills: readonly unknown[];
  readonly nextCursor?: string;
}

function readPage(result: unknown): Page | undefined {
  const { skills, nextCursor } = result as { readonly skills?: unknown; readonly nextCursor?: unknown };
  if (!Array.isArray(skills)) return undefined;
  return { skills, ...(typeof nextCursor === "string" && { nextCursor }) };
}

/** Of a URI that stands twice, no entry counts: nobody can tell which one is meant. */
function sortEntries(label: string, values: readonly unknown[]): Pick<ListedSkills, "entries" | "refused"> {
  const checks = values.map(checkEntry);
  const counts = new Map<string, number>();
  for (const check of checks) {
    const uri = check.ok ? check.entry.uri : check.uri;
    if (uri !== undefined) counts.set(uri, (counts.get(uri) ?? 0) + 1);
  }
  const entries: RemoteEntry[] = [];
  const refused: RefusedEntry[] = [];
  for (const check of checks) {
    const uri = check.ok ? check.entry.uri : check.uri;
    const twice = uri !== undefined && (counts.get(uri) ?? 0) > 1 ? [TWICE] : [];
    if (check.ok && twice.length === 0) entries.push(check.entry);
    else refused.push(refuseEntry(label, uri, [...twice, ...(check.ok ? [] : check.faults)]));
  }
  return { entries, refused };
}

const TWICE: EntryFault = { code: "remote.entry", fault: "its URI is listed more than once" };

/** Told in one message; the first fault gives the code. */
export function refuseEntry(
  label: string,
  uri: string | undefined,
  faults: readonly EntryFault[],
): RefusedEntry {
  const [first] = faults;
  const which = uri === undefined ? "An entry" : `The skill ${showPath(uri)}`;
  const why = faults.map(({ fault }) => fault).join("; ");
  return {
    ...(uri !== undefined && { uri }),
    code: first?.code ?? "remote.entry",
    message: `${which} of the MCP server \`${label}\` is refused: ${why}.`,
  };
}

function refuse(label: string, why: string): { readonly ok: false; readonly diagnostic: Diagnostic } {
  return {
    ok: false,
    diagnostic: {
      code: "remote.endless-list",
      severity: "error",
      path: `mcp:${label}`,
      message: `The list of skills of the MCP server \`${label}\` is refused: ${why}.`,
      hint: "Nothing of it is used; what was known of the server before stays. Ask whoever runs it.",
    },
  };
}
