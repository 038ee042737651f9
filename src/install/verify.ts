/**
 * `verify`: whether what lies on this machine is what the locks record and what was trusted, file by file. Reads only, asks
 * no source, and hashes everything anew.
 */
import { lstatSync } from "node:fs";
import type { Places } from "../host/places.ts";
import { recallFiles } from "../lock/file-lists.ts";
import { calledAs, type LockEntry, type LockOwner } from "../lock/lock-entry.ts";
import {
  isWithinOwner,
  type LockFile,
  leadsToOwner,
  lockedFolder,
  placedFolder,
  storeFolder,
} from "../lock/lock-places.ts";
import {
  type ContentIdentity,
  compareIdentity,
  type FileChange,
  identifyFolder,
} from "../trust/content-identity.ts";
import { readGrants } from "../trust/grant-store.ts";
import type { IdentifiedFile } from "../trust/identify-file.ts";
import { chooseInstalled, type InstalledWish, type LockedEntry } from "./choose-installed.ts";
import type { InstallFault } from "./install-fault.ts";
import type { InstallParts } from "./install-request.ts";
import { stateOfPlace } from "./place-state.ts";
import { type VerifiedGrant, verifyGrants } from "./verify-grants.ts";

/** A folder, held against a lock. */
export interface VerifiedFolder {
  readonly folder: string;
  readonly ok: boolean;
  /** Files that differ; `.` stands for the folder where its files cannot be told. */
  readonly changes: readonly FileChange[];
  /** What is wrong, or worth knowing, in a sentence. */
  readonly note?: string;
}

/** It is `ok` together with its copies; `changes` are those of the folder that is used. */
export interface VerifiedSkill extends VerifiedFolder {
  /** What it is called here. */
  readonly name: string;
  readonly lock: LockOwner;
  readonly digest: string;
  /** Where else the lock says it is. */
  readonly copies: readonly (VerifiedFolder & { readonly client: string })[];
}

export interface VerifyReport {
  /** Whether everything is as recorded. */
  readonly ok: boolean;
  readonly skills: readonly VerifiedSkill[];
  /** Trust in single skills whose content is no longer what was trusted, or is no longer there. */
  readonly grants: readonly VerifiedGrant[];
  /** Why nothing could be verified. */
  readonly fault?: InstallFault;
}

type VerifyParts = Pick<InstallParts, "places" | "projectRoot">;

export function verifySkills(wish: InstalledWish, parts: VerifyParts): VerifyReport {
  const choice = chooseInstalled(wish, parts);
  if (!choice.ok) return { ok: false, skills: [], grants: [], fault: choice.fault };
  const skills = choice.chosen.map((one) => verifySkill(one, parts));
  const isAll = (wish.skills ?? []).length === 0;
  const names = isAll
    ? undefined
    : new Set(choice.chosen.flatMap(({ entry }) => [entry.name, calledAs(entry)]));
  const grants = verifyGrants(readGrants(parts.places).skills, names);
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
  // A checkout may bring copies along, one of which stands in for the store's folder.
  const hasCopy = entry.placed?.some(({ how }, index) => how === "copy" && copies[index]?.ok) ?? false;
  const isStoodIn = hasCopy && isMissing(main.folder);
  const used = isStoodIn
    ? { folder: main.folder, ok: true, changes: [], note: "A copy stands in for it." }
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
    return { folder, ok: false, changes: [], note: "It leads out of the project, so it is not used." };
  }
  const verified = verifyFolder(folder, entry, expected);
  if (!entry.linked || isMissing(folder)) return verified;
  const note = verified.ok
    ? "It is used in place."
    : "It is used in place, and was changed since it was linked.";
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
    return { folder, ok: false, changes, note: "It is not there; `metier install` restores it." };
  }
  if (!stats.isDirectory()) {
    const changes: readonly FileChange[] = [{ path: ".", change: "changed" }];
    return { folder, ok: false, changes, note: "It is not a folder." };
  }
  const outcome = identifyFolder(folder);
  if (!outcome.ok) {
    const changes: readonly FileChange[] = [{ path: ".", change: "changed" }];
    return { folder, ok: false, changes, note: outcome.diagnostic.message };
  }
  return compareFolder(folder, outcome.identity, digest, previous?.digest, expected);
}

function compareFolder(
  folder: string,
  now: ContentIdentity,
  digest: string,
  before: string | undefined,
  expected: readonly IdentifiedFile[] | undefined,
): VerifiedFolder {
  if (now.digest === digest) return { folder, ok: true, changes: [] };
  const changes = compareFiles(expected, now.files);
  const note =
    now.digest === before
      ? "It is the version before the last update; `metier install` brings it up to date."
      : "It is not what the lock records.";
  return { folder, ok: false, changes, note };
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
    missing: "It is not there; `metier install` makes it again.",
    earlier: "It leads to another version; `metier install` puts it right.",
    foreign: "It is not what Metier put there.",
    refused: "The lock may not name this place.",
  }[state];
  return { folder, ok: false, changes: [{ path: ".", change }], note };
}

/** The files of the version that the lock records: from its list, or from a folder that is that version. */
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
    if (outcome.ok && outcome.identity.digest === entry.digest) return outcome.identity.files;
  }
  return undefined;
}

function isMissing(folder: string): boolean {
  return lstatSync(folder, { throwIfNoEntry: false }) === undefined;
}
