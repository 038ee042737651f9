/**
 * The end of an installation: the skills go into the store, then the lock is replaced, which is the moment at which they
 * are installed, all of them or none.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { compareText } from "../foundation/diagnostic.ts";
import { isInside } from "../host/places.ts";
import { realPathOr } from "../host/project-folders.ts";
import { rememberFiles } from "../lock/file-lists.ts";
import { findEntry, type LockEntry, withEntry } from "../lock/lock-entry.ts";
import type { LockFile } from "../lock/lock-places.ts";
import { changeLock } from "../lock/lock-store.ts";
import { flushStore, placeInStore } from "../lock/store.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";
import type { InstallParts } from "./install-request.ts";
import { lockFault } from "./lock-fault.ts";
import type { PlannedSkill } from "./plan-skill.ts";
import type { Quarantine } from "./quarantine.ts";

export interface RecordContext {
  readonly parts: InstallParts;
  readonly lockFile: LockFile;
  readonly quarantine: Quarantine;
}

export function recordSkills(
  planned: readonly PlannedSkill[],
  context: RecordContext,
): FaultOutcome | undefined {
  // A source may reach a skill of its own over a link; what moves is the folder itself.
  const folders = new Map(planned.map((plan) => [plan, realPathOr(plan.skill.directory)]));
  // Deepest first: a skill inside another is copied out of it before the other one moves.
  const byDepth = planned.toSorted((a, b) => b.skill.path.length - a.skill.path.length);
  for (const plan of byDepth) {
    if (plan.entry.linked) {
      rememberFiles(context.parts.places, plan.skill);
      continue;
    }
    const fault = store(plan, folders, context);
    if (fault) return fault;
  }
  if (planned.some(({ entry }) => !entry.linked)) flushStore(context.parts.places);
  return replaceLock(planned, context.lockFile);
}

function store(
  plan: PlannedSkill,
  folders: ReadonlyMap<PlannedSkill, string>,
  { quarantine, parts, lockFile }: RecordContext,
): FaultOutcome | undefined {
  const { name, digest, directory } = plan.skill;
  const folder = folders.get(plan) ?? directory;
  const isNested = [...folders].some(([other, place]) => other !== plan && isInside(folder, place));
  const moved = isNested ? join(quarantine.makeFolder(), "skill") : folder;
  if (isNested) cpSync(folder, moved, { recursive: true, verbatimSymlinks: true });
  const placed = placeInStore(parts.places, moved, { name, digest, lock: lockFile });
  if (placed.ok) return undefined;
  const hint = "Something else writes into the quarantine; find out what, then run the command again.";
  return faulty("install.changed", placed.diagnostic.message, hint);
}

function replaceLock(planned: readonly PlannedSkill[], lockFile: LockFile): FaultOutcome | undefined {
  let taken: string | undefined;
  const outcome = changeLock(lockFile, (lock) => {
    const open = planned.filter(({ called, entry }) => !isAlike(findEntry(lock, called), entry));
    taken = open.find(({ called, replaces }) => !isAlike(findEntry(lock, called), replaces))?.called;
    return taken === undefined ? open.map(({ entry }) => entry).reduce(withEntry, lock) : lock;
  });
  if (!outcome.ok) return lockFault(outcome.diagnostic);
  if (taken === undefined) return undefined;
  return faulty(
    "install.changed",
    `Another process installed, updated or removed \`${taken}\` meanwhile; nothing was installed.`,
    "Run the command again.",
  );
}

/** Two processes may install the same at the same time; then both have. */
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
