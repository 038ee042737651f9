/**
 * How installed skills are updated: the sources' current versions are fetched into the quarantine and compared with
 * what is installed and edited; the user decides; then they enter the store and the lock is replaced, which completes
 * the update. The previous version stays for a rollback. A new version is untrusted.
 */
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { realPathOr } from "@metier/base/places";
import { done, type Refused } from "@metier/base/result";
import { calledAs, type LockEntry, type LockFile, lockedFolder, readGrants } from "@metier/skills/trust";
import { chooseInstalled, type LockedEntry } from "./choose-skills.ts";
import { ownDigests } from "./fan-out.ts";
import { type Quarantine, withQuarantine } from "./fetch-source.ts";
import { type CommandResult, faulty, type InstallFault, outcomeOf } from "./install-fault.ts";
import { lookUpstream, type Upstream } from "./outdated.ts";
import { type PlannedSkill, versionOf } from "./plan-skill.ts";
import { followCopies, recordSkills, tidyStore } from "./record-skills.ts";
import type {
  InstallParts,
  NotUpdated,
  UpdateDecisions,
  UpdatedSkill,
  UpdateOutcome,
  UpdateRequest,
  UpdateResult,
  UpdateReview,
} from "./requests.ts";
import { keepAside, reviewUpdate } from "./update/review-update.ts";
import { decideUpdate, isBlocked } from "./update/update-risks.ts";

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
  if (!choice.ok) return { ok: false, fault: choice.refusal };
  const result = await withQuarantine(parts.places, (quarantine) =>
    update(choice.value, { request, parts, decisions, quarantine }),
  );
  return outcomeOf(result);
}

async function update(
  chosen: readonly LockedEntry[],
  updating: Updating,
): Promise<CommandResult<UpdateOutcome>> {
  const { request, parts } = updating;
  const { candidates, skipped } = await compareAll(chosen, updating);
  const reviews = candidates.map(({ review }) => review);
  if (request.signal?.aborted) return cancelled();
  request.onReviews?.(reviews);
  const deciders = await decideTogether(reviews, updating);
  if (deciders === "abort") return cancelled();
  const taken: Candidate[] = [];
  for (const candidate of candidates) {
    if (request.signal?.aborted) return cancelled();
    request.onReview?.(candidate.review);
    const decision = await decideUpdate(candidate.review, request, deciders, parts);
    if (decision === "abort") return cancelled();
    if (decision === "take") taken.push(candidate);
    else skipped.push(decision);
  }
  if (request.signal?.aborted) return cancelled();
  if (request.dryRun) {
    const updated = taken.map((candidate) => describeUpdated(candidate, [], parts));
    return done({ updated, skipped, reviews, diagnostics: [] });
  }
  const updated: UpdatedSkill[] = [];
  const diagnostics: Diagnostic[] = [];
  const lockFiles = new Map(taken.map(({ one }) => [one.lockFile.path, one.lockFile]));
  for (const lockFile of lockFiles.values()) {
    const group = taken.filter(({ one }) => one.lockFile.path === lockFile.path);
    const outcome = carryOut(group, lockFile, updating);
    updated.push(...outcome.updated);
    skipped.push(...outcome.skipped);
    diagnostics.push(...outcome.diagnostics);
  }
  return done({ updated, skipped, reviews, diagnostics });
}

/** Who decides on each, after the question about all of them. */
async function decideTogether(
  reviews: readonly UpdateReview[],
  { request, parts, decisions }: Updating,
): Promise<UpdateDecisions | "abort"> {
  const open = reviews.filter((review) => !isBlocked(review, parts));
  if (request.dryRun || decisions.decideAll === undefined || open.length < 2) return decisions;
  const answer = await decisions.decideAll(open);
  if (answer === "abort") return answer;
  return answer === "each" ? decisions : { decide: async () => answer };
}

function cancelled(): Refused<InstallFault> {
  return faulty("cancelled", "Cancelled; nothing was updated.", "Run the command again when you are ready.");
}

async function compareAll(
  chosen: readonly LockedEntry[],
  updating: Updating,
): Promise<{ readonly candidates: readonly Candidate[]; readonly skipped: NotUpdated[] }> {
  const { request, parts } = updating;
  const { skills: grants } = readGrants(parts.places);
  const context = { ...request, ...updating, grants };
  const found = await lookUpstream(chosen, context);
  const candidates: Candidate[] = [];
  const skipped: NotUpdated[] = [];
  for (const [index, one] of chosen.entries()) {
    request.onProgress?.({ what: "Comparing", done: index, total: chosen.length });
    const upstream = found.get(one.entry);
    if (upstream === undefined || request.signal?.aborted) continue;
    if (upstream.status !== "outdated") {
      skipped.push(describeSkipped(one, upstream));
      continue;
    }
    const outcome = await reviewUpdate(one, upstream, context);
    if (outcome.ok) candidates.push({ one, upstream, review: outcome.value });
    else skipped.push(describeSkipped(one, { status: "failed", fault: outcome.refusal }));
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

/** All of one lock at once. `skipped`: all of them, if the lock could not be replaced. */
function carryOut(
  group: readonly Candidate[],
  lockFile: LockFile,
  { parts, quarantine }: Updating,
): Pick<UpdateResult, "updated" | "skipped" | "diagnostics"> {
  const kept = group.map(({ one, review }) =>
    review.local.map(({ folder, digest }) => keepAside(parts.places, one.entry.name, folder, digest)),
  );
  const plans = group.map((candidate) => planUpdate(candidate, quarantine));
  const wrong = recordSkills(plans, { parts, lockFile, quarantine });
  if (wrong) {
    const { code, message: reason, hint } = wrong.refusal;
    const skipped = group.map(({ review: { name, lock } }) => ({ name, lock, code, reason, hint }));
    return { updated: [], skipped, diagnostics: [] };
  }
  const finish = { places: parts.places, lockFile };
  const diagnostics = group.flatMap(({ one, review }, index) => {
    const entry = plans[index]?.entry ?? one.entry;
    // What the user saw when they decided, and what Metier itself put there.
    const replaceable = [...ownDigests(one.entry), ...review.local.map(({ digest }) => digest)];
    return followCopies(entry, replaceable, finish);
  });
  const updated = group.map((candidate, index) => {
    return describeUpdated(candidate, [...new Set(kept[index])], parts);
  });
  return { updated, skipped: [], diagnostics: [...diagnostics, ...tidyStore(finish)] };
}

/** From its own copy: two entries may have come from one folder. */
function planUpdate({ one, upstream }: Candidate, quarantine: Quarantine): PlannedSkill {
  const directory = join(quarantine.makeFolder(), "skill");
  cpSync(realPathOr(upstream.skill.directory), directory, { recursive: true, verbatimSymlinks: true });
  return {
    skill: { ...upstream.skill, directory },
    called: calledAs(one.entry),
    entry: nextEntry(one.entry, upstream),
    replaces: one.entry,
    notes: [],
  };
}

function nextEntry(entry: LockEntry, { skill, source }: Candidate["upstream"]): LockEntry {
  return {
    ...entry,
    resolved: entry.kind === "folder" ? entry.resolved : source.resolved, // A folder stays where it is.
    digest: skill.digest,
    previous: versionOf(entry),
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
