/**
 * What an MCP server said of its skills when it was last asked, in a file that only the user can write. It holds the
 * server's own words, and they are checked again on every reading: a file that someone changed gives no more than a
 * server could.
 */
import { lstatSync } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import type { Places } from "../host/places.ts";
import { readBounded } from "../host/read-bounded.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import { withLock } from "../trust/lock-file.ts";
import { checkEntry, type RemoteEntry } from "./check-entry.ts";
import { indexFile } from "./remote-places.ts";

type CachePlaces = Pick<Places, "cache">;

export type CacheScope = "public" | "private";

export interface IndexedSkill {
  readonly entry: RemoteEntry;
  /** When the server last said so, in milliseconds since 1970. */
  readonly askedAt: number;
  /** For how long it may be taken as current. */
  readonly ttlMs: number;
  /** Whom the server lets share its answer. It is kept for this user alone in any case. */
  readonly cacheScope: CacheScope;
  /** The server's list lacks it: someone named it by its URI. */
  readonly isUnlisted?: true;
}

/** Why an entry of the list is not used. */
export interface RefusedEntry {
  readonly uri?: string;
  readonly code: DiagnosticCode;
  readonly message: string;
}

export interface RemoteIndex {
  /** When the whole list was read. */
  readonly listedAt: number;
  readonly skills: readonly IndexedSkill[];
  readonly refused: readonly RefusedEntry[];
}

export type IndexRead =
  | { readonly ok: true; readonly index: RemoteIndex }
  | { readonly ok: false; readonly isMissing: boolean; readonly diagnostic: Diagnostic };

const VERSION = 1;
const MAX_BYTES = 64 * 1024 * 1024;

export function readIndex(places: CachePlaces, label: string): IndexRead {
  const path = indexFile(places, label);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return missing(path, label);
  const read = readBounded(path, MAX_BYTES);
  if (!read.ok) return unusable(path, label, read.message);
  const unsafe = findUnsafety(read.stats);
  if (unsafe) return unusable(path, label, unsafe);
  const index = parseIndex(read.text);
  return index ? { ok: true, index } : unusable(path, label, "it is damaged.");
}

export function isCurrent({ askedAt, ttlMs }: Pick<IndexedSkill, "askedAt" | "ttlMs">, now: number): boolean {
  return askedAt <= now && now < askedAt + ttlMs;
}

/** Replaces what is known of a server by what `change` makes of it. */
export function changeIndex(
  places: CachePlaces,
  label: string,
  change: (index: RemoteIndex | undefined) => RemoteIndex,
): RemoteIndex {
  const path = indexFile(places, label);
  return withLock(path, () => {
    const before = readIndex(places, label);
    const after = change(before.ok ? before.index : undefined);
    writeAtomic(path, renderIndex(after), { flush: false });
    return after;
  });
}

/** In the words of the protocol, since they are checked like a server's. */
function renderIndex({ listedAt, skills, refused }: RemoteIndex): string {
  const rows = skills.map(({ entry, ...facts }) => ({
    ...facts,
    entry: {
      uri: entry.uri,
      frontmatter: entry.frontmatter,
      resources: entry.files.map(({ uri, digest, size }) => ({ uri, digest, size })),
    },
  }));
  return `${JSON.stringify({ version: VERSION, listedAt, refused, skills: rows })}\n`;
}

interface WrittenIndex extends Omit<RemoteIndex, "skills"> {
  readonly version: number;
  readonly skills: readonly (Omit<IndexedSkill, "entry"> & { readonly entry: unknown })[];
}

function parseIndex(text: string): RemoteIndex | undefined {
  try {
    const { version, listedAt, refused, skills } = JSON.parse(text) as WrittenIndex;
    if (version !== VERSION || !isMoment(listedAt) || !refused.every(isRefused)) return undefined;
    const read = skills.map(({ entry, askedAt, ttlMs, cacheScope, isUnlisted }) => {
      const checked = checkEntry(entry);
      if (!checked.ok || typeof askedAt !== "number" || typeof ttlMs !== "number")
        throw new Error("no entry");
      const facts = { askedAt, ttlMs, cacheScope, ...(isUnlisted && { isUnlisted }) };
      return { entry: checked.entry, ...facts };
    });
    return { listedAt, refused, skills: read };
  } catch {
    return undefined; // Whatever is wrong with it, the server can be asked again.
  }
}

/** One that a date can tell. */
function isMoment(value: unknown): value is number {
  return typeof value === "number" && !Number.isNaN(new Date(value).getTime());
}

function isRefused({ uri, code, message }: RefusedEntry): boolean {
  return [uri ?? "", code, message].every((part) => typeof part === "string");
}

/** Whether someone else could have written it. */
function findUnsafety({ uid, mode }: { readonly uid: bigint; readonly mode: bigint }): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  if (uid !== BigInt(user) && user !== 0) return `it belongs to user ${uid}.`;
  return (mode & 0o022n) === 0n ? undefined : "others than you can write to it.";
}

function missing(path: string, label: string): IndexRead {
  return {
    ok: false,
    isMissing: true,
    diagnostic: {
      code: "remote.never-asked",
      severity: "info",
      path,
      message: `The MCP server \`${label}\` has not been asked for its skills yet.`,
      hint: `\`metier remote refresh ${label}\` asks it.`,
    },
  };
}

function unusable(path: string, label: string, why: string): IndexRead {
  return {
    ok: false,
    isMissing: false,
    diagnostic: {
      code: "remote.index-unusable",
      severity: "warning",
      path,
      message: `What is known of the MCP server \`${label}\` is not used: ${why}`,
      hint: `\`metier remote refresh ${label}\` asks the server again.`,
    },
  };
}
