/**
 * What an MCP server last said about its skills, in a file that only the user can write. It contains the server's own
 * words, checked again on every read: a modified file can do no more than a server could. Also where that file and the
 * skills' files are stored: in the cache, which is never searched.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { readBounded, writeAtomic } from "@metier/base/files";
import type { Places } from "@metier/base/places";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import {
  choiceShape,
  fitShape,
  listShape,
  recordShape,
  refuseShape,
  type Shape,
  testedShape,
  textShape,
} from "@metier/base/shape";
import { withLock } from "@metier/base/turns";
import { checkEntry, type RemoteEntry } from "./remote-entry.ts";

type CachePlaces = Pick<Places, "cache">;

export type CacheScope = "public" | "private";

export interface IndexedSkill {
  readonly entry: RemoteEntry;
  /** When the server last said so, in milliseconds since 1970. */
  readonly askedAt: number;
  /** How long it counts as current. */
  readonly ttlMs: number;
  /** Who may share the answer, according to the server. It is stored only for this user in any case. */
  readonly cacheScope: CacheScope;
  /** Not in the server's list: someone named it by its URI. */
  readonly isUnlisted?: true | undefined;
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

const VERSION = 1;
const MAX_BYTES = 64 * 1024 * 1024;

export function readIndex(places: CachePlaces, label: string): Result<RemoteIndex, Diagnostic> {
  const path = indexFile(places, label);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return missing(path, label);
  const read = readBounded(path, MAX_BYTES);
  if (!read.ok) return unusable(path, label, read.message);
  const unsafe = findUnsafety(read.stats);
  if (unsafe) return unusable(path, label, unsafe);
  const index = parseIndex(read.text);
  return index ? done(index) : unusable(path, label, "it is damaged.");
}

export function isCurrent({ askedAt, ttlMs }: Pick<IndexedSkill, "askedAt" | "ttlMs">, now: number): boolean {
  return askedAt <= now && now < askedAt + ttlMs;
}

/** Replaces what is known about a server with the result of `change`. */
export function changeIndex(
  places: CachePlaces,
  label: string,
  change: (index: RemoteIndex | undefined) => RemoteIndex,
): RemoteIndex {
  const path = indexFile(places, label);
  return withLock(path, () => {
    const before = readIndex(places, label);
    const after = change(before.ok ? before.value : undefined);
    writeAtomic(path, renderIndex(after), { flush: false });
    return after;
  });
}

/** In the protocol's words, since they are checked like a server's. */
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

const milliseconds = testedShape((value): value is number => typeof value === "number", "a number");

const skillShape = recordShape<IndexedSkill>(
  {
    entry(value, place) {
      const checked = checkEntry(value);
      return checked.ok ? checked.value : refuseShape(value, place, "an entry as a server declares it");
    },
    askedAt: milliseconds,
    ttlMs: milliseconds,
    cacheScope: choiceShape("public", "private"),
    isUnlisted: testedShape((value): value is true => value === true, "`true`"),
  },
  ["isUnlisted"],
);

const indexShape = recordShape<RemoteIndex & { readonly version: typeof VERSION }>({
  version: testedShape((value): value is typeof VERSION => value === VERSION, "a known version"),
  listedAt: testedShape(isMoment, "a moment"),
  refused: listShape(
    recordShape<RefusedEntry>(
      { uri: textShape, code: textShape as Shape<DiagnosticCode>, message: textShape },
      ["uri"],
    ),
  ),
  skills: listShape(skillShape),
});

/** Whatever is wrong with it, the server can be asked again. */
function parseIndex(text: string): RemoteIndex | undefined {
  try {
    return fitShape(indexShape, JSON.parse(text));
  } catch {
    return undefined; // Not JSON.
  }
}

/** One that a date can represent. */
function isMoment(value: unknown): value is number {
  return typeof value === "number" && !Number.isNaN(new Date(value).getTime());
}

/** Whether someone else could have written it. */
function findUnsafety({ uid, mode }: { readonly uid: bigint; readonly mode: bigint }): string | undefined {
  const user = process.getuid?.();
  if (user === undefined) return undefined;
  if (uid !== BigInt(user) && user !== 0) return `it belongs to user ${uid}.`;
  return (mode & 0o022n) === 0n ? undefined : "other users can write to it.";
}

function missing(path: string, label: string): Refused<Diagnostic> {
  return refused({
    code: "remote.never-asked",
    severity: "info",
    path,
    message: `The MCP server \`${label}\` has not been asked for its skills yet.`,
    hint: `Ask it with \`metier remote refresh ${label}\`.`,
  });
}

function unusable(path: string, label: string, why: string): Refused<Diagnostic> {
  return refused({
    code: "remote.index-unusable",
    severity: "warning",
    path,
    message: `Metier ignores its copy of the skill list of the MCP server \`${label}\`: ${why}`,
    hint: `Ask the server again with \`metier remote refresh ${label}\`.`,
  });
}

/** A path that identifies the server; no two skills of any servers share one. */
export function serversFolder({ cache }: CachePlaces): string {
  return join(cache, "mcp");
}

export function serverFolder(places: CachePlaces, label: string): string {
  return join(serversFolder(places), label);
}

export function indexFile(places: CachePlaces, label: string): string {
  return join(serverFolder(places, label), "index.json");
}

/** Contains a folder for each used skill. */
export function fetchedFolder(places: CachePlaces, label: string): string {
  return join(serverFolder(places, label), "skills");
}

const KEY_LENGTH = 32;

/** A folder per content, never changed. Its last part is the skill's own name. */
export function remoteFolder(
  places: CachePlaces,
  label: string,
  { uri, digest, frontmatter }: Pick<RemoteEntry, "uri" | "digest" | "frontmatter">,
): string {
  const key = digestBytes(`${uri}\n${digest}`).slice("sha256:".length).slice(0, KEY_LENGTH);
  return join(fetchedFolder(places, label), key, frontmatter.name);
}
