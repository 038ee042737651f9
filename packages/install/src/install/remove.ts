/**
 * Undoes an installation: its copies, the lock's entry, and the trust in exactly that content. Edited files stay, and
 * so does the skill's data unless requested.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import { removeFolder } from "@metier/base/files";
import { done, type Refused } from "@metier/base/result";
import type { SkillLocation } from "@metier/skills";
import { changeLock, readLock } from "@metier/skills/formats";
import {
  calledAs,
  findEntry,
  knownLocks,
  type Lock,
  type LockEntry,
  type LockFile,
  projectLockFile,
  revoke,
  userLockFile,
  withoutEntry,
} from "@metier/skills/trust";
import { attempt, ownDigests, takeBackPlaces } from "./fan-out.ts";
import {
  type CommandResult,
  type FaultOutcome,
  faulty,
  type InstallFault,
  lockFault,
  outcomeOf,
  suggestName,
} from "./install-fault.ts";
import { untrackRemoved } from "./plugin-config.ts";
import { takeBackCopy, tidyStore } from "./record-skills.ts";
import type { InstallParts } from "./requests.ts";

/** Which lock to remove skills from, and what else to remove. */
export interface RemoveOptions {
  /** From the project's lock instead of the user's. */
  readonly project?: boolean;
  /** Also remove edited copies. */
  readonly force?: boolean;
  /** Also remove data that the skills stored. */
  readonly data?: boolean;
}

export interface RemoveParts extends Pick<InstallParts, "places" | "projectRoot" | "plugins"> {
  /** Where a skill of this name is that was not installed. */
  locate(name: string): SkillLocation | undefined;
  dataFolders(entry: LockEntry, lockFile: LockFile): SkillData;
}

/** What an entry's skill stores across runs: a folder with trust, and one without. */
export interface SkillData {
  readonly trusted: string;
  readonly untrusted: string;
  /** Whether a skill that was not installed has its name; with trust they share one folder. */
  readonly isShared: boolean;
}

/** The removed skills, or why none was. */
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
  return outcomeOf(await takeBack(names, options, parts));
}

async function takeBack(
  names: readonly string[],
  options: RemoveOptions,
  parts: RemoveParts,
): Promise<CommandResult<RemoveOutcome>> {
  const { places, projectRoot } = parts;
  const lockFile = options.project ? projectLockFile(projectRoot) : userLockFile(places);
  const read = readLock(lockFile);
  if (!read.ok) return lockFault(read.refusal);
  const removal: Removal = { ...parts, lockFile, options };
  const entries = new Set<LockEntry>();
  for (const name of names) {
    const entry = findInstalled(read.value, name);
    if (entry === undefined) return notInstalled(name, read.value, removal);
    entries.add(entry);
  }
  // Copies first: while the lock lists them, another attempt finds what a killed one left.
  const others = read.value.skills.filter((entry) => !entries.has(entry));
  const { force } = options;
  const kept = [...entries].flatMap((entry) => [
    ...takeBackPlaces(entry, others, { places, lockFile, force }),
    ...takeBackCopy(entry, others, { places, lockFile }, force),
  ]);
  const changed = changeLock(lockFile, (lock) =>
    [...entries].reduce((left, entry) => withoutEntry(left, calledAs(entry)), lock),
  );
  if (!changed.ok) return lockFault(changed.refusal);
  const rest = [...entries].flatMap((entry) => forget(entry, removal));
  const untracked = await untrackRemoved([...entries], changed.value.skills, lockFile, parts);
  return done({
    removed: [...entries].map((entry) => ({ name: calledAs(entry), digest: entry.digest })),
    diagnostics: [...kept, ...rest, ...untracked, ...tidyStore({ places, lockFile })],
  });
}

/** By its name here, otherwise by its own name if that is unique. */
function findInstalled(lock: Lock, name: string): LockEntry | undefined {
  const plain = name.replace(/^installed:/, "");
  const byName = lock.skills.filter((entry) => entry.name === plain);
  return findEntry(lock, plain) ?? (byName.length === 1 ? byName[0] : undefined);
}

function notInstalled(name: string, { skills }: Lock, removal: Removal): Refused<InstallFault> {
  const { lockFile, locate, places, projectRoot } = removal;
  const isProject = lockFile.owner === "project";
  const where = isProject ? "in this project" : "for you";
  const other = readLock(isProject ? userLockFile(places) : projectLockFile(projectRoot));
  if (other.ok && findInstalled(other.value, name) !== undefined) {
    const message = `\`${name}\` is not installed ${where}, but ${isProject ? "for you" : "in this project"}.`;
    const hint = `Remove it ${isProject ? "without" : "with"} \`--project\`.`;
    return faulty("install.not_installed", message, hint);
  }
  const found = locate(name);
  if (found) {
    const message = `Metier did not install \`${name}\`: its scope is \`${found.scope}\`, at \`${found.location}\`.`;
    const hint = `Delete it yourself, or disable it with \`metier disable ${name}\`.`;
    return faulty("install.not_installed", message, hint);
  }
  const hint =
    suggestName(name, skills.map(calledAs)) || "See what is installed with `metier list --scope installed`.";
  return faulty("install.not_installed", `\`${name}\` is not installed ${where}.`, hint);
}

/** Trust in exactly this content is removed too, unless another lock still lists the content. */
function forget(
  entry: LockEntry,
  { places, options, lockFile, dataFolders }: Removal,
): readonly Diagnostic[] {
  const others = knownLocks(places)
    .map(readLock)
    .flatMap((read) => (read.ok ? read.value.skills : []));
  const listed = new Set(others.map((other) => other.digest));
  const revoked = ownDigests(entry)
    .filter((digest) => !listed.has(digest))
    .flatMap((digest) => revoke(places, { digest }).diagnostics);
  if (!options.data) return revoked;
  const { trusted, untrusted, isShared } = dataFolders(entry, lockFile);
  // With trust, its folder is shared with every skill of its name.
  const isLast = !isShared && others.every((other) => calledAs(other) !== calledAs(entry));
  const removed = (isLast ? [trusted, untrusted] : [untrusted]).flatMap((folder) =>
    attempt(folder, () => void removeFolder(folder)),
  );
  return [...revoked, ...removed];
}
