/**
 * `install` without a source: restores what the locks record, byte for byte, without changing a lock. What is present
 * and correct needs no network; the rest is fetched again, and enters the store only if it matches the lock. With
 * `frozen`, any difference is a fault, and nothing is repaired.
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

/** A lock entry, and what exists of it. */
interface LockedSkillState extends LockedEntry {
  /** Where the catalog reads it. */
  readonly folder: string;
  readonly store: CopyState;
  /**
   * For the project's own copy; for a linked folder, whether it exists. `outside`: a link points outside the project.
   */
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

/** Entries that need nothing, or must not be restored. */
function settle(
  { entry, lockFile, folder, inPlace }: LockedSkillState,
  { frozen, force }: InstallRequest,
  { places }: InstallParts,
): SkippedSkill | undefined {
  const name = calledAs(entry);
  const strange = frozen ? findForeignPlace(entry, { places, lockFile }) : undefined;
  if (strange !== undefined) {
    const reason = `\`${strange}\` does not match the lock.`;
    const hint = "Move it away, then run `metier install`; `--force` moves it aside for you.";
    return { name, code: "install.differs", reason, hint };
  }
  if (inPlace === "intact") return { name, code: "same", reason: "It is present and matches the lock." };
  if (inPlace === "outside") {
    const reason = `A link in the path of \`${folder}\` points outside the project, so Metier did not touch it.`;
    const hint = "Check who made the link; replace it with a folder, then run `metier install`.";
    return { name, code: "install.differs", reason, hint };
  }
  if (entry.linked) {
    const hint = `Put the folder back, or remove the skill from the lock with \`metier remove ${name}\`.`;
    return { name, code: "install.differs", reason: `The linked folder \`${folder}\` does not exist.`, hint };
  }
  const isOwn = entry.copied === true;
  if (inPlace !== "changed" || (!frozen && (!isOwn || force))) return undefined;
  const reason = `\`${folder}\` does not match the lock (${entry.digest}).`;
  const hint = isOwn
    ? "See the changes with `metier verify`; overwrite them with `metier install --force`."
    : "See the changes with `metier verify`; restore it with `metier install` without `--frozen`.";
  return { name, code: "install.differs", reason, hint };
}

/** Only what is present can be put anywhere else. */
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

/** All from one version of one source; at least one. */
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

/** A copy goes there: two entries may have the same folder, or nested ones. */
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
  // Only the needed part of a large repository, if it is one thing.
  const path = states.length === 1 ? (first?.path ?? "") : "";
  const address = pinAddress(parsed.value, { resolved: first?.resolved ?? "" }, path);
  const wanted = states.map(({ entry }) => entry.name);
  const outcome = await fetchSource(address, { ...fetchContext(fetching), wanted });
  return outcome.ok ? done(realPathOr(outcome.value.folder)) : outcome;
}

/** Why it may not enter the store; `undefined` if it may. */
async function judge(
  entry: LockEntry,
  source: string,
  { parts }: Fetching,
  findings: SkillFinding[],
): Promise<FailedSkill | undefined> {
  const folder = folderOf(entry, source);
  if (!isInside(folder, source))
    return differs(entry, `Its path \`${entry.path}\` points outside the source.`);
  const identified = identifyFolder(folder);
  if (!identified.ok) return differs(entry, identified.refusal.message);
  const { digest } = identified.value;
  if (digest !== entry.digest)
    return differs(entry, `Its content is now \`${digest}\`, not \`${entry.digest}\`.`);
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
    reason: `\`${entry.source}\` no longer provides \`${name}\` as the lock records it (${entry.resolved}). ${what}`,
    hint: `Review and install the current version with \`metier update ${name}\`.`,
  };
}
