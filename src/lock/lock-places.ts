/** Where the locks are, and where the folders lie that they record. Light: whoever only asks this loads no parser. */
import { existsSync, lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { folderName } from "../host/folder-name.ts";
import { isInside, type Places } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { LockEntry, LockOwner, PlacedCopy } from "./lock-entry.ts";

/** A lock, and whose it is. */
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
