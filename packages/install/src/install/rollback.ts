/**
 * One step back: the version before the last update becomes the installed one again, and the other way round. Only the lock
 * is changed; the store has the version, or it is fetched again and must be, byte for byte, what the lock recorded of it.
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

/** Which lock is meant, and whether to overwrite what was changed by hand. */
export interface RollbackOptions
  extends Pick<InstalledWish, "project">,
    Pick<InstallRequest, "force" | "signal" | "onProgress"> {}

/** The version that a skill was taken back to, or why it stays as it is. */
export type RollbackOutcome =
  | {
      readonly ok: true;
      readonly name: string;
      readonly lock: LockOwner;
      readonly from: VersionMark;
      readonly to: VersionMark;
      /** The skill's folder. */
      readonly path: string;
      /** Where what was changed by hand has been put. */
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

/** What the lock says after the step; the way back is recorded the same way. */
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
  const message = `The version before is no longer on this machine, and cannot be had again. ${failed.reason}`;
  return faulty(failed.code, message, failed.hint ?? "What is installed stays as it is.");
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
    const message = `Another process updated or removed \`${called}\` meanwhile; nothing was changed.`;
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
    "Use `--project` or `--no-project` to say which lock is meant, and the name that `metier list` shows.",
  );
}

function nothingBefore(entry: LockEntry): Refused<InstallFault> {
  const name = calledAs(entry);
  const why = entry.linked
    ? "it is a folder that is used in place"
    : "it was not updated since it was installed";
  const hint = "`metier install` with `--ref` and `--force` installs any version that its source has.";
  return faulty("install.no_previous", `There is no version of \`${name}\` to go back to: ${why}.`, hint);
}

function changedByHand(name: string, { folder }: EditedFolder): Refused<InstallFault> {
  return faulty(
    "install.conflict",
    `\`${folder}\` was changed by hand, and going back would overwrite it.`,
    `\`metier verify ${name}\` shows what was changed; \`--force\` goes back and keeps a copy of it.`,
  );
}
