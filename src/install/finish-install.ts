/**
 * What is made from the lock once it is replaced: the project's own copies. And what is no longer needed goes. A fault
 * here is a diagnostic: the skills are installed, and `metier install` makes the rest again.
 */
import { lstatSync } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { collectGarbage } from "../lock/collect-garbage.ts";
import type { LockEntry } from "../lock/lock-entry.ts";
import { type LockFile, lockedFolder, storeFolder } from "../lock/lock-places.ts";
import type { InstallParts } from "./install-request.ts";
import { copyFolder, stateOfCopy, takeAway } from "./project-copy.ts";

export interface FinishContext {
  readonly parts: InstallParts;
  readonly lockFile: LockFile;
}

/** `replaced` are the entries that stood there before. */
export function finishInstall(
  entries: readonly LockEntry[],
  replaced: readonly LockEntry[],
  context: FinishContext,
): readonly Diagnostic[] {
  return [
    ...replaced.flatMap((entry) => takeBackCopy(entry, entries, context)),
    ...entries.flatMap((entry) => makeCopy(entry, context)),
    ...tidyStore(context),
  ];
}

export function makeCopy(entry: LockEntry, { parts, lockFile }: FinishContext): readonly Diagnostic[] {
  if (!entry.copied) return [];
  const folder = lockedFolder(parts.places, lockFile, entry);
  return attempt(folder, () => copyFolder(storeFolder(parts.places, entry), folder));
}

/** A copy that no entry stands for any more, unless someone has changed it. */
function takeBackCopy(
  entry: LockEntry,
  entries: readonly LockEntry[],
  { parts, lockFile }: FinishContext,
): readonly Diagnostic[] {
  if (!entry.copied || entries.some(({ name, copied }) => copied && name === entry.name)) return [];
  const folder = lockedFolder(parts.places, lockFile, entry);
  if (stateOfCopy(folder, [entry.digest]) === "intact") return attempt(folder, () => takeAway(folder));
  return lstatSync(folder, { throwIfNoEntry: false }) ? [reportKept(folder)] : [];
}

export function tidyStore({ parts, lockFile }: FinishContext): readonly Diagnostic[] {
  return attempt(parts.places.store, () => collectGarbage(parts.places, [lockFile]).diagnostics);
}

/** The answer of `act`, or what went wrong with it. */
export function attempt(path: string, act: () => readonly Diagnostic[] | void): readonly Diagnostic[] {
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
    message: `\`${path}\` was changed since Metier put it there, so it stays.`,
    hint: "Remove it yourself if you do not want it, or use `--force`.",
  };
}
