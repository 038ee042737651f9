/**
 * What is made from the lock once it is replaced: the project's own copies, and what other clients get. And what is no
 * longer needed goes. A fault here is a diagnostic: the skills are installed, and `metier install` makes the rest again.
 */
import { dirname } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { collectGarbage } from "../lock/collect-garbage.ts";
import type { LockEntry } from "../lock/lock-entry.ts";
import { isWithinOwner, type LockFile, lockedFolder, storeFolder } from "../lock/lock-places.ts";
import { reportOutside } from "../sources/installed-skills.ts";
import { makePlaces, takeBackPlaces } from "./fan-out.ts";
import type { InstallParts, InstallRequest } from "./install-request.ts";
import { copyFolder, removeEmptyAbove, stateOfCopy, takeAway } from "./project-copy.ts";
import { attempt, reportKept } from "./unfinished.ts";

export interface FinishContext {
  readonly parts: Pick<InstallParts, "places">;
  readonly lockFile: LockFile;
  readonly request?: Pick<InstallRequest, "force">;
}

/** `replaced` are the entries that stood there before. */
export function finishInstall(
  entries: readonly LockEntry[],
  replaced: readonly LockEntry[],
  context: FinishContext,
): readonly Diagnostic[] {
  const places = { places: context.parts.places, lockFile: context.lockFile, force: context.request?.force };
  return [
    ...replaced.flatMap((entry) => takeBackCopy(entry, entries, context)),
    ...replaced.flatMap((entry) => takeBackPlaces(entry, entries, places)),
    ...entries.flatMap((entry) => makeCopy(entry, context)),
    ...entries.flatMap((entry) => makePlaces(entry, digestsOf(entry, replaced), places)),
    ...tidyStore(context),
  ];
}

/** Of the versions that it took the place of. */
function digestsOf({ name }: LockEntry, replaced: readonly LockEntry[]): readonly string[] {
  return replaced.filter((entry) => entry.name === name).map(({ digest }) => digest);
}

export function makeCopy(entry: LockEntry, { parts, lockFile }: FinishContext): readonly Diagnostic[] {
  if (!entry.copied) return [];
  const folder = lockedFolder(parts.places, lockFile, entry);
  if (!isWithinOwner(lockFile, folder)) return [reportOutside(lockFile.path, folder)];
  return attempt(folder, () => void copyFolder(storeFolder(parts.places, entry), folder));
}

/** The project's copy goes, unless an entry that stays has it, or someone changed it and it is not to go by `force`. */
export function takeBackCopy(
  entry: LockEntry,
  kept: readonly LockEntry[],
  { parts, lockFile }: FinishContext,
  force: boolean = false,
): readonly Diagnostic[] {
  const { name, copied, digest, previous } = entry;
  if (!copied || kept.some((other) => other.copied && other.name === name)) return [];
  const folder = lockedFolder(parts.places, lockFile, entry);
  const state = stateOfCopy(folder, [digest, ...(previous ? [previous.digest] : [])]);
  if (state === "missing") return [];
  const mayGo = isWithinOwner(lockFile, folder) && (state === "intact" || force);
  if (!mayGo) return [reportKept(folder)];
  return attempt(folder, () => {
    takeAway(folder);
    removeEmptyAbove(folder, dirname(lockFile.path));
  });
}

/** A lock of another project that cannot be read keeps the garbage, which is no fault of what is done here. */
export function tidyStore({ parts, lockFile }: FinishContext): readonly Diagnostic[] {
  return attempt(parts.places.store, () =>
    collectGarbage(parts.places, [lockFile]).diagnostics.map((diagnostic) => ({
      ...diagnostic,
      severity: "info",
      message: `Nothing was tidied up in the store, since \`${diagnostic.path}\` cannot be read. ${diagnostic.message}`,
    })),
  );
}
