/**
 * `install` without a source: what the locks record is put back, byte for byte, and no lock is changed. What is there and
 * right costs no network. With `frozen`, whatever is there and differs is a fault, and nothing is repaired.
 */
import { existsSync } from "node:fs";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { rememberLock } from "../lock/known-locks.ts";
import { calledAs, type LockEntry } from "../lock/lock-entry.ts";
import {
  isWithinOwner,
  type LockFile,
  leadsToOwner,
  lockedFolder,
  projectLockFile,
  storeFolder,
  userLockFile,
} from "../lock/lock-places.ts";
import { readLock } from "../lock/lock-store.ts";
import { makePlaces } from "./fan-out.ts";
import { makeCopy, tidyStore } from "./finish-install.ts";
import { cancelledFault, type FaultOutcome } from "./install-fault.ts";
import type {
  InstalledSkill,
  InstallOutcome,
  InstallParts,
  InstallRequest,
  SkillFinding,
  SkippedSkill,
} from "./install-request.ts";
import { lockFault } from "./lock-fault.ts";
import { findForeignPlace } from "./place-state.ts";
import { type CopyState, stateOfCopy } from "./project-copy.ts";
import { openQuarantine } from "./quarantine.ts";
import { fetchLocked } from "./restore-content.ts";

/** An entry of a lock, and what there is of it. */
export interface LockedSkillState {
  readonly entry: LockEntry;
  readonly lockFile: LockFile;
  /** Where the catalog reads it. */
  readonly folder: string;
  readonly store: CopyState;
  /** Of the project's own copy; of a linked folder, whether it is there. `outside`: a link leads out of the project. */
  readonly inPlace: CopyState | "outside";
}

interface Restoration {
  readonly installed: InstalledSkill[];
  readonly skipped: SkippedSkill[];
  readonly findings: SkillFinding[];
  readonly diagnostics: Diagnostic[];
}

export async function restoreSkills(request: InstallRequest, parts: InstallParts): Promise<InstallOutcome> {
  const states = readStates(request, parts);
  if ("fault" in states) return states;
  const done: Restoration = { installed: [], skipped: [], findings: [], diagnostics: [] };
  const open: LockedSkillState[] = [];
  for (const state of states) {
    const settled = settle(state, request, parts);
    if (settled) done.skipped.push({ ...settled, lock: state.lockFile.owner });
    else open.push(state);
  }
  const isHopeless = request.frozen === true && done.skipped.some(({ code }) => code === "install.differs");
  if (isHopeless) return { ok: true, ...done };
  if (request.dryRun) {
    done.installed.push(...open.map(describe));
    return { ok: true, ...done };
  }
  await restoreAll(open, request, parts, done);
  done.diagnostics.push(...states.flatMap((state) => restorePlaces(state, request, parts)));
  return request.signal?.aborted ? cancelledFault() : { ok: true, ...done };
}

function readStates(
  { project }: InstallRequest,
  parts: InstallParts,
): readonly LockedSkillState[] | FaultOutcome {
  const { places, projectRoot } = parts;
  const states: LockedSkillState[] = [];
  for (const lockFile of [...(project ? [] : [userLockFile(places)]), projectLockFile(projectRoot)]) {
    const read = readLock(lockFile);
    if (!read.ok) return lockFault(read.diagnostic);
    if (read.lock.skills.length > 0) rememberLock(places, lockFile);
    states.push(...read.lock.skills.map((entry) => lookAt(entry, lockFile, parts)));
  }
  return states;
}

function lookAt(entry: LockEntry, lockFile: LockFile, { places }: InstallParts): LockedSkillState {
  const folder = lockedFolder(places, lockFile, entry);
  const store = entry.linked ? "intact" : stateOfCopy(storeFolder(places, entry), [entry.digest]);
  const place = (): LockedSkillState["inPlace"] => {
    if (entry.copied)
      return isWithinOwner(lockFile, folder) ? stateOfCopy(folder, [entry.digest]) : "outside";
    if (!existsSync(folder)) return "missing";
    return leadsToOwner(lockFile, folder) ? "intact" : "outside";
  };
  return { entry, lockFile, folder, store, inPlace: entry.linked || entry.copied ? place() : store };
}

/** What needs nothing to be done, or must not have it done. */
function settle(
  { entry, lockFile, folder, inPlace }: LockedSkillState,
  { frozen, force }: InstallRequest,
  { places }: InstallParts,
): SkippedSkill | undefined {
  const name = calledAs(entry);
  const strange = frozen ? findForeignPlace(entry, { places, lockFile }) : undefined;
  if (strange !== undefined) {
    const reason = `\`${strange}\` is not what the lock records.`;
    const hint = "Move it away, then run `metier install`; with `--force` it is moved aside.";
    return { name, code: "install.differs", reason, hint };
  }
  if (inPlace === "intact") return { name, code: "same", reason: "It is there, as the lock records it." };
  if (inPlace === "outside") {
    const reason = `A link on the way to \`${folder}\` leads out of the project, so it is left alone.`;
    const hint = "Look at who made the link; put a folder in its place, then run `metier install`.";
    return { name, code: "install.differs", reason, hint };
  }
  if (entry.linked) {
    const hint = `Put the folder back, or take the skill out of the lock with \`metier remove ${name}\`.`;
    return { name, code: "install.differs", reason: `The linked folder \`${folder}\` is not there.`, hint };
  }
  const isOwn = entry.copied === true;
  if (inPlace !== "changed" || (!frozen && (!isOwn || force))) return undefined;
  const reason = `\`${folder}\` is not what the lock records (${entry.digest}).`;
  const hint = isOwn
    ? "`metier verify` shows what was changed; `metier install --force` overwrites it."
    : "`metier verify` shows what was changed; `metier install` without `--frozen` restores it.";
  return { name, code: "install.differs", reason, hint };
}

/** Only what is there can be put anywhere else. */
function restorePlaces(
  { entry, folder, lockFile }: LockedSkillState,
  { force, signal }: InstallRequest,
  { places }: InstallParts,
): readonly Diagnostic[] {
  if (signal?.aborted || !existsSync(folder)) return [];
  return makePlaces(entry, [], { places, lockFile, force });
}

async function restoreAll(
  open: readonly LockedSkillState[],
  request: InstallRequest,
  parts: InstallParts,
  done: Restoration,
): Promise<void> {
  if (open.length === 0) return;
  const quarantine = openQuarantine(parts.places);
  try {
    // One fetch for all skills of one version of a source.
    const groups = Map.groupBy(open, ({ entry }) => `${entry.source}\0${entry.resolved}`);
    for (const group of groups.values()) {
      if (request.signal?.aborted) return;
      const isMissing = ({ store }: LockedSkillState): boolean => store !== "intact";
      const missing = group.filter(isMissing);
      const outcome =
        missing.length > 0 ? await fetchLocked(missing, { request, parts, quarantine }) : NOTHING;
      done.findings.push(...outcome.findings);
      for (const { entry, lockFile } of group) {
        const failed = outcome.failed.get(entry);
        if (failed) done.skipped.push({ ...failed, lock: lockFile.owner });
      }
      const whole = group.filter(({ entry }) => !outcome.failed.has(entry));
      done.diagnostics.push(...whole.flatMap(({ entry, lockFile }) => makeCopy(entry, { parts, lockFile })));
      done.installed.push(...whole.map(describe));
    }
  } finally {
    quarantine.close();
  }
  done.diagnostics.push(...tidyStore({ parts, lockFile: userLockFile(parts.places) }));
}

const NOTHING = { failed: new Map<LockEntry, SkippedSkill>(), findings: [] };

function describe({ entry, lockFile, folder }: LockedSkillState): InstalledSkill {
  return { name: calledAs(entry), lock: lockFile.owner, digest: entry.digest, path: folder };
}
