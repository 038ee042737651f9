/**
 * One step back: swaps the installed version with the one before the last update. Only the lock changes; the store has
 * the version, or it is fetched again and must match the lock byte for byte.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { presentFields } from "@metier/base/json";
import { done, type Refused } from "@metier/base/result";
import { changeLock } from "@metier/skills/formats";
import {
  calledAs,
  findDifference,
  findEntry,
  type LockEntry,
  type LockOwner,
  lockedFolder,
  storeFolder,
  withEntry,
} from "@metier/skills/trust";
import { chooseInstalled, type InstalledWish, type LockedEntry } from "./choose-skills.ts";
import { ownDigests } from "./fan-out.ts";
import { withQuarantine } from "./fetch-source.ts";
import {
  type CommandResult,
  type FaultOutcome,
  faulty,
  type InstallFault,
  lockFault,
  outcomeOf,
} from "./install-fault.ts";
import { type VersionMark, versionMark } from "./outdated.ts";
import { versionOf } from "./plan-skill.ts";
import { followCopies, tidyStore } from "./record-skills.ts";
import type { InstallParts, InstallRequest } from "./requests.ts";
import { fetchLocked } from "./restore.ts";
import { type EditedFolder, findEdited, heldFolders, keepAside } from "./update/review-update.ts";

/** Which lock, and whether to overwrite edits. */
export interface RollbackOptions
  extends Pick<InstalledWish, "project">,
    Pick<InstallRequest, "force" | "signal" | "onProgress"> {}

/** The version that a skill was rolled back to, or why it was not. */
export type RollbackOutcome =
  | {
      readonly ok: true;
      readonly name: string;
      readonly lock: LockOwner;
      readonly from: VersionMark;
      readonly to: VersionMark;
      /** The skill's folder. */
      readonly path: string;
      /** Where the edits were saved. */
      readonly kept: readonly string[];
      readonly diagnostics: readonly Diagnostic[];
    }
  | FaultOutcome;

export async function rollBack(
  name: string,
  options: RollbackOptions,
  parts: InstallParts,
): Promise<RollbackOutcome> {
  return outcomeOf(await stepBack(name, options, parts));
}

async function stepBack(
  name: string,
  options: RollbackOptions,
  parts: InstallParts,
): Promise<CommandResult<RollbackOutcome>> {
  const choice = chooseInstalled({ ...options, skills: [name] }, parts);
  if (!choice.ok) return choice;
  const [one, other] = choice.value;
  if (one === undefined || other !== undefined) return severalMeant(name);
  const earlier = earlierEntry(one.entry);
  if (earlier === undefined) return nothingBefore(one.entry);
  const edited = findEdited(heldFolders(one.entry, one.lockFile, parts), ownDigests(one.entry), undefined);
  if (!edited.ok) return edited;
  const [first] = edited.value;
  if (first !== undefined && !options.force) return changedByHand(name, first);
  const missing = await fetchMissing(earlier, one, options, parts);
  return missing ?? goBack(one, earlier, edited.value, parts);
}

/** The lock entry after the step; the way back is recorded the same way. */
function earlierEntry(entry: LockEntry): LockEntry | undefined {
  const { previous, ref: _, ...rest } = entry;
  if (previous === undefined) return undefined;
  return {
    ...rest,
    digest: previous.digest,
    resolved: previous.resolved,
    ...presentFields({ ref: previous.ref }),
    previous: versionOf(entry),
  };
}

async function fetchMissing(
  entry: LockEntry,
  { lockFile }: LockedEntry,
  { signal, onProgress }: RollbackOptions,
  parts: InstallParts,
): Promise<Refused<InstallFault> | undefined> {
  if (findDifference(storeFolder(parts.places, entry), entry.digest) === undefined) return undefined;
  const fetched = await withQuarantine(parts.places, (quarantine) =>
    fetchLocked([{ entry, lockFile }], { parts, quarantine, signal, onProgress }),
  );
  const failed = fetched.failed.get(entry);
  if (failed === undefined) return undefined;
  const message = `The previous version is no longer on this machine and cannot be fetched again. ${failed.reason}`;
  return faulty(failed.code, message, failed.hint ?? "The installed version stays as it is.");
}

function goBack(
  { entry, lockFile }: LockedEntry,
  earlier: LockEntry,
  edited: readonly EditedFolder[],
  parts: InstallParts,
): CommandResult<RollbackOutcome> {
  const { places } = parts;
  const kept = edited.map(({ folder, digest }) => keepAside(places, entry.name, folder, digest));
  const called = calledAs(entry);
  let isOther = false;
  const changed = changeLock(lockFile, (lock) => {
    isOther = findEntry(lock, called)?.digest !== entry.digest;
    return isOther ? lock : withEntry(lock, earlier);
  });
  if (!changed.ok) return lockFault(changed.refusal);
  if (isOther) {
    const message = `Another process just updated or removed \`${called}\`; nothing was changed.`;
    return faulty("install.changed", message, "Run the command again.");
  }
  const context = { places, lockFile };
  const replaceable = [...ownDigests(entry), ...edited.map(({ digest }) => digest)];
  return done({
    name: called,
    lock: lockFile.owner,
    from: versionMark(entry),
    to: versionMark(earlier),
    path: lockedFolder(places, lockFile, earlier),
    kept: [...new Set(kept)],
    diagnostics: [...followCopies(earlier, replaceable, context), ...tidyStore(context)],
  });
}

function severalMeant(name: string): Refused<InstallFault> {
  return faulty(
    "install.choice",
    `\`${name}\` is installed more than once: for you and in this project, or under several names.`,
    "Choose a lock with `--project` or `--no-project`, and use the name that `metier list` shows.",
  );
}

function nothingBefore(entry: LockEntry): Refused<InstallFault> {
  const name = calledAs(entry);
  const why = entry.linked
    ? "it is a folder used in place"
    : "it has not been updated since it was installed";
  const hint = "Install any version of its source with `metier install`, `--ref` and `--force`.";
  return faulty("install.no_previous", `\`${name}\` has no earlier version: ${why}.`, hint);
}

function changedByHand(name: string, { folder }: EditedFolder): Refused<InstallFault> {
  return faulty(
    "install.conflict",
    `\`${folder}\` was edited, and a rollback would overwrite it.`,
    `See the changes with \`metier verify ${name}\`; \`--force\` rolls back and keeps a copy of them.`,
  );
}
