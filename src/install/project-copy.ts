/**
 * The copy of an installed skill in a project, for repositories that keep their skills themselves. It is made whole beside
 * its place and renamed; what someone changed in it is never overwritten or removed unasked.
 */
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeOwnedName, removeAbandoned } from "../host/owned-names.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { removeFolder } from "../host/remove-folder.ts";
import { findDifference } from "../lock/store.ts";

export type CopyState = "missing" | "intact" | "changed";

/** Whether a folder is one of the contents that Metier itself put there. */
export function stateOfCopy(folder: string, digests: readonly string[]): CopyState {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  const isIntact =
    stats.isDirectory() && digests.some((digest) => findDifference(folder, digest) === undefined);
  return isIntact ? "intact" : "changed";
}

/** Puts a copy of `from` there, in place of what is there. */
export function copyFolder(from: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  const staged = besideSkills(target);
  try {
    cpSync(from, staged, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
    openToOthers(staged);
    takeAway(target);
    renameSync(staged, target);
  } finally {
    removeFolder(staged);
  }
}

/** The store is the user's alone; a copy has the modes of files that anyone makes here, for other tools and for git. */
function openToOthers(folder: string): void {
  const closed = process.umask();
  chmodSync(folder, 0o777 & ~closed);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToOthers(path);
    else if (entry.isFile()) {
      const isExecutable = (lstatSync(path).mode & 0o111) !== 0;
      chmodSync(path, (isExecutable ? 0o777 : 0o666) & ~closed);
    }
  }
}

/** At once for whoever looks, however long the removing takes. */
export function takeAway(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
  const away = besideSkills(folder);
  renameSync(folder, away);
  removeFolder(away);
}

/** Folders that were made for what is gone: those above it that are empty, up to the home or the project. */
export function removeEmptyAbove(folder: string, root: string): void {
  for (let above = dirname(folder); above !== root && isInside(above, root); above = dirname(above)) {
    try {
      rmdirSync(above);
    } catch {
      return; // Something else is in it, or it is a link.
    }
  }
}

const STAGED = { prefix: ".metier-" };

/** A name beside the folder of skills, where nothing is looked for, and on the same disk. */
export function besideSkills(folder: string): string {
  const beside = dirname(realPathOr(dirname(folder)));
  removeAbandoned(beside, STAGED);
  return join(beside, makeOwnedName(STAGED));
}
