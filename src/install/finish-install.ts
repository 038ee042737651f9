/**
 * What is made from the lock once it is replaced: the project's own copies, and what other clients get. And what is no
 * longer needed goes. A fault here is a diagnostic: the skills are installed, and `metier install` makes the rest again.
 */
import { lstatSync } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { collectGarbage } from "../lock/collect-garbage.ts";
import type { LockEntry } from "../lock/lock-entry.ts";
import { type LockFile, lockedFolder, storeFolder } from "../lock/lock-places.ts";
import { makePlaces, takeBackPlaces } from "./fan-out.ts";
import type { InstallParts, InstallRequest } from "./install-request.ts";
import { copyFolder, stateOfCopy, takeAway } from "./project-copy.ts";
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
  return attempt(folder, () => void copyFolder(storeFolder(parts.places, entry), folder));
}

/** A copy that no entry stands for any more, unless someone has changed it. */
function takeBackCopy(
  entry: LockEntry,
  entries: readonly LockEntry[],
  { parts, lockFile }: FinishContext,
): readonly Diagnostic[] {
  if (!entry.copied || entries.some(({ name, copied }) => copied && name === entry.name)) return [];
  const folder = lockedFolder(parts.places, lockFile, entry);
  if (stateOfCopy(folder, [entry.digest]) === "intact") return attempt(folder, () => void takeAway(folder));
  return lstatSync(folder, { throwIfNoEntry: false }) ? [reportKept(folder)] : [];
}

export function tidyStore({ parts, lockFile }: FinishContext): readonly Diagnostic[] {
  return attempt(parts.places.store, () => collectGarbage(parts.places, [lockFile]).diagnostics);
}
