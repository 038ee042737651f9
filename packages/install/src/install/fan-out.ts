/**
 * Skills outside the store: links and copies in other clients' folders, and a project's own copies. The lock records a
 * path before anything is put there and until it is removed, so that the next command can finish what was interrupted.
 * What someone else put there or changed is never overwritten or removed without asking.
 */
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { makeOwnedName, removeAbandoned, removeFolder, tryToRemove } from "@metier/base/files";
import { isInside, type RealPathOf, realPathOr } from "@metier/base/places";
import {
  findDifference,
  type LockEntry,
  lockedFolder,
  type PlacedCopy,
  placedFolder,
} from "@metier/skills/trust";
import { type PlaceContext, stateOfPlace } from "./clients.ts";

/** By place, the target of the link that was just made there. */
export type LinkedPlaces = Pick<ReadonlyMap<string, string>, "get">;

export interface FanOutContext extends PlaceContext {
  /** Moves aside what is in the way. */
  readonly force?: boolean | undefined;
  /** If these links are still there, their places are right. */
  readonly linked?: LinkedPlaces | undefined;
}

/** Makes every path of an entry match the lock. `digests` are other contents that Metier put there. */
export function makePlaces(
  entry: LockEntry,
  digests: readonly string[],
  context: FanOutContext,
): readonly Diagnostic[] {
  return (entry.placed ?? []).flatMap((copy) => {
    const place = placedFolder(context.lockFile, copy);
    if (hasLink(place, context.linked?.get(place))) return [];
    return attempt(place, () => makePlace(copy, entry, digests, context));
  });
}

/** Asked again: something else was done since the link was made, and someone may have put another thing there. */
function hasLink(place: string, target: string | undefined): boolean {
  try {
    return target !== undefined && readlinkSync(place) === target;
  } catch {
    return false; // It is gone, or no link: whoever makes the place looks closer.
  }
}

function makePlace(
  copy: PlacedCopy,
  entry: LockEntry,
  digests: readonly string[],
  context: FanOutContext,
): readonly Diagnostic[] {
  const { places, lockFile, force } = context;
  const state = stateOfPlace(copy, entry, context, digests);
  if (state === "right") return [];
  const place = placedFolder(lockFile, copy);
  if (state === "refused") return [reportRefused(place, lockFile.path)];
  if (state === "foreign" && !force) return [reportKept(place)];
  const notes = state === "foreign" ? [moveAside(place)] : [];
  const folder = lockedFolder(places, lockFile, entry);
  if (copy.how === "copy") putCopy(folder, place);
  else linkFolder(folder, place);
  return notes;
}

/** Removes the paths of an entry, except those that another entry has now. */
export function takeBackPlaces(
  entry: LockEntry,
  kept: readonly LockEntry[],
  context: FanOutContext,
): readonly Diagnostic[] {
  const inUse = new Set(kept.flatMap(({ placed = [] }) => placed.map(({ path }) => path)));
  return (entry.placed ?? [])
    .filter(({ path }) => !inUse.has(path))
    .flatMap((copy) => {
      const place = placedFolder(context.lockFile, copy);
      return attempt(place, () => takeBackPlace(copy, entry, context));
    });
}

function takeBackPlace(copy: PlacedCopy, entry: LockEntry, context: FanOutContext): readonly Diagnostic[] {
  const place = placedFolder(context.lockFile, copy);
  const state = stateOfPlace(copy, entry, context);
  if (state === "missing" || state === "refused") return [];
  if (state === "foreign") return [context.force ? moveAside(place) : reportKept(place)];
  takeAway(place);
  removeEmptyAbove(place, ownerRoot(context));
  return [];
}

/** The root of a lock's paths: the home, whose lock is in `.metier`, or the project. */
function ownerRoot({ lockFile: { owner, path } }: PlaceContext): string {
  return owner === "user" ? dirname(dirname(path)) : dirname(path);
}

/** What a link in `place` says: relative, which survives moving or remounting the home. Both exist, except for the link. */
export function linkTarget(folder: string, place: string, realPathOf: RealPathOf = realPathOr): string {
  return relative(realPathOf(dirname(place)), realPathOf(folder));
}

/** Replaces an earlier link atomically. */
function linkFolder(folder: string, place: string): void {
  mkdirSync(dirname(place), { recursive: true });
  const target = linkTarget(folder, place);
  if (makeLink(target, place)) return;
  const staged = besideSkills(place);
  try {
    symlinkSync(target, staged, "dir");
    replaceByLink(staged, place);
  } finally {
    tryToRemove(staged);
  }
}

/** `false` if something is there. */
function makeLink(target: string, place: string): boolean {
  try {
    symlinkSync(target, place, "dir");
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function replaceByLink(staged: string, place: string): void {
  try {
    renameSync(staged, place);
  } catch (error) {
    if (!["EISDIR", "ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    takeAway(place); // An earlier copy, which cannot be replaced atomically.
    renameSync(staged, place);
  }
}

const ASIDE = ".metier-aside";

/** Out of the skills folder, so that nobody takes it for a skill. */
function moveAside(place: string): Diagnostic {
  const folder = join(dirname(realPathOr(dirname(place))), ASIDE);
  const stamp = new Date().toISOString().replaceAll(/[:.]/g, "-");
  const aside = join(folder, `${basename(place)}-${stamp}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  renameSync(place, aside);
  return {
    code: "install.moved-aside",
    severity: "warning",
    path: place,
    message: `\`${place}\` was not what Metier put there, so it was moved to \`${aside}\`.`,
  };
}

function reportRefused(place: string, lock: string): Diagnostic {
  return {
    code: "lock.outside-project",
    severity: "error",
    path: lock,
    message: `The project's lock names \`${place}\`, which is not a client's skills folder in the project; nothing was put there.`,
    hint: "Check who changed the lock; `metier install --project --agent <client>` records a valid path.",
  };
}

export type CopyState = "missing" | "intact" | "changed";

/** Contents that Metier may have put there: an interrupted update can leave a copy behind. */
export function ownDigests({ digest, previous }: LockEntry): readonly string[] {
  return previous ? [digest, previous.digest] : [digest];
}

/** Whether a folder has contents that Metier put there. */
export function stateOfCopy(folder: string, digests: readonly string[]): CopyState {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  const isIntact =
    stats.isDirectory() && digests.some((digest) => findDifference(folder, digest) === undefined);
  return isIntact ? "intact" : "changed";
}

/** Puts a copy of `from` there and replaces what is there: created next to it, then renamed. */
export function putCopy(from: string, target: string): void {
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

/** The store is private to the user; a copy gets normal file modes, for other tools and git. */
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

/** Disappears at once, however long removing takes. */
export function takeAway(folder: string): void {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
  const away = besideSkills(folder);
  renameSync(folder, away);
  removeFolder(away);
}

/** Removes empty parent folders that were created for it, up to the home or the project. */
export function removeEmptyAbove(folder: string, root: string): void {
  for (let above = dirname(folder); above !== root && isInside(above, root); above = dirname(above)) {
    try {
      rmdirSync(above);
    } catch {
      return; // It is not empty, or it is a link.
    }
  }
}

const STAGED = { prefix: ".metier-" };

/** A name next to the skills folder, where nothing is searched, on the same disk. */
function besideSkills(folder: string): string {
  const beside = dirname(realPathOr(dirname(folder)));
  removeAbandoned(beside, STAGED);
  return join(beside, makeOwnedName(STAGED));
}

/** The result of `act`, or a diagnostic that the folder could not be changed, which stops nothing. */
export function attempt(path: string, act: () => readonly Diagnostic[] | undefined): readonly Diagnostic[] {
  try {
    return act() ?? [];
  } catch (fault) {
    const message = `\`${path}\` could not be changed: ${(fault as Error).message}.`;
    const hint = "Make it writable, then run `metier install`.";
    return [{ code: "install.unfinished", severity: "warning", path, message, hint }];
  }
}

export function reportKept(path: string): Diagnostic {
  return {
    code: "install.kept",
    severity: "warning",
    path,
    message: `\`${path}\` was changed since Metier put it there, so it was kept.`,
    hint: "Remove it yourself if you do not want it, or pass `--force`.",
  };
}
