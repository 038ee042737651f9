/** What an installation or an update is asked for, what it shows and asks back, and what comes of it. */
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
  /** An address. Absent: what the locks list is restored, exactly. */
  readonly source?: string;
  /** Branch, tag, commit or version. */
  readonly ref?: string | undefined;
  /** Which skills of the source: names, globs over names (`*`: all), or paths inside the source. */
  readonly skills?: readonly string[];
  /** What the one skill is to be called here instead. */
  readonly name?: string | undefined;
  /** Replace another skill of that name, and overwrite what was changed by hand. */
  readonly force?: boolean;
  /** For a restore: anything that differs from the lock is a fault, and nothing is repaired. */
  readonly frozen?: boolean;
  /** Record it in the project's lock instead of the user's. */
  readonly project?: boolean;
  /** Put a copy into the project's `.metier/skills`. */
  readonly copy?: boolean;
  /** Use a local folder in place instead of copying it. */
  readonly link?: boolean;
  /** Other clients whose folders get it too. */
  readonly agents?: readonly string[];
  /** Do everything except installing. */
  readonly dryRun?: boolean;
  /** The review is answered with yes where `decisions` cannot ask. Grants no trust, and does not beat a blocking finding. */
  readonly yes?: boolean;
  /** A file of accepted findings, in place of those that the config names. */
  readonly baseline?: string;
  /** Cancels the installation; then nothing is installed. */
  readonly signal?: AbortSignal;
  /** Called with each step, to show how far it is. */
  onProgress?(step: FetchProgress): void;
  /** Told what is about to be installed, before anyone is asked about it. */
  onReview?(review: InstallReview): void;
}

/** Questions to whoever can answer. What is absent cannot be asked; then the safe answer is taken and named. */
export interface InstallDecisions {
  /** Which of several skills; answers with their paths. None: nothing is installed. */
  choose?(skills: readonly ChoosableSkill[]): Promise<readonly string[]>;
  /** Whether what is shown is installed. */
  review?(review: InstallReview): Promise<boolean>;
  /** What to do about a name that is taken. Absent: the new skill is skipped. */
  conflict?(about: InstallConflict): Promise<ConflictAnswer>;
}

/** A skill of a source that can be chosen. */
export interface ChoosableSkill {
  /** The skill's own name. */
  readonly name: string;
  /** Inside the source. */
  readonly path: string;
  /** As its manifest says. Empty if it cannot be read. */
  readonly description: string;
  /** Whether it can be installed. */
  readonly valid: boolean;
}

/** What is about to be installed, for whoever decides about it. */
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
  /** The name it will have here. */
  readonly called: string;
  /** What it takes the place of. */
  readonly replaces?: LockEntry | undefined;
}

/** A name that another installed skill has already. */
export interface InstallConflict {
  /** The name that is taken. */
  readonly called: string;
  /** What the lock says of the skill that has the name. */
  readonly installed: LockEntry;
  /** Whether it came from the same place, and so is another version of the same skill. */
  readonly isSameSource: boolean;
  /** The skill that is to be installed. */
  readonly candidate: ChoosableSkill;
}

/** Replaces the installed skill, skips the new one, or installs it under another name. */
export type ConflictAnswer = "replace" | "skip" | { readonly rename: string };

/** A skill that was installed or restored. */
export interface InstalledSkill {
  /** What the catalog calls it. */
  readonly name: string;
  /** Of what is restored: whose lock lists it. */
  readonly lock?: LockOwner;
  /** Content identity, `sha256:…`. */
  readonly digest: string;
  /** The skill's folder. */
  readonly path: string;
  /** Folders of other clients that have it too. */
  readonly placed?: readonly string[] | undefined;
}

/** A skill that was not installed, and why. */
export interface SkippedSkill {
  /** What it would be called here. */
  readonly name: string;
  /** Of what is restored: whose lock lists it. */
  readonly lock?: LockOwner;
  /** `same`: it is there already; `skipped`: someone chose so. Everything else is why it could not be installed. */
  readonly code: "same" | "skipped" | InstallFaultCode;
  /** Why, in one or more sentences. */
  readonly reason: string;
  /** What to do. Absent: nothing needs to be done. */
  readonly hint?: string;
}

export interface FailedSkill extends SkippedSkill {
  readonly code: InstallFaultCode;
}

/** A finding of the scan, with the skill that it is about. */
export interface SkillFinding extends Finding {
  /** What the skill is called here. */
  readonly skill: string;
}

/** A fault is about the source or the request; what was decided for each skill stands in `installed` and `skipped`. */
export type InstallOutcome = InstallReport | FaultOutcome;

/** What was installed, what was not, and what the scan found. */
export interface InstallReport {
  /** Tells it from a fault. Some skills may still be in `skipped`. */
  readonly ok: true;
  /** With `dryRun`: what would be. */
  readonly installed: readonly InstalledSkill[];
  /** Skills that were chosen but not installed. */
  readonly skipped: readonly SkippedSkill[];
  /** Of all skills that were scanned, installed or not. */
  readonly findings: readonly SkillFinding[];
  /** About the source and about the folders that were written. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What installing needs of everything around it. */
export interface InstallParts {
  readonly places: Places;
  readonly cwd: string;
  /** The repository's root, or the working directory outside of one. */
  readonly projectRoot: string;
  readonly environment: Environment;
  readonly profile: Profile;
  readonly scan: ScanPolicy;
  /** Absent: the config is neither asked what to install nor told what is. */
  readonly plugins?: PluginConfig;
  /** For npm packages, in place of the one that npm is set to. */
  readonly registry?: string;
  /** Hosts of private networks that the user allows to install from. */
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

/** From here on someone must have looked: without a terminal, `--yes` says so. */
const ASKS_FROM: ScanSeverity = "high";

export function needsReview(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => isAtLeast(severity, ASKS_FROM));
}

/** Which installed skills to update, and how. */
export interface UpdateRequest
  extends InstalledWish,
    Pick<InstallRequest, "dryRun" | "baseline" | "signal" | "onProgress"> {
  /** Nobody is to be asked: new versions are taken, except what the scan blocks and what was changed by hand. */
  readonly yes?: boolean;
  /** Take the place of what was changed by hand, too; a copy of it is kept. */
  readonly force?: boolean;
  /** Called once with all that have a new version, before anyone decides on the first. */
  onReviews?(reviews: readonly UpdateReview[]): void;
  /** Called with everything that is shown, before anyone decides on it. */
  onReview?(review: UpdateReview): void;
}

/** `keep`: it stays as it is. `abort`: so does everything else. */
export type UpdateAnswer = "take" | "keep" | "abort";

/** Without it nobody can be asked; then only what brings nothing new in risk is taken, or with `yes` what is not blocked. */
export interface UpdateDecisions {
  /** For all that the scan does not block, where there are several; `each`: one by one. */
  decideAll?(reviews: readonly UpdateReview[]): Promise<UpdateAnswer | "each">;
  /** About one skill that the scan does not block. Not asked with `dryRun`. */
  decide?(review: UpdateReview): Promise<UpdateAnswer>;
}

/** A file that the source changed. */
export interface ReviewedFile extends FileChange {
  /** Lines that were added. Absent where the file is no text, or too large to compare. */
  readonly added?: number;
  /** Lines that were removed. Absent where `added` is. */
  readonly removed?: number;
}

/** A folder of this machine that holds the skill and was changed by hand. */
export interface LocalChanges {
  /** Absolute path. */
  readonly folder: string;
  /** Whose folder it is, when it was put there for another client. */
  readonly client?: string;
  /** Content identity of the folder as it is now, `sha256:…`. */
  readonly digest: string;
  /** Files that differ from the installed version. */
  readonly files: readonly FileChange[];
}

/** The kinds of new risks, in the order in which they are shown. */
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

/** Something the new version can do, asks for or leads to, and the old one did not. */
export interface NewRisk {
  /** What sort of thing it is. */
  readonly kind: (typeof RISK_KINDS)[number];
  /** The file, tool, variable, address, … */
  readonly what: string;
  /** `lifted`: a limit that the old version set itself. */
  readonly change: "added" | "changed" | "lifted";
}

/** An installed skill and its new version, compared for whoever decides about it. */
export interface UpdateReview {
  /** What it is called here. */
  readonly name: string;
  /** Whose lock lists it. */
  readonly lock: LockOwner;
  /** The address that it was installed from. */
  readonly source: string;
  /** Branch, tag, commit or version that was asked for. Absent: the source's default. */
  readonly ref?: string | undefined;
  /** The installed version. */
  readonly from: VersionMark;
  /** The version that the source has now. */
  readonly to: VersionMark;
  /** What the source changed. */
  readonly upstream: readonly ReviewedFile[];
  /** The same as a unified diff of the texts among it, cut to a readable length. */
  readonly diff: string;
  /** Folders of this machine that were changed by hand. Empty: none. */
  readonly local: readonly LocalChanges[];
  /** Files that were changed in both ways, differently. */
  readonly conflicts: readonly string[];
  /** What the new version can do and the old one could not. */
  readonly risks: readonly NewRisk[];
  /** What the scan finds in the new version and not in the old one. */
  readonly newFindings: readonly Finding[];
  /** The tag it was installed by stands for another commit than before. */
  readonly isMovedTag: boolean;
  /** The installed version can no longer be had, so that everything counts as new. */
  readonly isBaseMissing: boolean;
  /** The installed version is trusted; the new one is not until it is trusted again. */
  readonly losesTrust: boolean;
  /** The new version as a whole. */
  readonly summary: SkillSummary;
}

/** A skill that was updated. */
export interface UpdatedSkill {
  /** What it is called here. */
  readonly name: string;
  /** Whose lock lists it. */
  readonly lock: LockOwner;
  /** The version before the update. */
  readonly from: VersionMark;
  /** The version after the update. */
  readonly to: VersionMark;
  /** The skill's folder. */
  readonly path: string;
  /** The earlier version was trusted; this one is not until it is trusted again. */
  readonly losesTrust: boolean;
  /** Where what was changed by hand has been put. */
  readonly kept: readonly string[];
}

/** A skill that was not updated, and why. */
export interface NotUpdated {
  /** What it is called here. */
  readonly name: string;
  /** Whose lock lists it. */
  readonly lock: LockOwner;
  /** `kept`: someone chose so. A fault's code is why there is no update, or why it was not taken. */
  readonly code: "current" | "pinned" | "local" | "kept" | InstallFaultCode;
  /** Why, in one or more sentences. */
  readonly reason: string;
  /** What to do. Absent: nothing needs to be done. */
  readonly hint?: string | undefined;
}

/** What was updated, what was not, and what was compared. */
export interface UpdateResult {
  /** Tells it from a fault. Some skills may still be in `skipped`. */
  readonly ok: true;
  /** With `dryRun`: what would be. */
  readonly updated: readonly UpdatedSkill[];
  /** Skills that were asked about but not updated. */
  readonly skipped: readonly NotUpdated[];
  /** Of every skill that has a new version, taken or not. */
  readonly reviews: readonly UpdateReview[];
  /** About the folders that were written. Empty with `dryRun`. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What came of an update, or why nothing was updated. */
export type UpdateOutcome = UpdateResult | FaultOutcome;

/** Whether nobody may take it unseen. */
export function isRisky({ risks, newFindings, isMovedTag, isBaseMissing }: UpdateReview): boolean {
  return risks.length > 0 || needsReview(newFindings) || isMovedTag || isBaseMissing;
}
