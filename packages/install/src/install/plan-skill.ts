/**
 * What happens to one selected skill: it is new, replaces another, is already installed, or cannot have its name. Uses
 * the current lock; whether that still holds is checked again when the lock is replaced.
 */
import { join, relative, sep } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { presentFields } from "@metier/base/json";
import { isInside, realPathOr } from "@metier/base/places";
import { done, type Result, refused } from "@metier/base/result";
import type { SkillManifest } from "@metier/skills";
import {
  findDifference,
  findEntry,
  isLockName,
  isWithinOwner,
  type Lock,
  type LockEntry,
  type LockFile,
  lockedFolder,
  storeFolder,
} from "@metier/skills/trust";
import {
  isSameOrigin,
  readsFromProject,
  type SourceAddress,
  writeLockedPlace,
} from "./addresses/source-address.ts";
import { choosable } from "./choose-skills.ts";
import { hasPlaces, planPlaces } from "./clients.ts";
import { stateOfCopy } from "./fan-out.ts";
import type { FetchedSource } from "./fetch-source.ts";
import type { SourceSkill } from "./find-source-skills.ts";
import type {
  ConflictAnswer,
  InstallConflict,
  InstallDecisions,
  InstallParts,
  InstallRequest,
  SkippedSkill,
} from "./requests.ts";

/** One with everything a skill needs to be loaded. */
export interface ValidSkill extends SourceSkill {
  /** Present in every valid skill. */
  readonly manifest: SkillManifest;
}

export interface PlannedSkill {
  readonly skill: ValidSkill;
  readonly called: string;
  /** The new lock entry. */
  readonly entry: LockEntry;
  /** The current lock entry under that name. */
  readonly replaces?: LockEntry | undefined;
  /** Other clients' paths it is not put into, and why. */
  readonly notes: readonly Diagnostic[];
}

type Plan = Result<PlannedSkill, SkippedSkill>;

interface PlanContext {
  readonly request: InstallRequest;
  readonly decisions: InstallDecisions;
  readonly parts: InstallParts;
  readonly lockFile: LockFile;
  readonly lock: Lock;
  readonly address: SourceAddress;
  readonly source: FetchedSource;
}

export async function planSkill(skill: SourceSkill, context: PlanContext): Promise<Plan> {
  const called = context.request.name ?? skill.name;
  return isValid(skill) ? planValid(skill, called, context) : refused(refuseInvalid(skill, called));
}

async function planValid(skill: ValidSkill, called: string, context: PlanContext): Promise<Plan> {
  const installed = findEntry(context.lock, called);
  if (installed === undefined) return plan(skill, called, undefined, context);
  const isSameSource = isSameOrigin(installed, context.address, skill.path, readsFromProject(context.parts));
  if (isSameSource && installed.digest === skill.digest && installed.name === skill.name) {
    if (!isAlready(installed, context)) return plan(skill, called, installed, context);
    const reason = "It is already installed with the same content.";
    return refused({ name: called, code: "same", reason });
  }
  if (context.request.force) return plan(skill, called, installed, context);
  const conflict: InstallConflict = { called, installed, isSameSource, candidate: choosable(skill) };
  const answer = await context.decisions.conflict?.(conflict);
  return answer === undefined ? refuseConflict(conflict) : follow(answer, skill, conflict, context);
}

/** `replaces` is the current lock entry under that name. */
function plan(
  skill: ValidSkill,
  called: string,
  replaces: LockEntry | undefined,
  context: PlanContext,
): Plan {
  const { parts, lockFile, request } = context;
  const entry = makeEntry(skill, called, replaces, context);
  if (entry === undefined) {
    const reason = `\`${skill.directory}\` is outside the project, so the project's lock cannot link to it.`;
    const hint = "Remove `--link` to copy it, or `--project` to link it for yourself.";
    return refused({ name: called, code: "install.usage", reason, hint });
  }
  const folder = lockedFolder(parts.places, lockFile, entry);
  if (entry.copied && !isWithinOwner(lockFile, folder)) {
    const reason = `A link in the path of \`${folder}\` points outside the project, so nothing was put there.`;
    const hint = "Replace the link with a folder, or remove `--copy`.";
    return refused({ name: called, code: "install.conflict", reason, hint });
  }
  const known = [entry.digest, ...(replaces?.copied ? [replaces.digest] : [])];
  if (entry.copied && !request.force && stateOfCopy(folder, known) === "changed") {
    const reason = `\`${folder}\` already exists and does not match what Metier put there.`;
    const hint = "Move it away, or overwrite it with `--force`.";
    return refused({ name: called, code: "install.conflict", reason, hint });
  }
  return done({ skill, called, ...planPlaces(entry, replaces, context), replaces });
}

function follow(
  answer: ConflictAnswer,
  skill: ValidSkill,
  conflict: InstallConflict,
  context: PlanContext,
): Plan {
  const { called, installed } = conflict;
  if (answer === "replace") return plan(skill, called, installed, context);
  if (answer === "skip") {
    return refused({ name: called, code: "skipped", reason: "The installed skill with that name stays." });
  }
  const { rename } = answer;
  const wrong = !isLockName(rename)
    ? `\`${rename}\` is not a valid skill name.`
    : findEntry(context.lock, rename) && `\`${rename}\` is also taken.`;
  if (!wrong) return plan(skill, rename, undefined, context);
  const hint =
    "Use lowercase letters, digits and single hyphens, and a name that `metier list` does not show.";
  return refused({ name: called, code: "install.conflict", reason: wrong, hint });
}

export function isValid(skill: SourceSkill): skill is ValidSkill {
  return skill.valid && skill.manifest !== undefined;
}

const MOST_ERRORS = 3;

export function refuseInvalid({ name, diagnostics }: SourceSkill, called: string): SkippedSkill {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const shown = errors
    .slice(0, MOST_ERRORS)
    .map(({ path, line = 1, message }) => `${path}:${line} ${message}`);
  const more = errors.length - shown.length;
  const reason = `\`${name}\` is not a valid skill. ${shown.join(" ")}${more > 0 ? ` And ${more} more.` : ""}`;
  const hint = "Its author can check it with `metier validate`.";
  return { name: called, code: "install.invalid", reason, hint };
}

function refuseConflict({ called, installed, isSameSource }: InstallConflict): Plan {
  const reason = isSameSource
    ? `\`${called}\` is already installed, and its source now has different content.`
    : `Another skill is installed as \`${called}\`, from ${installed.source}.`;
  const first = isSameSource ? `See the changes with \`metier update ${called}\`; ` : "";
  const hint = `${first}\`--force\` replaces it, and \`--name <other>\` installs this one under another name.`;
  return refused({ name: called, code: "install.conflict", reason, hint });
}

/** The same content may be requested in another place, or by another reference to follow. */
function isAlready(installed: LockEntry, context: PlanContext): boolean {
  const { request, source, parts, lockFile } = context;
  return (
    installed.ref === source.ref &&
    (installed.linked ?? false) === (request.link ?? false) &&
    (installed.copied ?? false) === ((request.copy && request.project) ?? false) &&
    hasPlaces(installed, context) &&
    isIntact(installed, parts, lockFile)
  );
}

/** Installing again repairs what a killed process or an accident left. */
function isIntact(entry: LockEntry, { places }: InstallParts, lockFile: LockFile): boolean {
  if (entry.linked) return true;
  const folders = new Set([storeFolder(places, entry), lockedFolder(places, lockFile, entry)]);
  return [...folders].every((folder) => findDifference(folder, entry.digest) === undefined);
}

/** The skill's new lock entry. `undefined` for a link that a project's lock may not have. */
function makeEntry(
  skill: SourceSkill,
  called: string,
  replaces: LockEntry | undefined,
  context: PlanContext,
): LockEntry | undefined {
  const { request, source, address, parts, lockFile } = context;
  const resolved = request.link
    ? linkTarget(join(source.resolved, skill.path), context)
    : writeLockedPlace(source.resolved, lockFile.owner, parts);
  if (resolved === undefined) return undefined;
  const earlier =
    replaces && isSameOrigin(replaces, address, skill.path, readsFromProject(parts)) ? replaces : undefined;
  return {
    name: skill.name,
    ...(called !== skill.name && { alias: called }),
    source: writeLockedPlace(source.canonical, lockFile.owner, parts),
    kind: address.kind,
    ...presentFields({ ref: source.ref }),
    resolved,
    path: skill.path,
    digest: skill.digest,
    ...(request.link && { linked: true }),
    ...(request.copy && request.project && { copied: true }),
    ...(earlier && previousOf(earlier, skill.digest)),
  };
}

/** What a rollback returns to: an earlier version of the same skill in the store. */
function previousOf(earlier: LockEntry, digestNow: string): Pick<LockEntry, "previous"> {
  const { digest, previous, linked } = earlier;
  if (digest === digestNow) return previous ? { previous } : {};
  return linked ? {} : { previous: versionOf(earlier) };
}

/** What the lock keeps of a replaced version. */
export function versionOf(entry: LockEntry): NonNullable<LockEntry["previous"]> {
  const { digest, resolved, ref } = entry;
  return { digest, resolved, ...presentFields({ ref }) };
}

/** A project's lock names only folders in the project, relative to it. */
function linkTarget(folder: string, { parts, lockFile }: PlanContext): string | undefined {
  const real = realPathOr(folder);
  if (lockFile.owner === "user") return real;
  const root = realPathOr(parts.projectRoot);
  return real !== root && isInside(real, root) ? relative(root, real).split(sep).join("/") : undefined;
}
