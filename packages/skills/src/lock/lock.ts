/**
 * A lock, `metier.lock`: what it says of each installed skill and under which keys, where the locks are, and where the
 * folders lie that they record. Light: whoever only asks this loads no parser.
 */
import { existsSync, lstatSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isDigest } from "@metier/base/digest";
import { checkContainedPath, folderName } from "@metier/base/files";
import { isInside, type Places, realPathOr } from "@metier/base/places";
import { isSkillName, MAX_NAME_LENGTH } from "../skill/skill-name.ts";

export const SOURCE_KINDS = ["git", "folder", "archive", "file", "npm", "well-known"] as const;

/** What kind of source a skill was installed from. */
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** Where an installed skill came from, and which content it is, byte for byte. */
export interface LockEntry {
  /** Of the manifest; the folder in the store bears it. */
  readonly name: string;
  /** What the catalog calls it instead. */
  readonly alias?: string;
  /** The canonical address that `install` takes again, in a project's lock from the project's root; without secrets. */
  readonly source: string;
  /** The kind of source it came from. */
  readonly kind: SourceKind;
  /** As asked: branch, tag, commit, version or range. */
  readonly ref?: string;
  /**
   * Commit id, version and integrity, or the digest of the download. Of a folder its real path; a project's lock names
   * a folder of the project from the project's root, with `/`.
   */
  readonly resolved: string;
  /** Of the skill inside the source, with `/`; `""` is its root. */
  readonly path: string;
  /** The content identity, `sha256:…`. */
  readonly digest: string;
  /** A local folder that is used in place. */
  readonly linked?: true;
  /** The project's own copy, in `.metier/skills`. */
  readonly copied?: true;
  /** Who and when, from locks of earlier versions. New entries leave it out: it made every merge a conflict. */
  readonly installedBy?: string;
  /** ISO, UTC. */
  readonly installedAt?: string;
  /** ISO, UTC; from locks of earlier versions. */
  readonly updatedAt?: string;
  /** Where else it was put, for other clients. */
  readonly placed?: readonly PlacedCopy[];
  /** What a rollback goes back to. */
  readonly previous?: PreviousVersion;
}

/** A copy of an installed skill, or a link to it, in the skills folder of another client. */
export interface PlacedCopy {
  /** The client's name, such as `claude-code`. */
  readonly client: string;
  /** Absolute in the user's lock; in a project's relative to the project, with `/`. */
  readonly path: string;
  /** Whether it is a symbolic link or a copy. */
  readonly how: "link" | "copy";
}

/** The version of an installed skill before its last change: what a rollback restores. */
export interface PreviousVersion {
  /** Its content identity, `sha256:…`. */
  readonly digest: string;
  /** As in `LockEntry`, for that version. */
  readonly resolved: string;
  /** As asked then: branch, tag, commit, version or range. */
  readonly ref?: string;
  /** ISO, UTC; from locks of earlier versions. */
  readonly updatedAt?: string;
}

export interface Lock {
  /** No two are called alike. */
  readonly skills: readonly LockEntry[];
}

export const EMPTY_LOCK: Lock = Object.freeze({ skills: Object.freeze([]) });

/** A user's lock may name any folder of the machine; a project's is untrusted input and stays in the project. */
export type LockOwner = "user" | "project";

/** What the catalog calls the skill. */
export function calledAs({ name, alias }: Pick<LockEntry, "name" | "alias">): string {
  return alias ?? name;
}

export function findEntry({ skills }: Lock, called: string): LockEntry | undefined {
  return skills.find((entry) => calledAs(entry) === called);
}

/** The lock with this entry, without who and when, in place of one that is called the same. */
export function withEntry(lock: Lock, entry: LockEntry): Lock {
  const { installedBy, installedAt, updatedAt, ...undated } = entry;
  const isDated = [installedBy, installedAt, updatedAt].some((value) => value !== undefined);
  return { skills: [...withoutEntry(lock, calledAs(entry)).skills, isDated ? undated : entry] };
}

/** The same lock when nothing in it is called that. */
export function withoutEntry(lock: Lock, called: string): Lock {
  const skills = lock.skills.filter((entry) => calledAs(entry) !== called);
  return skills.length === lock.skills.length ? lock : { skills };
}

/** Which skill of which source an entry is, whatever its version: what belongs to one source is no other's. */
export function originOf({ kind, source, path }: Pick<LockEntry, "kind" | "source" | "path">): string {
  // Behind the name of a package stands its version, behind `#` the reference of a repository.
  const whole = kind === "npm" ? /^npm:(?:@[^/]+\/)?[^/@]+/.exec(source)?.[0] : source.split("#", 1)[0];
  return `${whole ?? source}#${path}`;
}

/** Where a lock is, and whose it is. */
export interface LockFile {
  readonly path: string;
  readonly owner: LockOwner;
}

export function userLockFile({ lockFile }: Pick<Places, "lockFile">): LockFile {
  return { path: lockFile, owner: "user" };
}

/** `root` is the project's: the repository's root, or the working directory outside of one. */
export function projectLockFile(root: string): LockFile {
  return { path: join(root, "metier.lock"), owner: "project" };
}

/** Leaves room for the digest in the 255 bytes that file systems allow. */
const MAX_NAME_BYTES = 200;
const DIGEST_LENGTH = 16;
const STORED = /^(.+)@[0-9a-f]{16}$/;

/** `<store>/<name>@<beginning of the digest>` */
export function storeFolder(
  { store }: Pick<Places, "store">,
  { name, digest }: Pick<LockEntry, "name" | "digest">,
): string {
  const start = "sha256:".length;
  const shown = Buffer.byteLength(name) > MAX_NAME_BYTES ? folderName(name) : name;
  return join(store, `${shown}@${digest.slice(start, start + DIGEST_LENGTH)}`);
}

/** The name of the skill, if a folder of the store can be called so. */
export function nameInStore(folder: string): string | undefined {
  return folder.includes("@") ? STORED.exec(folder)?.[1] : undefined;
}

/** Where the catalog reads an entry's skill: the linked folder, the project's own copy, or the folder in the store. */
export function lockedFolder(places: Pick<Places, "store">, lock: LockFile, entry: LockEntry): string {
  if (entry.linked) return ownersPath(lock, entry.resolved);
  if (entry.copied) return ownersPath(lock, `.metier/skills/${entry.name}`);
  return storeFolder(places, entry);
}

/** Where a copy or link for another client stands. */
export function placedFolder(lock: LockFile, { path }: Pick<PlacedCopy, "path">): string {
  return ownersPath(lock, path);
}

function ownersPath({ path, owner }: LockFile, named: string): string {
  return owner === "user" ? named : join(dirname(path), named);
}

/**
 * Whether a folder that a lock names may be used or removed on its word: a project's must not lead out of the project,
 * whatever links stand on the way. The last link of the path itself is not followed, since a placed copy may be one.
 */
export function isWithinOwner({ path, owner }: LockFile, folder: string): boolean {
  return owner === "user" || isInside(realPathAhead(dirname(folder)), realPathOr(dirname(path)));
}

/** Whether what a lock names is the owner's over all links, also the last one: for folders that are read where they are. */
export function leadsToOwner({ path, owner }: LockFile, folder: string): boolean {
  return owner === "user" || isInside(realPathOr(folder), realPathOr(dirname(path)));
}

/** The real path, also of a folder that is yet to be made; nowhere for a link that leads nowhere. */
function realPathAhead(folder: string): string {
  const parent = dirname(folder);
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined && parent !== folder) return join(realPathAhead(parent), basename(folder));
  return existsSync(folder) ? realPathOr(folder) : "";
}

/** How a key of a lock is written, and what may stand there. A lock may come from anyone who can commit. */
export interface LockField {
  /** In kebab-case; the property of an entry is the same in camelCase. */
  readonly key: string;
  /** Absent: it may be left out. */
  readonly needed?: true;
  /** For messages. */
  readonly allowed: string;
  accepts(value: unknown, owner: LockOwner): boolean;
}

const MAX_TEXT = 4_096;

/** One line that a person can read. */
function isLine(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    value.length <= MAX_TEXT &&
    value.isWellFormed() &&
    !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value)
  );
}

export function isLockName(value: unknown): value is string {
  return isLine(value) && isSkillName(value) && value === value.normalize("NFKC");
}

/** Relative, with `/`, and nothing in it that goes up. */
function isPathBelow(value: unknown): value is string {
  if (!isLine(value)) return false;
  const checked = checkContainedPath(value);
  return checked.ok && checked.path === value;
}

/** A folder that a lock may name. */
export function isOwnersPath(value: unknown, owner: LockOwner): value is string {
  if (owner === "project") return isPathBelow(value);
  return isLine(value) && isAbsolute(value) && resolve(value) === value;
}

function isTime(value: unknown): boolean {
  return (
    typeof value === "string" &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}

function isTrue(value: unknown): boolean {
  return value === true;
}

function isClientName(value: unknown): boolean {
  return typeof value === "string" && /^[a-z0-9]+(?:[.-][a-z0-9]+)*$/.test(value) && value.length <= 64;
}

const LINE = `a text of one line, of at most ${MAX_TEXT} characters`;
const NAME = `lower-case letters, digits and single hyphens, at most ${MAX_NAME_LENGTH}`;
const TIME = "a time such as `2026-01-31T12:00:00Z`";
const KINDS = SOURCE_KINDS.map((kind) => `\`${kind}\``).join(", ");
const TRUE = "`true`, or no such key";
const DIGEST = "`sha256:` and 64 hexadecimal digits";

const perhaps = (key: string, allowed: string, accepts: LockField["accepts"]): LockField => ({
  key,
  allowed,
  accepts,
});
const needed = (...row: Parameters<typeof perhaps>): LockField => ({ ...perhaps(...row), needed: true });

/** In the order in which they are written. */
export const ENTRY_FIELDS: readonly LockField[] = [
  perhaps("name", NAME, isLockName),
  needed("source", LINE, isLine),
  needed("kind", KINDS, (value) => SOURCE_KINDS.some((kind) => kind === value)),
  perhaps("ref", LINE, isLine),
  needed("resolved", LINE, isLine),
  needed(
    "path",
    'a path inside the source, with `/`; `""` for its root',
    (value) => value === "" || isPathBelow(value),
  ),
  needed("digest", DIGEST, isDigest),
  perhaps("linked", TRUE, isTrue),
  perhaps("copied", TRUE, isTrue),
  perhaps("installed-by", LINE, isLine),
  perhaps("installed-at", TIME, isTime),
  perhaps("updated-at", TIME, isTime),
];

export const PLACED_FIELDS: readonly LockField[] = [
  needed("client", "the name of a client, such as `claude-code`", isClientName),
  needed(
    "path",
    "in a project's lock a path inside the project, with `/`; in yours an absolute path",
    isOwnersPath,
  ),
  needed("how", "`link`, `copy`", (value) => value === "link" || value === "copy"),
];

export const PREVIOUS_FIELDS: readonly LockField[] = [
  needed("digest", DIGEST, isDigest),
  needed("resolved", LINE, isLine),
  perhaps("ref", LINE, isLine),
  perhaps("updated-at", TIME, isTime),
];
