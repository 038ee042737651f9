/**
 * The skills in the folders of other clients: links into the store, or copies. The lock records a place before anything is
 * put there and until it is taken back, so that whoever was killed in between is followed by one who finds it. What
 * Metier did not put there is never overwritten.
 */
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { tryToRemove } from "../host/owned-names.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { LockEntry, PlacedCopy } from "../lock/lock-entry.ts";
import { lockedFolder, placedFolder } from "../lock/lock-places.ts";
import { type PlaceContext, stateOfPlace } from "./place-state.ts";
import { besideSkills, copyFolder, removeEmptyAbove, takeAway } from "./project-copy.ts";
import { attempt, reportKept } from "./unfinished.ts";

export interface FanOutContext extends PlaceContext {
  /** What stands in the way is moved aside. */
  readonly force?: boolean | undefined;
}

/** Makes every place of an entry what the lock records. `digests` are further contents that Metier put there. */
export function makePlaces(
  entry: LockEntry,
  digests: readonly string[],
  context: FanOutContext,
): readonly Diagnostic[] {
  return (entry.placed ?? []).flatMap((copy) => {
    const place = placedFolder(context.lockFile, copy);
    return attempt(place, () => makePlace(copy, entry, digests, context));
  });
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
  if (copy.how === "copy") copyFolder(folder, place);
  else linkFolder(folder, place);
  return notes;
}

/** Takes back the places of an entry, but not those that another entry has now. */
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

/** What a lock's places lie below: the home, whose lock is in `.metier`, or the project. */
function ownerRoot({ lockFile: { owner, path } }: PlaceContext): string {
  return owner === "user" ? dirname(dirname(path)) : dirname(path);
}

/** A relative link, so that a home which is moved or mounted elsewhere keeps it. An earlier link is replaced in one step. */
function linkFolder(folder: string, place: string): void {
  mkdirSync(dirname(place), { recursive: true });
  const staged = besideSkills(place);
  const parent = realPathOr(dirname(place));
  try {
    symlinkSync(relative(parent, realPathOr(folder)), staged, "dir");
    replaceByLink(staged, place);
  } finally {
    tryToRemove(staged);
  }
}

function replaceByLink(staged: string, place: string): void {
  try {
    renameSync(staged, place);
  } catch (error) {
    if (!["EISDIR", "ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    takeAway(place); // An earlier copy, which cannot be replaced in one step.
    renameSync(staged, place);
  }
}

const ASIDE = ".metier-aside";

/** Out of the folder of skills, where nobody takes it for one. */
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
    message: `\`${place}\` was not what Metier put there; it is at \`${aside}\` now.`,
  };
}

function reportRefused(place: string, lock: string): Diagnostic {
  return {
    code: "lock.outside-project",
    severity: "error",
    path: lock,
    message: `The project's lock names \`${place}\`, which is no skills folder of a client inside the project; nothing is put there.`,
    hint: "Look at who changed the lock; `metier install --project --agent <client>` records a place that is one.",
  };
}
