/**
 * The end of an installation: puts the skills into the store, then replaces the lock, which installs all of them or
 * none. What depends on the lock comes after it (a project's own copies, other clients' folders); a fault there is a
 * diagnostic, since the skills are installed and `metier install` can redo the rest.
 */
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Refused } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import { reportOutside } from "@metier/skills";
import { changeLock, collectGarbage } from "@metier/skills/formats";
import {
  findEntry,
  flushStore,
  isWithinOwner,
  type LockEntry,
  type LockFile,
  lockedFolder,
  placeAllInStore,
  rememberFiles,
  storeFolder,
  withEntry,
} from "@metier/skills/trust";
import {
  attempt,
  type FanOutContext,
  makePlaces,
  ownDigests,
  putCopy,
  removeEmptyAbove,
  reportKept,
  stateOfCopy,
  takeAway,
  takeBackPlaces,
} from "./fan-out.ts";
import type { Quarantine } from "./fetch-source.ts";
import { faulty, type InstallFault, lockFault } from "./install-fault.ts";
import type { PlannedSkill } from "./plan-skill.ts";
import type { InstallParts } from "./requests.ts";

interface RecordContext {
  readonly parts: InstallParts;
  readonly lockFile: LockFile;
  readonly quarantine: Quarantine;
}

export function recordSkills(
  planned: readonly PlannedSkill[],
  context: RecordContext,
): Refused<InstallFault> | undefined {
  const folders = new Map(planned.map((plan) => [plan, plan.skill.directory]));
  // Deepest first; a nested skill is copied out before any of them moves.
  const byDepth = planned.toSorted((a, b) => b.skill.path.length - a.skill.path.length);
  const { places } = context.parts;
  rememberFiles(
    places,
    planned.filter(({ entry }) => entry.linked).map(({ skill }) => skill),
  );
  const stored = byDepth.filter(({ entry }) => !entry.linked);
  const fault = stored.length > 0 ? storeAll(stored, folders, context) : undefined;
  if (fault) return fault;
  return replaceLock(planned, context.lockFile);
}

function storeAll(
  planned: readonly PlannedSkill[],
  folders: ReadonlyMap<PlannedSkill, string>,
  { quarantine, parts: { places }, lockFile }: RecordContext,
): Refused<InstallFault> | undefined {
  const all = new Set(folders.values());
  const isShared = all.size < folders.size; // A folder that is installed twice is copied twice.
  const incoming = planned.map((plan) => {
    const { name, digest, directory } = plan.skill;
    const folder = folders.get(plan) ?? directory;
    const isNested = isShared || foldersAbove(folder).some((above) => all.has(above));
    const moved = isNested ? join(quarantine.makeFolder(), "skill") : folder;
    if (isNested) cpSync(folder, moved, { recursive: true, verbatimSymlinks: true });
    return { name, digest, folder: moved };
  });
  const placed = placeAllInStore(places, incoming, lockFile);
  if (placed.ok) flushStore(places);
  if (placed.ok) return undefined;
  const hint = "Another program writes to the quarantine; find out which one, then run the command again.";
  return faulty("install.changed", placed.refusal.message, hint);
}

function foldersAbove(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [] : [above, ...foldersAbove(above)];
}

function replaceLock(
  planned: readonly PlannedSkill[],
  lockFile: LockFile,
): Refused<InstallFault> | undefined {
  let taken: string | undefined;
  const outcome = changeLock(lockFile, (lock) => {
    const open = planned.filter(({ called, entry }) => !isAlike(findEntry(lock, called), entry));
    taken = open.find(({ called, replaces }) => !isAlike(findEntry(lock, called), replaces))?.called;
    return taken === undefined ? open.map(({ entry }) => entry).reduce(withEntry, lock) : lock;
  });
  if (!outcome.ok) return lockFault(outcome.refusal);
  if (taken === undefined) return undefined;
  return faulty(
    "install.changed",
    `Another process just installed, updated or removed \`${taken}\`; nothing was installed.`,
    "Run the command again.",
  );
}

/** Two processes may install the same skill at the same time; then both succeed. */
function isAlike(a: LockEntry | undefined, b: LockEntry | undefined): boolean {
  return (
    a?.digest === b?.digest &&
    a?.source === b?.source &&
    a?.linked === b?.linked &&
    a?.copied === b?.copied &&
    placesOf(a) === placesOf(b)
  );
}

function placesOf(entry: LockEntry | undefined): string {
  const places = entry?.placed?.map(({ path, how }) => `${how} ${path}`) ?? [];
  return places.sort(compareText).join("\n");
}

/** After the lock is replaced. `replaced` are the previous entries. */
export function finishInstall(
  entries: readonly LockEntry[],
  replaced: readonly LockEntry[],
  context: FanOutContext,
): readonly Diagnostic[] {
  /** The replaced versions. */
  const digestsOf = ({ name }: LockEntry): readonly string[] =>
    replaced.filter((entry) => entry.name === name).map(({ digest }) => digest);
  return [
    ...replaced.flatMap((entry) => takeBackCopy(entry, entries, context)),
    ...replaced.flatMap((entry) => takeBackPlaces(entry, entries, context)),
    ...entries.flatMap((entry) => makeCopy(entry, context)),
    ...entries.flatMap((entry) => makePlaces(entry, digestsOf(entry), context)),
    ...tidyStore(context),
  ];
}

export function makeCopy(entry: LockEntry, { places, lockFile }: FanOutContext): readonly Diagnostic[] {
  if (!entry.copied) return [];
  const folder = lockedFolder(places, lockFile, entry);
  if (!isWithinOwner(lockFile, folder)) return [reportOutside(lockFile.path, folder)];
  return attempt(folder, () => void putCopy(storeFolder(places, entry), folder));
}

/** Removes the project's copy, unless a remaining entry has it, or someone changed it and `force` is not set. */
export function takeBackCopy(
  entry: LockEntry,
  kept: readonly LockEntry[],
  { places, lockFile }: FanOutContext,
  force: boolean = false,
): readonly Diagnostic[] {
  const { name, copied } = entry;
  if (!copied || kept.some((other) => other.copied && other.name === name)) return [];
  const folder = lockedFolder(places, lockFile, entry);
  const state = stateOfCopy(folder, ownDigests(entry));
  if (state === "missing") return [];
  const mayGo = isWithinOwner(lockFile, folder) && (state === "intact" || force);
  if (!mayGo) return [reportKept(folder)];
  return attempt(folder, () => {
    takeAway(folder);
    removeEmptyAbove(folder, dirname(lockFile.path));
  });
}

/** If another project's lock cannot be read, garbage stays, which is not an error here. */
export function tidyStore({ places, lockFile }: FanOutContext): readonly Diagnostic[] {
  return attempt(places.store, () =>
    collectGarbage(places, [lockFile]).diagnostics.map((diagnostic) => ({
      ...diagnostic,
      severity: "info",
      message: `The store was not cleaned up, because \`${diagnostic.path}\` cannot be read. ${diagnostic.message}`,
    })),
  );
}

/**
 * After an update or a rollback, the skill's other folders follow the lock. One with anything but `digests`, which can
 * be fetched again, is left alone and reported.
 */
export function followCopies(
  entry: LockEntry,
  digests: readonly string[],
  context: FanOutContext,
): readonly Diagnostic[] {
  return [
    ...(entry.copied ? followFolder(entry, digests, context) : []),
    ...makePlaces(entry, digests, context),
  ];
}

function followFolder(
  entry: LockEntry,
  digests: readonly string[],
  { places, lockFile }: FanOutContext,
): readonly Diagnostic[] {
  const folder = lockedFolder(places, lockFile, entry);
  if (!isWithinOwner(lockFile, folder)) return [reportKept(folder)];
  if (stateOfCopy(folder, [entry.digest]) === "intact") return [];
  if (stateOfCopy(folder, digests) === "changed") return [reportKept(folder)];
  return attempt(folder, () => void putCopy(storeFolder(places, entry), folder));
}
