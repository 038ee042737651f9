/** Which installed skills are meant: those that are named, or all that the locks here record. */
import { nearestNames } from "../foundation/nearest-names.ts";
import { calledAs, type LockEntry } from "../lock/lock-entry.ts";
import { type LockFile, projectLockFile, userLockFile } from "../lock/lock-places.ts";
import { readLock } from "../lock/lock-store.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";
import type { InstallParts } from "./install-request.ts";
import { lockFault } from "./lock-fault.ts";

export interface InstalledWish {
  /** By what they are called here. Absent or empty: all. */
  readonly skills?: readonly string[];
  /** `true`: only the project's lock; `false`: only the user's. Absent: both. */
  readonly project?: boolean;
}

/** An entry, and the lock that records it. */
export interface LockedEntry {
  readonly entry: LockEntry;
  readonly lockFile: LockFile;
}

export type InstalledChoice = { readonly ok: true; readonly chosen: readonly LockedEntry[] } | FaultOutcome;

/** The user's first, each by name. A name that neither lock has is a fault. */
export function chooseInstalled(
  { skills: names = [], project }: InstalledWish,
  { places, projectRoot }: Pick<InstallParts, "places" | "projectRoot">,
): InstalledChoice {
  const locks = [
    ...(project === true ? [] : [userLockFile(places)]),
    ...(project === false ? [] : [projectLockFile(projectRoot)]),
  ];
  const all: LockedEntry[] = [];
  for (const lockFile of locks) {
    const read = readLock(lockFile);
    if (!read.ok) return lockFault(read.diagnostic);
    all.push(...read.lock.skills.map((entry) => ({ entry, lockFile })));
  }
  if (names.length === 0) return { ok: true, chosen: all };
  const chosen = new Set<LockedEntry>();
  for (const name of names) {
    const meant = findMeant(all, name.replace(/^installed:/, ""));
    if (meant.length === 0) return notInstalled(name, all, project);
    for (const one of meant) chosen.add(one);
  }
  return { ok: true, chosen: all.filter((one) => chosen.has(one)) };
}

/** By what it is called here, or else by its own name; both locks may have it. */
function findMeant(all: readonly LockedEntry[], name: string): readonly LockedEntry[] {
  const called = all.filter(({ entry }) => calledAs(entry) === name);
  return called.length > 0 ? called : all.filter(({ entry }) => entry.name === name);
}

function notInstalled(name: string, all: readonly LockedEntry[], project: boolean | undefined): FaultOutcome {
  const where = project === undefined ? "" : project ? " in this project" : " for you";
  const known = all.map(({ entry }) => calledAs(entry));
  const near = nearestNames(name, known).map((one) => `\`${one}\``);
  const hint =
    near.length > 0
      ? `Did you mean ${near.join(" or ")}?`
      : "`metier list --scope installed` shows what is installed.";
  return faulty("install.not_installed", `\`${name}\` is not installed${where}.`, hint);
}
