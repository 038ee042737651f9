/** Requests for an installation or update, what they show and ask, and their results. */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Places } from "@metier/base/places";
import type { Environment } from "@metier/base/programs";
import type { AddressBook } from "@metier/sandbox/egress";
import { type Finding, isAtLeast, type ScanPolicy } from "@metier/scan";
import type { Profile } from "@metier/skills";
import type { ScanSeverity } from "@metier/skills/config";
import type { FileChange, LockEntry, LockOwner } from "@metier/skills/trust";
import type { InstalledWish } from "./choose-skills.ts";
import type { FetchProgress } from "./fetch-source.ts";
import type { FaultOutcome, InstallFault, InstallFaultCode } from "./install-fault.ts";
import type { VersionMark } from "./outdated.ts";
import type { PluginConfig } from "./plugin-config.ts";
import type { SkillSummary } from "./review-skills.ts";

/** What to install, from where, and how. */
export interface InstallRequest {
  /** An address. Absent: restores exactly what the locks list. */
  readonly source?: string;
  /** Branch, tag, commit or version. */
  readonly ref?: string | undefined;
  /** Which skills of the source: names, globs over names (`*`: all), or paths inside the source. */
  readonly skills?: readonly string[];
  /** Another name for the one skill here. */
  readonly name?: string | undefined;
  /** Replaces another skill of that name, and overwrites edits. */
  readonly force?: boolean;
  /** For a restore: any difference from the lock is a fault, and nothing is repaired. */
  readonly frozen?: boolean;
  /** Records it in the project's lock instead of the user's. */
  readonly project?: boolean;
  /** Puts a copy into the project's `.metier/skills`. */
  readonly copy?: boolean;
  /** Uses a local folder in place instead of copying it. */
  readonly link?: boolean;
  /** Other clients whose folders also get it. */
  readonly agents?: readonly string[];
  /** Does everything except installing. */
  readonly dryRun?: boolean;
  /**
   * Answers the review with yes if `decisions` cannot ask. Grants no trust, and does not override a blocking finding.
   */
  readonly yes?: boolean;
  /** A file of accepted findings, instead of those named in the config. */
  readonly baseline?: string;
  /** Cancels the installation; then nothing is installed. */
  readonly signal?: AbortSignal;
  /** Called with each step, for progress display. */
  onProgress?(step: FetchProgress): void;
  /** Called with what is about to be installed, before anyone is asked. */
  onReview?(review: InstallReview): void;
}

/** Questions for the user. A missing one cannot be asked; then the safe answer is used and reported. */
export interface InstallDecisions {
  /** Which of several skills; returns their paths. None: nothing is installed. */
  choose?(skills: readonly ChoosableSkill[]): Promise<readonly string[]>;
  /** Whether to install what is shown. */
  review?(review: InstallReview): Promise<boolean>;
  /** What to do about a taken name. Absent: the new skill is skipped. */
  conflict?(about: InstallConflict): Promise<ConflictAnswer>;
}

/** A selectable skill of a source. */
export interface ChoosableSkill {
  /** The skill's own name. */
  readonly name: string;
  /** Inside the source. */
  readonly path: string;
  /** From its manifest. Empty if it cannot be read. */
  readonly description: string;
  /** Whether it can be installed. */
  readonly valid: boolean;
}

/** What is about to be installed, for the person who decides. */
export interface InstallReview {
  /** The address in its canonical form. */
  readonly source: string;
  /** Commit, version with integrity, digest of the download, or a folder. */
  readonly resolved: string;
  /** Without those that the scan blocks. */
  readonly skills: readonly ReviewedSkill[];
}

/** A skill that is about to be installed. */
export interface ReviewedSkill extends SkillSummary {
  /** Its name here. */
  readonly called: string;
  /** What it replaces. */
  readonly replaces?: LockEntry | undefined;
}

/** A name that another installed skill already has. */
export interface InstallConflict {
  /** The name that is taken. */
  readonly called: string;
  /** The lock entry of the skill with that name. */
  readonly installed: LockEntry;
  /** Whether it came from the same source, and so is another version of the same skill. */
  readonly isSameSource: boolean;
  /** The skill to be installed. */
  readonly candidate: ChoosableSkill;
}

/** Replaces the installed skill, skips the new one, or installs it under another name. */
export type ConflictAnswer = "replace" | "skip" | { readonly rename: string };

/** A skill that was installed or restored. */
export interface InstalledSkill {
  /** Its name in the catalog. */
  readonly name: string;
  /** For a restore: whose lock lists it. */
  readonly lock?: LockOwner;
  /** Content identity, `sha256:…`. */
  readonly digest: string;
  /** The skill's folder. */
  readonly path: string;
  /** Other clients' folders that also have it. */
  readonly placed?: readonly string[] | undefined;
}

/** A skill that was not installed, and why. */
export interface SkippedSkill {
  /** Its intended name here. */
  readonly name: string;
  /** For a restore: whose lock lists it. */
  readonly lock?: LockOwner;
  /** `same`: it is already installed; `skipped`: the user chose so. Anything else is why it could not be installed. */
  readonly code: "same" | "skipped" | InstallFaultCode;
  /** Why, in one or more sentences. */
  readonly reason: string;
  /** What to do. Absent: nothing. */
  readonly hint?: string;
}

export interface FailedSkill extends SkippedSkill {
  readonly code: InstallFaultCode;
}

/** A finding of the scan, with its skill. */
export interface SkillFinding extends Finding {
  /** The skill's name here. */
  readonly skill: string;
}

/** A fault is about the source or the request; each skill's result is in `installed` and `skipped`. */
export type InstallOutcome = InstallReport | FaultOutcome;

/** What was installed, what was not, and what the scan found. */
export interface InstallReport {
  /** Distinguishes it from a fault. Some skills may still be in `skipped`. */
  readonly ok: true;
  /** With `dryRun`: what would be installed. */
  readonly installed: readonly InstalledSkill[];
  /** Selected skills that were not installed. */
  readonly skipped: readonly SkippedSkill[];
  /** For all scanned skills, installed or not. */
  readonly findings: readonly SkillFinding[];
  /** About the source and the written folders. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What installing needs from its environment. */
export interface InstallParts {
  readonly places: Places;
  readonly cwd: string;
  /** The repository's root, or the working directory outside one. */
  readonly projectRoot: string;
  readonly environment: Environment;
  readonly profile: Profile;
  readonly scan: ScanPolicy;
  /** Absent: the config is neither read nor updated. */
  readonly plugins?: PluginConfig;
  /** For npm packages, instead of npm's registry. */
  readonly registry?: string;
  /** Private network hosts that the user allows installing from. */
  readonly privateHosts?: readonly string[];
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook;
}

/** A skill that a fault keeps from being installed. */
export function skipFor(name: string, { code, message, hint }: InstallFault): FailedSkill {
  return { name, code, reason: message, hint };
}

/** Whether a skill that was not installed should have been. */
export function isFailure(skipped: SkippedSkill): skipped is FailedSkill {
  return skipped.code !== "same" && skipped.code !== "skipped";
}

/** The lowest severity that someone must review: without a terminal, `--yes` confirms it. */
const ASKS_FROM: ScanSeverity = "high";

export function needsReview(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => isAtLeast(severity, ASKS_FROM));
}

/** Which installed skills to update, and how. */
export interface UpdateRequest
  extends InstalledWish,
    Pick<InstallRequest, "dryRun" | "baseline" | "signal" | "onProgress"> {
  /** Asks nobody: installs new versions, except blocked ones and edited skills. */
  readonly yes?: boolean;
  /** Also replaces edited skills; a copy of the edits is kept. */
  readonly force?: boolean;
  /** Called once with all skills that have a new version, before the first decision. */
  onReviews?(reviews: readonly UpdateReview[]): void;
  /** Called with everything that is shown, before the decision on it. */
  onReview?(review: UpdateReview): void;
}

/** `keep`: it stays as it is. `abort`: so does everything else. */
export type UpdateAnswer = "take" | "keep" | "abort";

/**
 * Absent: nobody can be asked; then only updates without new risks are installed, or with `yes` those that are not
 * blocked.
 */
export interface UpdateDecisions {
  /** For all that the scan does not block, if there are several; `each`: one by one. */
  decideAll?(reviews: readonly UpdateReview[]): Promise<UpdateAnswer | "each">;
  /** For one skill that the scan does not block. Not asked with `dryRun`. */
  decide?(review: UpdateReview): Promise<UpdateAnswer>;
}

/** A file that the source changed. */
export interface ReviewedFile extends FileChange {
  /** Lines added. Absent if the file is not text, or too large to compare. */
  readonly added?: number;
  /** Lines removed. Absent if `added` is. */
  readonly removed?: number;
}

/** A local folder with the skill that was edited. */
export interface LocalChanges {
  /** Absolute path. */
  readonly folder: string;
  /** Whose folder it is, if it was put there for another client. */
  readonly client?: string;
  /** The folder's current content identity, `sha256:…`. */
  readonly digest: string;
  /** Files that differ from the installed version. */
  readonly files: readonly FileChange[];
}

/** The kinds of new risks, in display order. */
export const RISK_KINDS = [
  "script",
  "binary",
  "executable",
  "link",
  "command",
  "hook",
  "tool",
  "env",
  "network",
  "url",
  "read",
  "write",
  "package",
  "dependency",
  "capability",
  "toolset",
  "mcp",
  "invocation",
] as const;

/** Something the new version can do, asks for or points to, but the old one did not. */
export interface NewRisk {
  /** Its kind. */
  readonly kind: (typeof RISK_KINDS)[number];
  /** The file, tool, variable, address, … */
  readonly what: string;
  /** `lifted`: a limit that the old version set itself. */
  readonly change: "added" | "changed" | "lifted";
}

/** An installed skill compared with its new version, for the person who decides. */
export interface UpdateReview {
  /** Its name here. */
  readonly name: string;
  /** Whose lock lists it. */
  readonly lock: LockOwner;
  /** The address it was installed from. */
  readonly source: string;
  /** Requested branch, tag, commit or version. Absent: the source's default. */
  readonly ref?: string | undefined;
  /** The installed version. */
  readonly from: VersionMark;
  /** The source's current version. */
  readonly to: VersionMark;
  /** What the source changed. */
  readonly upstream: readonly ReviewedFile[];
  /** The same as a unified diff of its texts, truncated to a readable length. */
  readonly diff: string;
  /** Local folders that were edited. Empty: none. */
  readonly local: readonly LocalChanges[];
  /** Files that both the source and the user changed, differently. */
  readonly conflicts: readonly string[];
  /** What the new version can do but the old one could not. */
  readonly risks: readonly NewRisk[];
  /** What the scan finds only in the new version. */
  readonly newFindings: readonly Finding[];
  /** The tag it was installed from now points to another commit. */
  readonly isMovedTag: boolean;
  /** The installed version is no longer available, so everything counts as new. */
  readonly isBaseMissing: boolean;
  /** The installed version is trusted; the new one is not until you trust it. */
  readonly losesTrust: boolean;
  /** The new version as a whole. */
  readonly summary: SkillSummary;
}

/** A skill that was updated. */
export interface UpdatedSkill {
  /** Its name here. */
  readonly name: string;
  /** Whose lock lists it. */
  readonly lock: LockOwner;
  /** The version before the update. */
  readonly from: VersionMark;
  /** The version after the update. */
  readonly to: VersionMark;
  /** The skill's folder. */
  readonly path: string;
  /** The earlier version was trusted; this one is not until you trust it. */
  readonly losesTrust: boolean;
  /** Where the edits were saved. */
  readonly kept: readonly string[];
}

/** A skill that was not updated, and why. */
export interface NotUpdated {
  /** Its name here. */
  readonly name: string;
  /** Whose lock lists it. */
  readonly lock: LockOwner;
  /** `kept`: the user chose so. A fault's code says why there is no update, or why it was not installed. */
  readonly code: "current" | "pinned" | "local" | "kept" | InstallFaultCode;
  /** Why, in one or more sentences. */
  readonly reason: string;
  /** What to do. Absent: nothing. */
  readonly hint?: string | undefined;
}

/** What was updated, what was not, and what was compared. */
export interface UpdateResult {
  /** Distinguishes it from a fault. Some skills may still be in `skipped`. */
  readonly ok: true;
  /** With `dryRun`: what would be updated. */
  readonly updated: readonly UpdatedSkill[];
  /** Requested skills that were not updated. */
  readonly skipped: readonly NotUpdated[];
  /** For every skill with a new version, installed or not. */
  readonly reviews: readonly UpdateReview[];
  /** About the written folders. Empty with `dryRun`. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of an update, or why nothing was updated. */
export type UpdateOutcome = UpdateResult | FaultOutcome;

/** Whether it needs a review. */
export function isRisky({ risks, newFindings, isMovedTag, isBaseMissing }: UpdateReview): boolean {
  return risks.length > 0 || needsReview(newFindings) || isMovedTag || isBaseMissing;
}
