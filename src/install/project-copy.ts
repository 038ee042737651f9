/**
 * The copy of an installed skill in a project, for repositories that keep their skills themselves. It is made whole beside
 * its place and renamed; what someone changed in it is never overwritten or removed unasked.
 */
import { cpSync, lstatSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeOwnedName, removeAbandoned } from "../host/owned-names.ts";
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
    takeAway(target);
    renameSync(staged, target);
  } finally {
    removeFolder(staged);
  }
}

/** At once for whoever looks, however long the removing takes. */
export function takeAway(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
  const away = besideSkills(folder);
  renameSync(folder, away);
  removeFolder(away);
}

const STAGED = { prefix: ".metier-" };

/** A name beside the folder of skills, where nothing is looked for, and on the same disk. */
export function besideSkills(folder: string): string {
  const beside = dirname(realPathOr(dirname(folder)));
  removeAbandoned(beside, STAGED);
  return join(beside, makeOwnedName(STAGED));
}
