/**
 * What becomes of one chosen skill: it is new, takes the place of another, is there already, or cannot be had under its
 * name. Looks at the lock as it is; whether that still holds is checked again when the lock is replaced.
 */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { findEntry, type Lock, type LockEntry } from "../lock/lock-entry.ts";
import { isLockName } from "../lock/lock-fields.ts";
import { isWithinOwner, type LockFile, lockedFolder, storeFolder } from "../lock/lock-places.ts";
import { findDifference } from "../lock/store.ts";
import type { SkillManifest } from "../skill/manifest.ts";
import { choosable } from "./choose-skills.ts";
import type { SourceSkill } from "./find-source-skills.ts";
import type {
  ConflictAnswer,
  InstallConflict,
  InstallDecisions,
  InstallParts,
  SkippedSkill,
} from "./install-request.ts";
import { readsFromProject } from "./locked-address.ts";
import { type EntryContext, makeEntry } from "./make-entry.ts";
import { hasPlaces, planPlaces } from "./plan-places.ts";
import { stateOfCopy } from "./project-copy.ts";
import { isSameOrigin } from "./same-origin.ts";

/** One that has what a skill needs to be loaded. */
export interface ValidSkill extends SourceSkill {
  readonly manifest: SkillManifest;
}

export interface PlannedSkill {
  readonly kind: "planned";
  readonly skill: ValidSkill;
  readonly called: string;
  /** What the lock will say of it. */
  readonly entry: LockEntry;
  /** What the lock says under that name now. */
  readonly replaces?: LockEntry;
  /** Places of other clients that it is not put into, and why. */
  readonly notes: readonly Diagnostic[];
}

export type Plan = PlannedSkill | ({ readonly kind: "skipped" } & SkippedSkill);

export interface PlanContext extends EntryContext {
  readonly decisions: InstallDecisions;
  readonly lock: Lock;
}

export async function planSkill(skill: SourceSkill, context: PlanContext): Promise<Plan> {
  const called = context.request.name ?? skill.name;
  return isValid(skill) ? planValid(skill, called, context) : refuseInvalid(skill, called);
}

async function planValid(skill: ValidSkill, called: string, context: PlanContext): Promise<Plan> {
  const installed = findEntry(context.lock, called);
  if (installed === undefined) return plan(skill, called, undefined, context);
  const isSameSource = isSameOrigin(installed, context.address, skill.path, readsFromProject(context.parts));
  if (isSameSource && installed.digest === skill.digest && installed.name === skill.name) {
    return isAlready(installed, context)
      ? {
          kind: "skipped",
          name: called,
          code: "same",
          reason: "It is installed already, with the same content.",
        }
      : plan(skill, called, installed, context);
  }
  if (context.request.force) return plan(skill, called, installed, context);
  const conflict: InstallConflict = { called, installed, isSameSource, candidate: choosable(skill) };
  const answer = await context.decisions.conflict?.(conflict);
  return answer === undefined ? refuseConflict(conflict) : follow(answer, skill, conflict, context);
}

/** `replaces` is what the lock says under that name now. */
function plan(
  skill: ValidSkill,
  called: string,
  replaces: LockEntry | undefined,
  context: PlanContext,
): Plan {
  const { parts, lockFile, request } = context;
  const entry = makeEntry(skill, called, replaces, context);
  if (entry === undefined) {
    const reason = `\`${skill.directory}\` is not inside the project, so the project's lock cannot link to it.`;
    const hint = "Leave out `--link` to copy it, or `--project` to link it for yourself.";
    return { kind: "skipped", name: called, code: "install.usage", reason, hint };
  }
  const folder = lockedFolder(parts.places, lockFile, entry);
  if (entry.copied && !isWithinOwner(lockFile, folder)) {
    const reason = `A link on the way to \`${folder}\` leads out of the project, so nothing is put there.`;
    const hint = "Put a folder in the place of the link, or leave out `--copy`.";
    return { kind: "skipped", name: called, code: "install.conflict", reason, hint };
  }
  const known = [entry.digest, ...(replaces?.copied ? [replaces.digest] : [])];
  if (entry.copied && !request.force && stateOfCopy(folder, known) === "changed") {
    const reason = `\`${folder}\` is there, and not as Metier put it there.`;
    const hint = "Move it away, or overwrite it with `--force`.";
    return { kind: "skipped", name: called, code: "install.conflict", reason, hint };
  }
  const withPlaces = planPlaces(entry, replaces, context);
  return { kind: "planned", skill, called, ...withPlaces, ...(replaces && { replaces }) };
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
    return {
      kind: "skipped",
      name: called,
      code: "skipped",
      reason: "The installed skill of that name stays.",
    };
  }
  const { rename } = answer;
  const wrong = !isLockName(rename)
    ? `\`${rename}\` cannot be the name of a skill.`
    : findEntry(context.lock, rename) && `\`${rename}\` is taken as well.`;
  if (!wrong) return plan(skill, rename, undefined, context);
  const hint =
    "Use lower-case letters, digits and single hyphens, and a name that `metier list` does not show.";
  return { kind: "skipped", name: called, code: "install.conflict", reason: wrong, hint };
}

export function isValid(skill: SourceSkill): skill is ValidSkill {
  return skill.valid && skill.manifest !== undefined;
}

const MOST_ERRORS = 3;

export function refuseInvalid(
  { name, diagnostics }: SourceSkill,
  called: string,
): { readonly kind: "skipped" } & SkippedSkill {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const shown = errors
    .slice(0, MOST_ERRORS)
    .map(({ path, line = 1, message }) => `${path}:${line} ${message}`);
  const more = errors.length - shown.length;
  const reason = `\`${name}\` is not a valid skill. ${shown.join(" ")}${more > 0 ? ` And ${more} more.` : ""}`;
  const hint = "Its author can check it with `metier validate`.";
  return { kind: "skipped", name: called, code: "install.invalid", reason, hint };
}

function refuseConflict({ called, installed, isSameSource }: InstallConflict): Plan {
  const reason = isSameSource
    ? `\`${called}\` is installed already, and its source has other content now.`
    : `Another skill is installed as \`${called}\`, from ${installed.source}.`;
  const first = isSameSource ? `\`metier update ${called}\` shows what changed; ` : "";
  const hint = `${first}\`--force\` replaces it, \`--name <other>\` installs this one under another name.`;
  return { kind: "skipped", name: called, code: "install.conflict", reason, hint };
}

/** The same content may be asked for in another place, or by another reference that it is to follow. */
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

/** What a killed process or a stray hand left of it is put right by installing it again. */
function isIntact(entry: LockEntry, { places }: InstallParts, lockFile: LockFile): boolean {
  if (entry.linked) return true;
  const folders = new Set([storeFolder(places, entry), lockedFolder(places, lockFile, entry)]);
  return [...folders].every((folder) => findDifference(folder, entry.digest) === undefined);
}
