/**
 * How installed skills are updated: what the sources have now is fetched into the quarantine and compared with what is
 * installed and with what was changed by hand; someone decides; what is taken goes into the store, and then the lock is
 * replaced, which is the moment at which it is updated. The version before stays for a rollback. A new version is untrusted.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import { calledAs, type LockEntry } from "../lock/lock-entry.ts";
import { type LockFile, lockedFolder } from "../lock/lock-places.ts";
import { readGrants } from "../trust/grant-store.ts";
import { chooseInstalled, type LockedEntry } from "./choose-installed.ts";
import { tidyStore } from "./finish-install.ts";
import { type FaultOutcome, faulty } from "./install-fault.ts";
import type { InstallParts } from "./install-request.ts";
import type { PlannedSkill } from "./plan-skill.ts";
import { openQuarantine, type Quarantine } from "./quarantine.ts";
import { recordSkills } from "./record-skills.ts";
import { decideUpdate } from "./update/decide-update.ts";
import { followCopies } from "./update/follow-copies.ts";
import { keepAside } from "./update/keep-aside.ts";
import { reviewUpdate } from "./update/review-update.ts";
import { lookUpstream, type Upstream } from "./update/upstream.ts";
import type {
  NotUpdated,
  UpdateDecisions,
  UpdatedSkill,
  UpdateOutcome,
  UpdateRequest,
  UpdateReview,
} from "./update-request.ts";

interface Updating {
  readonly request: UpdateRequest;
  readonly parts: InstallParts;
  readonly decisions: UpdateDecisions;
  readonly quarantine: Quarantine;
}

/** One that has a new version. */
interface Candidate {
  readonly one: LockedEntry;
  readonly upstream: Upstream & { readonly status: "outdated" };
  readonly review: UpdateReview;
}

export async function updateSkills(
  request: UpdateRequest,
  parts: InstallParts,
  decisions: UpdateDecisions = {},
): Promise<UpdateOutcome> {
  const choice = chooseInstalled(request, parts);
  if (!choice.ok) return choice;
  const quarantine = openQuarantine(parts.places);
  try {
    return await update(choice.chosen, { request, parts, decisions, quarantine });
  } finally {
    quarantine.close();
  }
}

async function update(chosen: readonly LockedEntry[], updating: Updating): Promise<UpdateOutcome> {
  const { request, parts, decisions } = updating;
  const { candidates, skipped } = await compareAll(chosen, updating);
  const reviews = candidates.map(({ review }) => review);
  const taken: Candidate[] = [];
  for (const candidate of candidates) {
    if (request.signal?.aborted) return cancelled();
    request.onReview?.(candidate.review);
    const decision = await decideUpdate(candidate.review, request, decisions, parts);
    if (decision === "abort") return cancelled();
    if (decision === "take") taken.push(candidate);
    else skipped.push(decision);
  }
  if (request.signal?.aborted) return cancelled();
  if (request.dryRun) {
    const updated = taken.map((candidate) => describeUpdated(candidate, [], parts));
    return { ok: true, updated, skipped, reviews, diagnostics: [] };
  }
  const updated: UpdatedSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  const lockFiles = new Map(taken.map(({ one }) => [one.lockFile.path, one.lockFile]));
  for (const lockFile of lockFiles.values()) {
    const group = taken.filter(({ one }) => one.lockFile.path === lockFile.path);
    const outcome = carryOut(group, lockFile, updating);
    updated.push(...outcome.updated);
    skipped.push(...outcome.failed);
    diagnostics.push(...outcome.diagnostics);
  }
  return { ok: true, updated, skipped, reviews, diagnostics };
}

function cancelled(): FaultOutcome {
  return faulty("cancelled", "Cancelled; nothing was updated.", "Run the command again when you want it.");
}

interface Compared {
  readonly candidates: readonly Candidate[];
  readonly skipped: NotUpdated[];
}

async function compareAll(chosen: readonly LockedEntry[], updating: Updating): Promise<Compared> {
  const { request, parts } = updating;
  const { skills: grants } = readGrants(parts.places);
  const context = { ...request, ...updating, grants };
  const found = await lookUpstream(chosen, context);
  const candidates: Candidate[] = [];
  const skipped: NotUpdated[] = [];
  for (const [done, one] of chosen.entries()) {
    request.onProgress?.({ what: "Comparing", done, total: chosen.length });
    const upstream = found.get(one.entry);
    if (upstream === undefined || request.signal?.aborted) continue;
    if (upstream.status !== "outdated") {
      skipped.push(describeSkipped(one, upstream));
      continue;
    }
    const outcome = await reviewUpdate(one, upstream, context);
    if (outcome.ok) candidates.push({ one, upstream, review: outcome.review });
    else skipped.push(describeSkipped(one, { status: "failed", fault: outcome.fault }));
  }
  return { candidates, skipped };
}

function describeSkipped(
  { entry, lockFile }: LockedEntry,
  upstream: Exclude<Upstream, { readonly status: "outdated" }>,
): NotUpdated {
  const known = { name: calledAs(entry), lock: lockFile.owner };
  if (!("fault" in upstream)) return { ...known, code: upstream.status, reason: upstream.reason };
  const { code, message, hint } = upstream.fault;
  return { ...known, code, reason: message, hint };
}

interface Carried {
  readonly updated: readonly UpdatedSkill[];
  readonly failed: readonly NotUpdated[];
  readonly diagnostics: readonly Diagnostic[];
}

/** All of one lock at once. */
function carryOut(group: readonly Candidate[], lockFile: LockFile, { parts, quarantine }: Updating): Carried {
  const kept = new Map(group.map((candidate) => [candidate, keepEdited(candidate, parts)]));
  const plans = group.map((candidate) => planUpdate(candidate, quarantine));
  const wrong = recordSkills(plans, { parts, lockFile, quarantine });
  if (wrong) {
    const { code, message: reason, hint } = wrong.fault;
    const failed = group.map(({ review: { name, lock } }) => ({ name, lock, code, reason, hint }));
    return { updated: [], failed, diagnostics: [] };
  }
  const finish = { parts, lockFile };
  const diagnostics = group.flatMap(({ one, review }, index) => {
    const entry = plans[index]?.entry ?? one.entry;
    return followCopies(entry, replaceable(one.entry, review), finish);
  });
  const updated = group.map((candidate) => describeUpdated(candidate, kept.get(candidate) ?? [], parts));
  return { updated, failed: [], diagnostics: [...diagnostics, ...tidyStore(finish)] };
}

/** What was shown to whoever decided, and what Metier itself put there. */
function replaceable({ digest, previous }: LockEntry, { local }: UpdateReview): readonly string[] {
  return [digest, ...(previous ? [previous.digest] : []), ...local.map((edited) => edited.digest)];
}

function keepEdited({ one, review }: Candidate, { places }: InstallParts): readonly string[] {
  const folders = review.local.map(({ folder, digest }) => keepAside(places, one.entry.name, folder, digest));
  return [...new Set(folders)];
}

/** From a copy of its own: two entries may have come from one folder. */
function planUpdate({ one, upstream }: Candidate, quarantine: Quarantine): PlannedSkill {
  const directory = join(quarantine.makeFolder(), "skill");
  cpSync(realPathOr(upstream.skill.directory), directory, { recursive: true, verbatimSymlinks: true });
  return {
    kind: "planned",
    skill: { ...upstream.skill, directory },
    called: calledAs(one.entry),
    entry: nextEntry(one.entry, upstream),
    replaces: one.entry,
    notes: [],
  };
}

function nextEntry(entry: LockEntry, { skill, source }: Candidate["upstream"]): LockEntry {
  const { digest, resolved, ref, updatedAt, kind } = entry;
  return {
    ...entry,
    resolved: kind === "folder" ? resolved : source.resolved, // A folder stays where it is.
    digest: skill.digest,
    updatedAt: new Date().toISOString(),
    previous: { digest, resolved, ...(ref !== undefined && { ref }), ...(updatedAt && { updatedAt }) },
  };
}

function describeUpdated(
  { one, upstream, review }: Candidate,
  kept: readonly string[],
  { places }: InstallParts,
): UpdatedSkill {
  const { name, lock, from, to, losesTrust } = review;
  const path = lockedFolder(places, one.lockFile, nextEntry(one.entry, upstream));
  return { name, lock, from, to, path, losesTrust, kept };
}
