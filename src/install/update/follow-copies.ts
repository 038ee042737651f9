/**
 * After a lock was changed, the folders that hold the skill elsewhere follow it: the project's own copy, and copies and
 * links for other clients. One that holds anything else than it may is left alone and named.
 */
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import type { LockEntry } from "../../lock/lock-entry.ts";
import { isWithinOwner, lockedFolder, storeFolder } from "../../lock/lock-places.ts";
import { makePlaces } from "../fan-out.ts";
import type { FinishContext } from "../finish-install.ts";
import { copyFolder, stateOfCopy } from "../project-copy.ts";
import { attempt, reportKept } from "../unfinished.ts";

/** `digests`: contents that may be overwritten, since they can be had again. */
export function followCopies(
  entry: LockEntry,
  digests: readonly string[],
  context: FinishContext,
): readonly Diagnostic[] {
  const { parts, lockFile } = context;
  return [
    ...(entry.copied ? followFolder(entry, digests, context) : []),
    ...makePlaces(entry, digests, { places: parts.places, lockFile }),
  ];
}

function followFolder(
  entry: LockEntry,
  digests: readonly string[],
  { parts, lockFile }: FinishContext,
): readonly Diagnostic[] {
  const folder = lockedFolder(parts.places, lockFile, entry);
  if (!isWithinOwner(lockFile, folder)) return [reportKept(folder)];
  if (stateOfCopy(folder, [entry.digest]) === "intact") return [];
  if (stateOfCopy(folder, digests) === "changed") return [reportKept(folder)];
  return attempt(folder, () => void copyFolder(storeFolder(parts.places, entry), folder));
}
