/**
 * Takes back what an installation recorded: the copies it placed, the lock's entry, the trust in exactly that content. What
 * someone changed by hand stays, and so does the skill's data, unless it is asked for.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { nearestNames } from "../foundation/nearest-names.ts";
import { removeFolder } from "../host/remove-folder.ts";
import { knownLocks } from "../lock/known-locks.ts";
import { calledAs, findEntry, type Lock, type LockEntry, withoutEntry } from "../lock/lock-entry.ts";
import { type LockFile, projectLockFile, userLockFile } from "../lock/lock-places.ts";
import { changeLock, readLock } from "../lock/lock-store.ts";
import type { SkillPlace } from "../skill/skill.ts";
import { revoke } from "../trust/grant-store.ts";
import { takeBackPlaces } from "./fan-out.ts";
import { takeBackCopy, tidyStore } from "./finish-install.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";
import type { InstallParts } from "./install-request.ts";
import { lockFault } from "./lock-fault.ts";
import { untrackRemoved } from "./plugin-config.ts";
import { attempt } from "./unfinished.ts";

export interface RemoveOptions {
  /** From the project's lock instead of the user's. */
  readonly project?: boolean;
  /** Also copies that were changed by hand. */
  readonly force?: boolean;
  /** Also what the skills kept over their runs. */
  readonly data?: boolean;
}

export interface RemoveParts extends Pick<InstallParts, "places" | "projectRoot" | "plugins"> {
  /** Where a skill of this name is that nobody installed. */
  locate(name: string): SkillPlace | undefined;
  dataFolders(entry: LockEntry, lockFile: LockFile): SkillData;
}

/** What the skill of an entry keeps over its runs: a folder with trust, and one without. */
export interface SkillData {
  readonly trusted: string;
  readonly untrusted: string;
  /** Whether a skill that nobody installed has its name; with trust they have one folder. */
  readonly isShared: boolean;
}

export type RemoveOutcome =
  | {
      readonly ok: true;
      readonly removed: readonly { readonly name: string; readonly digest: string }[];
      readonly diagnostics: readonly Diagnostic[];
    }
  | FaultOutcome;

interface Removal extends RemoveParts {
  readonly lockFile: LockFile;
  readonly options: RemoveOptions;
}

/** All of them or none: a name that is not installed is a fault before anything is removed. */
export async function removeSkills(
  names: readonly string[],
  options: RemoveOptions,
  parts: RemoveParts,
): Promise<RemoveOutcome> {
  const { places, projectRoot } = parts;
  const lockFile = options.project ? projectLockFile(projectRoot) : userLockFile(places);
  const read = readLock(lockFile);
  if (!read.ok) return lockFault(read.diagnostic);
  const removal: Removal = { ...parts, lockFile, options };
  const entries = new Set<LockEntry>();
  for (const name of names) {
    const entry = findInstalled(read.lock, name);
    if (entry === undefined) return notInstalled(name, read.lock, removal);
    entries.add(entry);
  }
  // Copies first: as long as the lock lists them, another attempt finds what a killed one left.
  const others = read.lock.skills.filter((entry) => !entries.has(entry));
  const kept = [...entries].flatMap((entry) => takeBackFolders(entry, others, removal));
  const changed = changeLock(lockFile, (lock) =>
    [...entries].reduce((left, entry) => withoutEntry(left, calledAs(entry)), lock),
  );
  if (!changed.ok) return lockFault(changed.diagnostic);
  const rest = [...entries].flatMap((entry) => forget(entry, removal));
  const untracked = await untrackRemoved([...entries], changed.lock.skills, lockFile, parts);
  return {
    ok: true,
    removed: [...entries].map((entry) => ({ name: calledAs(entry), digest: entry.digest })),
    diagnostics: [...kept, ...rest, ...untracked, ...tidyStore({ parts, lockFile })],
  };
}

/** By what it is called here, or else by its own name, if only one has it. */
function findInstalled(lock: Lock, name: string): LockEntry | undefined {
  const plain = name.replace(/^installed:/, "");
  const byName = lock.skills.filter((entry) => entry.name === plain);
  return findEntry(lock, plain) ?? (byName.length === 1 ? byName[0] : undefined);
}

function notInstalled(name: string, { skills }: Lock, removal: Removal): FaultOutcome {
  const { lockFile, locate } = removal;
  const where = lockFile.owner === "project" ? "in this project" : "for you";
  const other = otherLock(removal);
  const isInOther = other.ok && findInstalled(other.lock, name) !== undefined;
  if (isInOther) {
    const [place, option] =
      lockFile.owner === "project"
        ? ["for you", "without `--project`"]
        : ["in this project", "with `--project`"];
    const message = `\`${name}\` is not installed ${where}, but ${place}.`;
    return faulty("install.not_installed", message, `Remove it ${option}.`);
  }
  const found = locate(name);
  if (found) {
    const message = `Metier did not install \`${name}\`: it is of scope \`${found.scope}\`, at \`${found.location}\`.`;
    const hint = `Delete it yourself, or switch it off with \`metier disable ${name}\`.`;
    return faulty("install.not_installed", message, hint);
  }
  const near = nearestNames(name, skills.map(calledAs));
  const hint =
    near.length > 0
      ? `Did you mean ${near.map((known) => `\`${known}\``).join(" or ")}?`
      : "`metier list --scope installed` shows what is.";
  return faulty("install.not_installed", `\`${name}\` is not installed ${where}.`, hint);
}

function otherLock({ lockFile, places, projectRoot }: Removal): ReturnType<typeof readLock> {
  return readLock(lockFile.owner === "project" ? userLockFile(places) : projectLockFile(projectRoot));
}

/** What was placed for other clients, and the project's own copy. */
function takeBackFolders(
  entry: LockEntry,
  kept: readonly LockEntry[],
  removal: Removal,
): readonly Diagnostic[] {
  const { lockFile, places, options } = removal;
  return [
    ...takeBackPlaces(entry, kept, { places, lockFile, force: options.force }),
    ...takeBackCopy(entry, kept, { parts: removal, lockFile }, options.force),
  ];
}

/** Trust that was given to exactly this content goes with it, unless another lock still lists the content. */
function forget(
  entry: LockEntry,
  { places, options, lockFile, dataFolders }: Removal,
): readonly Diagnostic[] {
  const digests = [entry.digest, ...(entry.previous ? [entry.previous.digest] : [])];
  const others = knownLocks(places)
    .map(readLock)
    .flatMap((read) => (read.ok ? read.lock.skills : []));
  const listed = new Set(others.map((other) => other.digest));
  const revoked = digests
    .filter((digest) => !listed.has(digest))
    .flatMap((digest) => revoke(places, { digest }).diagnostics);
  if (!options.data) return revoked;
  const { trusted, untrusted, isShared } = dataFolders(entry, lockFile);
  // What it has with trust, it has in common with every skill of its name.
  const isLast = !isShared && others.every((other) => calledAs(other) !== calledAs(entry));
  return [...revoked, ...(isLast ? [trusted, untrusted] : [untrusted]).flatMap(removeData)];
}

function removeData(folder: string): readonly Diagnostic[] {
  return attempt(folder, () => void removeFolder(folder));
}
