/**
 * `install` without a source: what the locks record is put back, byte for byte, and no lock is changed. What is there and
 * right costs no network; what is not is fetched again, and goes into the store only if it is what the lock says. With
 * `frozen`, whatever is there and differs is a fault, and nothing is repaired.
 */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { isInside, realPathOr } from "@metier/base/places";
import { done, type Result } from "@metier/base/result";
import { blockingFindings } from "@metier/scan/engine";
import {
  calledAs,
  flushStore,
  identifyFolder,
  isWithinOwner,
  type LockEntry,
  type LockFile,
  leadsToOwner,
  lockedFolder,
  placeInStore,
  rememberLock,
  storeFolder,
  userLockFile,
} from "@metier/skills/trust";
import { parseLockedAddress, pinAddress } from "./addresses/source-address.ts";
import { chooseInstalled, type LockedEntry } from "./choose-skills.ts";
import { findForeignPlace } from "./clients.ts";
import { type CopyState, makePlaces, stateOfCopy } from "./fan-out.ts";
import { type Fetching, fetchContext, fetchSource, withQuarantine } from "./fetch-source.ts";
import { type CommandResult, cancelledFault, type InstallFault } from "./install-fault.ts";
import { makeCopy, tidyStore } from "./record-skills.ts";
import {
  type FailedSkill,
  type InstalledSkill,
  type InstallOutcome,
  type InstallParts,
  type InstallRequest,
  type SkillFinding,
  type SkippedSkill,
  skipFor,
} from "./requests.ts";
import { refuseBlocked } from "./review-skills.ts";
import { scanFetched } from "./scan-fetched.ts";

/** An entry of a lock, and what there is of it. */
interface LockedSkillState extends LockedEntry {
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

export async function restoreSkills(
  request: InstallRequest,
  parts: InstallParts,
): Promise<CommandResult<InstallOutcome>> {
  const listed = chooseInstalled(request.project ? { project: true } : {}, parts);
  if (!listed.ok) return listed;
  const lockFiles = new Set(listed.value.map(({ lockFile }) => lockFile));
  for (const lockFile of lockFiles) rememberLock(parts.places, lockFile);
  const states = listed.value.map((one) => lookAt(one, parts));
  const restored: Restoration = { installed: [], skipped: [], findings: [], diagnostics: [] };
  const open: LockedSkillState[] = [];
  for (const state of states) {
    const settled = settle(state, request, parts);
    if (settled) restored.skipped.push({ ...settled, lock: state.lockFile.owner });
    else open.push(state);
  }
  const isHopeless =
    request.frozen === true && restored.skipped.some(({ code }) => code === "install.differs");
  if (isHopeless) return done(restored);
  if (request.dryRun) {
    restored.installed.push(...open.map(describeRestored));
    return done(restored);
  }
  await restoreAll(open, request, parts, restored);
  restored.diagnostics.push(...states.flatMap((state) => restorePlaces(state, request, parts)));
  return request.signal?.aborted ? cancelledFault() : done(restored);
}

function lookAt({ entry, lockFile }: LockedEntry, { places }: InstallParts): LockedSkillState {
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

/** What needs nothing to be done, or must not have it restored. */
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
  restored: Restoration,
): Promise<void> {
  if (open.length === 0) return;
  const { places } = parts;
  await withQuarantine(places, async (quarantine) => {
    // One fetch for all skills of one version of a source.
    const groups = Map.groupBy(open, ({ entry }) => `${entry.source}\0${entry.resolved}`);
    for (const group of groups.values()) {
      if (request.signal?.aborted) return;
      const missing = group.filter(({ store }) => store !== "intact");
      const outcome =
        missing.length > 0 ? await fetchLocked(missing, { ...request, parts, quarantine }) : NOTHING;
      restored.findings.push(...outcome.findings);
      for (const { entry, lockFile } of group) {
        const failed = outcome.failed.get(entry);
        if (failed) restored.skipped.push({ ...failed, lock: lockFile.owner });
      }
      const whole = group.filter(({ entry }) => !outcome.failed.has(entry));
      restored.diagnostics.push(
        ...whole.flatMap(({ entry, lockFile }) => makeCopy(entry, { places, lockFile })),
      );
      restored.installed.push(...whole.map(describeRestored));
    }
  });
  restored.diagnostics.push(...tidyStore({ places, lockFile: userLockFile(places) }));
}

const NOTHING = { failed: new Map<LockEntry, FailedSkill>(), findings: [] };

function describeRestored({ entry, lockFile, folder }: LockedSkillState): InstalledSkill {
  return { name: calledAs(entry), lock: lockFile.owner, digest: entry.digest, path: folder };
}

/** All of one version of one source; at least one. */
export async function fetchLocked(
  states: readonly LockedEntry[],
  fetching: Fetching,
): Promise<{
  readonly failed: ReadonlyMap<LockEntry, FailedSkill>;
  readonly findings: readonly SkillFinding[];
}> {
  const failed = new Map<LockEntry, FailedSkill>();
  const findings: SkillFinding[] = [];
  const fetched = await fetchVersion(states, fetching);
  for (const { entry, lockFile } of states) {
    const refused = fetched.ok
      ? ((await judge(entry, fetched.value, fetching, findings)) ??
        store(entry, lockFile, fetched.value, fetching))
      : skipFor(calledAs(entry), fetched.refusal);
    if (refused) failed.set(entry, refused);
  }
  if (failed.size < states.length) flushStore(fetching.parts.places);
  return { failed, findings };
}

/** A copy goes there: two entries may have the same folder, or one inside the other's. */
function store(
  entry: LockEntry,
  lock: LockFile,
  source: string,
  { parts, quarantine }: Fetching,
): FailedSkill | undefined {
  const copy = join(quarantine.makeFolder(), "skill");
  cpSync(folderOf(entry, source), copy, { recursive: true, verbatimSymlinks: true });
  const placed = placeInStore(parts.places, copy, { name: entry.name, digest: entry.digest, lock });
  return placed.ok ? undefined : differs(entry, placed.refusal.message);
}

async function fetchVersion(
  states: readonly LockedEntry[],
  fetching: Fetching,
): Promise<Result<string, InstallFault>> {
  const [first] = states.map(({ entry }) => entry);
  const owners = states.map(({ lockFile }) => lockFile.owner);
  const parsed = parseLockedAddress(first?.source ?? "", owners, fetching.parts);
  if (!parsed.ok) return parsed;
  // Only what is needed of a large repository, if it is one thing.
  const path = states.length === 1 ? (first?.path ?? "") : "";
  const address = pinAddress(parsed.value, { resolved: first?.resolved ?? "" }, path);
  const wanted = states.map(({ entry }) => entry.name);
  const outcome = await fetchSource(address, { ...fetchContext(fetching), wanted });
  return outcome.ok ? done(realPathOr(outcome.value.folder)) : outcome;
}

/** Why it is not put into the store; nothing if it may. */
async function judge(
  entry: LockEntry,
  source: string,
  { parts }: Fetching,
  findings: SkillFinding[],
): Promise<FailedSkill | undefined> {
  const folder = folderOf(entry, source);
  if (!isInside(folder, source)) return differs(entry, `Its path \`${entry.path}\` leads out of the source.`);
  const identified = identifyFolder(folder);
  if (!identified.ok) return differs(entry, identified.refusal.message);
  const { digest } = identified.value;
  if (digest !== entry.digest)
    return differs(entry, `It has the content \`${digest}\` now, not \`${entry.digest}\`.`);
  const name = calledAs(entry);
  const report = await scanFetched(folder, name, parts.scan);
  findings.push(...report.findings.map((finding) => ({ skill: name, ...finding })));
  const blocking = blockingFindings(report.findings, parts.scan);
  return blocking.length > 0 ? refuseBlocked(name, blocking) : undefined;
}

function folderOf({ path }: LockEntry, source: string): string {
  return realPathOr(join(source, path));
}

function differs(entry: LockEntry, what: string): FailedSkill {
  const name = calledAs(entry);
  return {
    name,
    code: "install.differs",
    reason: `\`${entry.source}\` no longer gives what the lock records of \`${name}\` (${entry.resolved}). ${what}`,
    hint: `\`metier update ${name}\` takes what is there now, after you have looked at it.`,
  };
}
