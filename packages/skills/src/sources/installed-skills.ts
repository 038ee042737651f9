/**
 * The scope `installed`, from the user's and the project's lock: a root for each entry, and the folders with copies for
 * other clients. Hashes nothing in the store. A project's lock is untrusted input: it names folders in the project, or
 * content by its digest.
 */

import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { type Places, type ProjectFolders, realPathOr } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import { forReader } from "@metier/base/text";
import {
  calledAs,
  type LockEntry,
  type LockFile,
  leadsToOwner,
  lockedFolder,
  originOf,
  placedFolder,
  projectLockFile,
  userLockFile,
} from "../lock/lock.ts";
import type { LockedSkill } from "../skill/skill.ts";
import { type KnownDigests, openKnownDigests } from "../trust/content-identity.ts";

/** A lock entry whose folder exists. */
export interface InstalledFolder {
  readonly folder: string;
  readonly locked: LockedSkill;
  readonly isOfProject: boolean;
}

/** A folder that a lock records for another client. */
interface InstalledCopy {
  readonly folder: string;
  readonly name: string;
  /** What it may contain: what is installed, or what was before the last update. */
  readonly digests: readonly string[];
}

export interface InstalledSkills {
  readonly skills: readonly InstalledFolder[];
  readonly copies: readonly InstalledCopy[];
  readonly digests: KnownDigests;
  /** By path, the real paths of folders in the store. */
  readonly realPaths: ReadonlyMap<string, string>;
  readonly diagnostics: readonly Diagnostic[];
}

interface InstalledInputs {
  readonly places: Places;
  readonly project: ProjectFolders;
  readonly cacheFolder?: string | undefined;
}

export async function findInstalled(inputs: InstalledInputs): Promise<InstalledSkills> {
  const { places, project, cacheFolder } = inputs;
  const skills: InstalledFolder[] = [];
  const copies: InstalledCopy[] = [];
  const diagnostics: Diagnostic[] = [];
  const digests = openKnownDigests(cacheFolder);
  let realPaths: ReadonlyMap<string, string> = new Map();
  for (const lock of locksFor(places, project)) {
    const { readLock } = await import("../lock/lock-store.ts");
    const read = readLock(lock);
    if (!read.ok) {
      diagnostics.push(read.refusal);
      continue;
    }
    const entries = read.value.skills;
    if (entries.length >= WORTH_A_LISTING && realPaths.size === 0) realPaths = listStore(places);
    addEntries({ lock, places, digests, realPaths, skills, copies, diagnostics }, entries);
  }
  return { skills, copies, digests, realPaths, diagnostics };
}

/** Asking the system about as many folders takes longer. */
const WORTH_A_LISTING = 16;

/** Its folders: what is no link is really there. */
function listStore({ store }: Pick<Places, "store">): ReadonlyMap<string, string> {
  try {
    const real = realPathOr(store);
    const folders = readdirSync(store, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return new Map(folders.map(({ name }) => [join(store, name), join(real, name)]));
  } catch {
    return new Map(); // Each is asked about, which says what is wrong.
  }
}

/** The user's first. */
function locksFor(places: Places, { folders, root }: ProjectFolders): readonly LockFile[] {
  const locks = [userLockFile(places), ...(folders.includes(root) ? [projectLockFile(root)] : [])];
  return locks.filter(({ path }) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
}

interface Collecting {
  readonly lock: LockFile;
  readonly places: Places;
  readonly digests: KnownDigests;
  readonly realPaths: ReadonlyMap<string, string>;
  readonly skills: InstalledFolder[];
  readonly copies: InstalledCopy[];
  readonly diagnostics: Diagnostic[];
}

function addEntries(collecting: Collecting, entries: readonly LockEntry[]): void {
  const { lock, skills, copies, diagnostics } = collecting;
  const missing: string[] = [];
  for (const entry of entries) {
    const ownCopies = copiesOf(lock, entry);
    copies.push(...ownCopies);
    const found = findFolder(collecting, entry, ownCopies);
    if (!found.ok) diagnostics.push(found.refusal);
    else if (found.value === undefined) missing.push(calledAs(entry));
    else skills.push(installedFolder(lock, entry, found.value));
  }
  if (missing.length > 0) diagnostics.push(reportMissing(lock.path, missing));
}

function installedFolder({ path, owner }: LockFile, entry: LockEntry, folder: string): InstalledFolder {
  const { name, alias, digest, linked } = entry;
  const origin = originOf(entry);
  const locked = { lock: path, name, ...(alias && { alias }), origin, digest, ...(linked && { linked }) };
  return { folder, locked, isOfProject: owner === "project" };
}

/** The folder, `undefined` if there is none, or why it is not used. */
function findFolder(
  { lock, places, digests, realPaths }: Collecting,
  entry: LockEntry,
  copies: readonly InstalledCopy[],
): Result<string | undefined, Diagnostic> {
  const folder = lockedFolder(places, lock, entry);
  if (!realPaths.has(folder) && !isFolder(folder)) {
    // As in a fresh checkout with copies: one that matches the lock is the skill itself.
    const isIt = (copy: InstalledCopy) => isFolder(copy.folder) && digests.of(copy.folder) === entry.digest;
    return done(copies.find(isIt)?.folder);
  }
  if (!entry.linked && !entry.copied) return done(folder);
  if (!leadsToOwner(lock, folder)) return refused(reportOutside(lock.path, folder));
  const isChanged = entry.copied && !mayHold(digests.of(folder), digestsOf(entry));
  return isChanged ? refused(reportChanged(folder, entry.name)) : done(folder);
}

function copiesOf(lock: LockFile, entry: LockEntry): readonly InstalledCopy[] {
  return (entry.placed ?? [])
    .map((copy) => placedFolder(lock, copy))
    .filter((folder) => leadsToOwner(lock, folder))
    .map((folder) => ({ folder, name: entry.name, digests: digestsOf(entry) }));
}

/** An interrupted update may have left an earlier copy. */
function digestsOf({ digest, previous }: LockEntry): readonly string[] {
  return previous ? [digest, previous.digest] : [digest];
}

/** Whether a copy is what was installed. If that is unknown, the lock counts: it never gives more trust. */
export function mayHold(digest: string | undefined, recorded: readonly string[]): boolean {
  return digest === undefined || recorded.includes(digest);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Missing or unreachable, which is reported as missing.
  }
}

const MOST_SHOWN = 5;

function reportMissing(path: string, names: readonly string[]): Diagnostic {
  const shown = names.slice(0, MOST_SHOWN).map((name) => `\`${name}\``);
  const more = names.length - shown.length;
  const list = [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  return {
    code: "lock.missing-folder",
    severity: "warning",
    path,
    message: `The lock records skills that are not on this machine: ${list}.`,
    hint: forReader({
      command:
        "Restore them with `metier install`, or remove one from the lock with `metier remove <skill>`.",
      program: "Restore them with `install()`, or remove one from the lock with `remove()`.",
    }),
  };
}

/** `path` is the lock's. */
export function reportOutside(path: string, folder: string): Diagnostic {
  return {
    code: "lock.outside-project",
    severity: "error",
    path,
    message: `The project's lock names \`${folder}\`, which is outside the project; it is not used.`,
    hint: "If you want it, install it for yourself, without `--project`.",
  };
}

/** Also reported for other clients' copies, by the catalog. */
export function reportChanged(folder: string, name: string): Diagnostic {
  return {
    code: "lock.changed-copy",
    severity: "warning",
    path: folder,
    message: `\`${folder}\` is a modified copy of the installed skill \`${name}\`; it counts as a separate skill.`,
    hint: forReader({
      command:
        "See the differences with `metier verify`, restore it with `metier install`, or forget the installed one with `metier remove`.",
      program:
        "See the differences with `verify()`, restore it with `install()`, or forget the installed one with `remove()`.",
    }),
  };
}
