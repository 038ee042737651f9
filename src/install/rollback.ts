/**
 * One step back: the version before the last update becomes the installed one again, and the other way round. Only the lock
 * is changed; the store has the version, or it is fetched again and must be, byte for byte, what the lock recorded of it.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { calledAs, findEntry, type LockEntry, type LockOwner, withEntry } from "../lock/lock-entry.ts";
import { lockedFolder, storeFolder } from "../lock/lock-places.ts";
import { changeLock } from "../lock/lock-store.ts";
import { findDifference } from "../lock/store.ts";
import { chooseInstalled, type InstalledWish, type LockedEntry } from "./choose-installed.ts";
import { tidyStore } from "./finish-install.ts";
import { type FaultOutcome, faulty, type InstallFault } from "./install-fault.ts";
import type { InstallParts, InstallRequest } from "./install-request.ts";
import { lockFault } from "./lock-fault.ts";
import { markOf, type VersionMark } from "./outdated.ts";
import { openQuarantine } from "./quarantine.ts";
import { fetchLocked } from "./restore-content.ts";
import { followCopies } from "./update/follow-copies.ts";
import { keepAside } from "./update/keep-aside.ts";
import { type EditedFolder, findEdited, heldFolders } from "./update/local-changes.ts";

export interface RollbackOptions
  extends Pick<InstalledWish, "project">,
    Pick<InstallRequest, "force" | "signal" | "onProgress"> {}

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
  const choice = chooseInstalled({ ...options, skills: [name] }, parts);
  if (!choice.ok) return choice;
  const [one, other] = choice.chosen;
  if (one === undefined || other !== undefined) return severalMeant(name);
  const earlier = earlierEntry(one.entry);
  if (earlier === undefined) return nothingBefore(one.entry);
  const edited = findEdited(heldFolders(one.entry, one.lockFile, parts), knownDigests(one.entry), undefined);
  if (!edited.ok) return edited;
  const [first] = edited.edited;
  if (first !== undefined && !options.force) return changedByHand(name, first);
  const missing = await fetchMissing(earlier, one, options, parts);
  return missing ? { ok: false, fault: missing } : goBack(one, earlier, edited.edited, parts);
}

/** What the lock says after the step; the way back is recorded the same way. */
function earlierEntry(entry: LockEntry): LockEntry | undefined {
  const { previous, ref: _, ...rest } = entry;
  if (previous === undefined) return undefined;
  const { digest, resolved, ref, updatedAt } = entry;
  return {
    ...rest,
    digest: previous.digest,
    resolved: previous.resolved,
    ...(previous.ref !== undefined && { ref: previous.ref }),
    updatedAt: new Date().toISOString(),
    previous: { digest, resolved, ...(ref !== undefined && { ref }), ...(updatedAt && { updatedAt }) },
  };
}

function knownDigests({ digest, previous }: LockEntry): readonly string[] {
  return [digest, ...(previous ? [previous.digest] : [])];
}

async function fetchMissing(
  entry: LockEntry,
  { lockFile }: LockedEntry,
  request: RollbackOptions,
  parts: InstallParts,
): Promise<InstallFault | undefined> {
  if (findDifference(storeFolder(parts.places, entry), entry.digest) === undefined) return undefined;
  const quarantine = openQuarantine(parts.places);
  try {
    const { failed } = await fetchLocked([{ entry, lockFile }], { request, parts, quarantine });
    const refused = failed.get(entry);
    if (refused === undefined) return undefined;
    const message = `The version before is no longer on this machine, and cannot be had again. ${refused.reason}`;
    const hint = refused.hint ?? "What is installed stays as it is.";
    const code = refused.code === "same" || refused.code === "skipped" ? "install.differs" : refused.code;
    return { code, message, hint };
  } finally {
    quarantine.close();
  }
}

function goBack(
  { entry, lockFile }: LockedEntry,
  earlier: LockEntry,
  edited: readonly EditedFolder[],
  parts: InstallParts,
): RollbackOutcome {
  const { places } = parts;
  const kept = edited.map(({ folder, digest }) => keepAside(places, entry.name, folder, digest));
  const called = calledAs(entry);
  let isOther = false;
  const changed = changeLock(lockFile, (lock) => {
    isOther = findEntry(lock, called)?.digest !== entry.digest;
    return isOther ? lock : withEntry(lock, earlier);
  });
  if (!changed.ok) return lockFault(changed.diagnostic);
  if (isOther) return changedMeanwhile(called);
  const context = { parts, lockFile };
  const replaceable = [...knownDigests(entry), ...edited.map(({ digest }) => digest)];
  return {
    ok: true,
    name: called,
    lock: lockFile.owner,
    from: markOf(entry),
    to: markOf(earlier),
    path: lockedFolder(places, lockFile, earlier),
    kept: [...new Set(kept)],
    diagnostics: [...followCopies(earlier, replaceable, context), ...tidyStore(context)],
  };
}

function severalMeant(name: string): FaultOutcome {
  return faulty(
    "install.choice",
    `\`${name}\` is installed more than once: for you and in this project, or under several names.`,
    "Use `--project` or `--no-project` to say which lock is meant, and the name that `metier list` shows.",
  );
}

function nothingBefore(entry: LockEntry): FaultOutcome {
  const name = calledAs(entry);
  const why = entry.linked
    ? "it is a folder that is used in place"
    : "it was not updated since it was installed";
  const hint = "`metier install` with `--ref` and `--force` installs any version that its source has.";
  return faulty("install.no_previous", `There is no version of \`${name}\` to go back to: ${why}.`, hint);
}

function changedByHand(name: string, { folder }: EditedFolder): FaultOutcome {
  return faulty(
    "install.conflict",
    `\`${folder}\` was changed by hand, and going back would overwrite it.`,
    `\`metier verify ${name}\` shows what was changed; \`--force\` goes back and keeps a copy of it.`,
  );
}

function changedMeanwhile(name: string): FaultOutcome {
  return faulty(
    "install.changed",
    `Another process updated or removed \`${name}\` meanwhile; nothing was changed.`,
    "Run the command again.",
  );
}
