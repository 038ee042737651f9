/**
 * A lock, `metier.lock`: what it records about each installed skill and under which keys, where the locks are, and
 * where their folders are. Loads no parser.
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

/** Where an installed skill came from, and its exact content. */
export interface LockEntry {
  /** From the manifest; also the folder's name in the store. */
  readonly name: string;
  /** Its name in the catalog instead. */
  readonly alias?: string;
  /** The canonical address for `install`, relative to the project's root in a project's lock; without secrets. */
  readonly source: string;
  /** The kind of source it came from. */
  readonly kind: SourceKind;
  /** As requested: branch, tag, commit, version or range. */
  readonly ref?: string;
  /**
   * Commit id, version and integrity, or the digest of the download. For a folder its real path; in a project's lock
   * relative to the project's root, with `/`.
   */
  readonly resolved: string;
  /** The skill's path inside the source, with `/`; `""` is its root. */
  readonly path: string;
  /** The content identity, `sha256:…`. */
  readonly digest: string;
  /** A local folder used in place. */
  readonly linked?: true;
  /** The project's own copy, in `.metier/skills`. */
  readonly copied?: true;
  /** Who and when, from locks of earlier versions. New entries omit it, because it made every merge a conflict. */
  readonly installedBy?: string;
  /** ISO, UTC. */
  readonly installedAt?: string;
  /** ISO, UTC; from locks of earlier versions. */
  readonly updatedAt?: string;
  /** Where else it was put, for other clients. */
  readonly placed?: readonly PlacedCopy[];
  /** What a rollback returns to. */
  readonly previous?: PreviousVersion;
}

/** A copy of an installed skill, or a link to it, in another client's skills folder. */
export interface PlacedCopy {
  /** The client's name, such as `claude-code`. */
  readonly client: string;
  /** Absolute in the user's lock; relative to the project in a project's, with `/`. */
  readonly path: string;
  /** Whether it is a symbolic link or a copy. */
  readonly how: "link" | "copy";
}

/** An installed skill's version before its last change: what a rollback restores. */
export interface PreviousVersion {
  /** Its content identity, `sha256:…`. */
  readonly digest: string;
  /** As in `LockEntry`, for that version. */
  readonly resolved: string;
  /** As requested then: branch, tag, commit, version or range. */
  readonly ref?: string;
  /** ISO, UTC; from locks of earlier versions. */
  readonly updatedAt?: string;
}

export interface Lock {
  /** Names are unique. */
  readonly skills: readonly LockEntry[];
}

export const EMPTY_LOCK: Lock = Object.freeze({ skills: Object.freeze([]) });

/** A user's lock may name any folder on the machine; a project's is untrusted input and stays in the project. */
export type LockOwner = "user" | "project";

/** The skill's name in the catalog. */
export function calledAs({ name, alias }: Pick<LockEntry, "name" | "alias">): string {
  return alias ?? name;
}

export function findEntry({ skills }: Lock, called: string): LockEntry | undefined {
  return skills.find((entry) => calledAs(entry) === called);
}

/** The lock with this entry, without who and when, replacing one with the same name. */
export function withEntry(lock: Lock, entry: LockEntry): Lock {
  const { installedBy, installedAt, updatedAt, ...undated } = entry;
  const isDated = [installedBy, installedAt, updatedAt].some((value) => value !== undefined);
  return { skills: [...withoutEntry(lock, calledAs(entry)).skills, isDated ? undated : entry] };
}

/** The same lock if no entry has that name. */
export function withoutEntry(lock: Lock, called: string): Lock {
  const skills = lock.skills.filter((entry) => calledAs(entry) !== called);
  return skills.length === lock.skills.length ? lock : { skills };
}

/** Which skill of which source an entry is, in any version: sources do not share skills. */
export function originOf({ kind, source, path }: Pick<LockEntry, "kind" | "source" | "path">): string {
  // A package name is followed by its version, a repository by `#` and its reference.
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

/** `root` is the project's: the repository's root, or the working directory outside one. */
export function projectLockFile(root: string): LockFile {
  return { path: join(root, "metier.lock"), owner: "project" };
}

/** Leaves room for the digest in the 255 bytes that file systems allow. */
const MAX_NAME_BYTES = 200;
const DIGEST_LENGTH = 16;
const STORED = /^(.+)@[0-9a-f]{16}$/;

/** `<store>/<name>@<start of the digest>` */
export function storeFolder(
  { store }: Pick<Places, "store">,
  { name, digest }: Pick<LockEntry, "name" | "digest">,
): string {
  const start = "sha256:".length;
  const shown = Buffer.byteLength(name) > MAX_NAME_BYTES ? folderName(name) : name;
  return join(store, `${shown}@${digest.slice(start, start + DIGEST_LENGTH)}`);
}

/** The skill's name, if a store folder can have it. */
export function nameInStore(folder: string): string | undefined {
  return folder.includes("@") ? STORED.exec(folder)?.[1] : undefined;
}

/** Where the catalog reads an entry's skill: the linked folder, the project's own copy, or the store folder. */
export function lockedFolder(places: Pick<Places, "store">, lock: LockFile, entry: LockEntry): string {
  if (entry.linked) return ownersPath(lock, entry.resolved);
  if (entry.copied) return ownersPath(lock, `.metier/skills/${entry.name}`);
  return storeFolder(places, entry);
}

/** Where another client's copy or link is. */
export function placedFolder(lock: LockFile, { path }: Pick<PlacedCopy, "path">): string {
  return ownersPath(lock, path);
}

function ownersPath({ path, owner }: LockFile, named: string): string {
  return owner === "user" ? named : join(dirname(path), named);
}

/**
 * Whether a folder that a lock names may be used or removed: a project's must not lead out of the project through any
 * link. The path's last link is not followed, since a placed copy may be one.
 */
export function isWithinOwner({ path, owner }: LockFile, folder: string): boolean {
  return owner === "user" || isInside(realPathAhead(dirname(folder)), realPathOr(dirname(path)));
}

/**
 * Whether what a lock names belongs to its owner through all links, including the last one: for folders that are read
 * in place.
 */
export function leadsToOwner({ path, owner }: LockFile, folder: string): boolean {
  return owner === "user" || isInside(realPathOr(folder), realPathOr(dirname(path)));
}

/** The real path, also of a folder to be created; none for a broken link. */
function realPathAhead(folder: string): string {
  const parent = dirname(folder);
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined && parent !== folder) return join(realPathAhead(parent), basename(folder));
  return existsSync(folder) ? realPathOr(folder) : "";
}

/** How a lock's key is written, and its allowed values. A lock may come from anyone who can commit. */
export interface LockField {
  /** In kebab-case; an entry's property is the same in camelCase. */
  readonly key: string;
  /** Absent: it is optional. */
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

/** Relative, with `/`, and without `..`. */
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

const LINE = `a single line of at most ${MAX_TEXT} characters`;
const NAME = `lowercase letters, digits and single hyphens, at most ${MAX_NAME_LENGTH}`;
const TIME = "a time such as `2026-01-31T12:00:00Z`";
const KINDS = SOURCE_KINDS.map((kind) => `\`${kind}\``).join(", ");
const TRUE = "`true`, or absent";
const DIGEST = "`sha256:` and 64 hexadecimal digits";

const perhaps = (key: string, allowed: string, accepts: LockField["accepts"]): LockField => ({
  key,
  allowed,
  accepts,
});
const needed = (...row: Parameters<typeof perhaps>): LockField => ({ ...perhaps(...row), needed: true });

/** In writing order. */
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
