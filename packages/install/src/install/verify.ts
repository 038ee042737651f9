/**
 * `verify`: whether the files on this machine match the locks and what was trusted, file by file. Only reads, asks no
 * source, and hashes everything again.
 */
import { lstatSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { Places } from "@metier/base/places";
import { isSkillFileName } from "@metier/skills";
import {
  calledAs,
  checkSkillGrant,
  compareIdentity,
  type FileChange,
  type IdentifiedFile,
  identifyFolder,
  isWithinOwner,
  type LockEntry,
  type LockFile,
  type LockOwner,
  leadsToOwner,
  lockedFolder,
  placedFolder,
  readGrants,
  recallFiles,
  type SkillGrant,
  storeFolder,
} from "@metier/skills/trust";
import { chooseInstalled, type InstalledWish, type LockedEntry } from "./choose-skills.ts";
import { stateOfPlace } from "./clients.ts";
import type { InstallFault } from "./install-fault.ts";
import type { InstallParts, InstallRequest } from "./requests.ts";

/** A folder compared with a lock. */
export interface VerifiedFolder {
  /** Absolute path. */
  readonly folder: string;
  /** Whether it matches the lock. */
  readonly ok: boolean;
  /** Files that differ; `.` stands for the folder if its files are unknown. */
  readonly changes: readonly FileChange[];
  /** What is wrong, or a note, as a sentence. */
  readonly note?: string;
}

/** `ok` includes its copies; `changes` are those of the folder in use. */
export interface VerifiedSkill extends VerifiedFolder {
  /** Its name here. */
  readonly name: string;
  /** Whose lock lists it. */
  readonly lock: LockOwner;
  /** Content identity in the lock, `sha256:…`. */
  readonly digest: string;
  /** Where else the lock says it is. */
  readonly copies: readonly (VerifiedFolder & {
    /** The client whose folder it is in. */
    readonly client: string;
  })[];
}

/** Whether installed and trusted skills still match their records. */
export interface VerifyReport {
  /** Whether everything matches. */
  readonly ok: boolean;
  /** The installed skills that were verified. */
  readonly skills: readonly VerifiedSkill[];
  /** Trust in single skills whose content changed or no longer exists. */
  readonly grants: readonly VerifiedGrant[];
  /** Why nothing could be verified. */
  readonly fault?: InstallFault;
}

type VerifyParts = Pick<InstallParts, "places" | "projectRoot">;

/** Which installed skills to verify. */
export interface VerifyRequest extends InstalledWish, Pick<InstallRequest, "onProgress"> {}

export function verifySkills(wish: VerifyRequest, parts: VerifyParts): VerifyReport {
  const choice = chooseInstalled(wish, parts);
  if (!choice.ok) return { ok: false, skills: [], grants: [], fault: choice.refusal };
  const total = choice.value.length;
  const skills = choice.value.map((one, done) => {
    wish.onProgress?.({ what: "Verifying", done, total });
    return verifySkill(one, parts);
  });
  const isAll = (wish.skills ?? []).length === 0;
  const names = new Set(choice.value.flatMap(({ entry }) => [entry.name, calledAs(entry)]));
  const wanted = readGrants(parts.places).skills.filter(({ name }) => isAll || names.has(name));
  const grants = wanted.map((grant, done) => {
    wish.onProgress?.({ what: "Verifying trusted skills", done, total: wanted.length });
    return verifyGrant(grant);
  });
  const ok = skills.every((skill) => skill.ok) && grants.every(({ state }) => state !== "changed");
  return { ok, skills, grants };
}

function verifySkill({ entry, lockFile }: LockedEntry, { places }: VerifyParts): VerifiedSkill {
  const expected = findExpected(entry, lockFile, places);
  const copies = (entry.placed ?? []).map((copy) => {
    const folder = placedFolder(lockFile, copy);
    const state = stateOfPlace(copy, entry, { places, lockFile });
    const verified =
      copy.how === "copy" && state !== "refused" ? verifyFolder(folder, entry, expected) : undefined;
    return { client: copy.client, ...(verified ?? describePlace(folder, state)) };
  });
  const main = verifyMain(entry, lockFile, places, expected);
  // A checkout may contain copies, one of which replaces the store's folder.
  const hasCopy = entry.placed?.some(({ how }, index) => how === "copy" && copies[index]?.ok) ?? false;
  const isStoodIn = hasCopy && isMissing(main.folder);
  const used = isStoodIn
    ? { folder: main.folder, ok: true, changes: [], note: "A copy takes its place." }
    : main;
  const ok = used.ok && copies.every((copy) => copy.ok);
  return { name: calledAs(entry), lock: lockFile.owner, digest: entry.digest, ...used, ok, copies };
}

/** Where the catalog reads it. */
function verifyMain(
  entry: LockEntry,
  lockFile: LockFile,
  places: Places,
  expected: readonly IdentifiedFile[] | undefined,
): VerifiedFolder {
  const folder = lockedFolder(places, lockFile, entry);
  const isOutside =
    (entry.copied && !isWithinOwner(lockFile, folder)) ||
    (entry.linked && !isMissing(folder) && !leadsToOwner(lockFile, folder));
  if (isOutside) {
    return { folder, ok: false, changes: [], note: "It points outside the project, so it is not used." };
  }
  const verified = verifyFolder(folder, entry, expected);
  if (!entry.linked || isMissing(folder)) return verified;
  const note = verified.ok
    ? "It is used in place."
    : "It is used in place, and has changed since it was linked.";
  return { ...verified, ok: true, note };
}

function verifyFolder(
  folder: string,
  { digest, previous }: LockEntry,
  expected: readonly IdentifiedFile[] | undefined,
): VerifiedFolder {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) {
    const changes = compareFiles(expected, []);
    return { folder, ok: false, changes, note: "It is missing; restore it with `metier install`." };
  }
  const outcome = stats.isDirectory() ? identifyFolder(folder) : undefined;
  if (!outcome?.ok) {
    const note = outcome?.refusal.message ?? "It is not a folder.";
    return { folder, ok: false, changes: [{ path: ".", change: "changed" }], note };
  }
  const { value: now } = outcome;
  if (now.digest === digest) return { folder, ok: true, changes: [] };
  const note =
    now.digest === previous?.digest
      ? "It is the version before the last update; bring it up to date with `metier install`."
      : "It does not match the lock.";
  return { folder, ok: false, changes: compareFiles(expected, now.files), note };
}

function compareFiles(
  expected: readonly IdentifiedFile[] | undefined,
  files: readonly IdentifiedFile[],
): readonly FileChange[] {
  if (expected) return compareIdentity(expected, files);
  return [{ path: ".", change: files.length === 0 ? "removed" : "changed" }];
}

function describePlace(folder: string, state: ReturnType<typeof stateOfPlace>): VerifiedFolder {
  if (state === "right") return { folder, ok: true, changes: [] };
  const change = state === "missing" ? "removed" : "changed";
  const note = {
    missing: "It is missing; recreate it with `metier install`.",
    earlier: "It points to another version; fix it with `metier install`.",
    foreign: "It is not what Metier put there.",
    refused: "The lock must not name this path.",
  }[state];
  return { folder, ok: false, changes: [{ path: ".", change }], note };
}

/** The files of the recorded version: from its list, or from a folder with that version. */
function findExpected(
  entry: LockEntry,
  lockFile: LockFile,
  places: Places,
): readonly IdentifiedFile[] | undefined {
  const listed = recallFiles(places, entry.digest);
  if (listed) return listed;
  const folders = [
    ...(entry.linked ? [] : [storeFolder(places, entry)]),
    ...(entry.placed ?? [])
      .map((copy) => placedFolder(lockFile, copy))
      .filter((folder) => isWithinOwner(lockFile, folder)),
  ];
  for (const folder of folders) {
    const outcome = identifyFolder(folder);
    if (outcome.ok && outcome.value.digest === entry.digest) return outcome.value.files;
  }
  return undefined;
}

function isMissing(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false }) === undefined;
}

/** Trust in a single skill, compared with its current files. */
export interface VerifiedGrant {
  /** Name of the skill that was trusted. */
  readonly name: string;
  /** The skill file that was trusted. */
  readonly location: string;
  /** Content identity that was trusted, `sha256:…`. */
  readonly digest: string;
  /** `missing`: nothing is there anymore, as after an update or a removal. */
  readonly state: "holds" | "changed" | "missing";
  /** Files that differ from what was trusted. Empty unless `state` is `changed`. */
  readonly changes: readonly FileChange[];
  /** What changed, as a sentence. Only with `changed`. */
  readonly note?: string | undefined;
}

/** A skill that was trusted individually, wherever it is. */

function verifyGrant(grant: SkillGrant): VerifiedGrant {
  const { name, location, digest } = grant;
  const known = { name, location, digest, changes: [] };
  if (lstatSync(location, { throwIfNoEntry: false }) === undefined) return { ...known, state: "missing" };
  const directory = dirname(location);
  const form = isFlat(grant) ? "markdown" : "directory";
  const check = checkSkillGrant(grant, { form, location, directory }, { rehash: true });
  if (check.valid) return { ...known, state: "holds" };
  return { ...known, state: "changed", changes: check.changes, note: check.diagnostic?.message };
}

/** A skill that is one file, among others that do not belong to it. */
function isFlat({ location, files }: SkillGrant): boolean {
  return files.length === 1 && files[0]?.path === basename(location) && !isSkillFileName(basename(location));
}
