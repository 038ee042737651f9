/** What an installation is asked for, what it asks back, and what comes of it. */
import type { AddressBook } from "../egress/resolve-public.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { Environment } from "../host/find-command.ts";
import type { Places } from "../host/places.ts";
import type { LockEntry, LockOwner } from "../lock/lock-entry.ts";
import type { Finding } from "../scan/finding.ts";
import type { ScanPolicy } from "../scan/scan-policy.ts";
import type { Profile } from "../validate/profiles.ts";
import type { FetchProgress } from "./fetch-source.ts";
import type { FaultOutcome, InstallFaultCode } from "./install-fault.ts";
import type { PluginConfig } from "./plugin-config.ts";
import type { SkillSummary } from "./summarise.ts";

export interface InstallRequest {
  /** An address. Absent: what the locks list is restored, exactly. */
  readonly source?: string;
  /** Branch, tag, commit or version. */
  readonly ref?: string;
  /** Which skills of the source: names, globs over names (`*`: all), or paths inside the source. */
  readonly skills?: readonly string[];
  /** What the one skill is to be called here instead. */
  readonly name?: string;
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
  readonly signal?: AbortSignal;
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
  conflict?(about: InstallConflict): Promise<ConflictAnswer>;
}

export interface ChoosableSkill {
  readonly name: string;
  /** Inside the source. */
  readonly path: string;
  readonly description: string;
  readonly valid: boolean;
}

export interface InstallReview {
  readonly source: string;
  readonly resolved: string;
  readonly skills: readonly ReviewedSkill[];
}

export interface ReviewedSkill extends SkillSummary {
  /** The name it will have here. */
  readonly called: string;
  /** What it takes the place of. */
  readonly replaces?: LockEntry;
}

export interface InstallConflict {
  /** The name that is taken. */
  readonly called: string;
  readonly installed: LockEntry;
  /** Whether it came from the same place, and so is another version of the same skill. */
  readonly isSameSource: boolean;
  readonly candidate: ChoosableSkill;
}

export type ConflictAnswer = "replace" | "skip" | { readonly rename: string };

export interface InstalledSkill {
  /** What the catalog calls it. */
  readonly name: string;
  /** Of what is restored: whose lock lists it. */
  readonly lock?: LockOwner;
  readonly digest: string;
  /** The skill's folder. */
  readonly path: string;
  /** Folders of other clients that have it too. */
  readonly placed?: readonly string[];
}

export interface SkippedSkill {
  readonly name: string;
  /** Of what is restored: whose lock lists it. */
  readonly lock?: LockOwner;
  /** `same`: it is there already; `skipped`: someone chose so. Everything else is why it could not be installed. */
  readonly code: "same" | "skipped" | InstallFaultCode;
  readonly reason: string;
  readonly hint?: string;
}

export interface FailedSkill extends SkippedSkill {
  readonly code: InstallFaultCode;
}

export interface SkillFinding extends Finding {
  readonly skill: string;
}

/** A fault is about the source or the request; what was decided for each skill stands in `installed` and `skipped`. */
export type InstallOutcome = InstallReport | FaultOutcome;

export interface InstallReport {
  readonly ok: true;
  /** With `dryRun`: what would be. */
  readonly installed: readonly InstalledSkill[];
  readonly skipped: readonly SkippedSkill[];
  readonly findings: readonly SkillFinding[];
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
  /** For tests, which talk to loopback. */
  readonly addresses?: AddressBook;
}

/** Whether a skill that was not installed should have been. */
export function isFailure(skipped: SkippedSkill): skipped is FailedSkill {
  return skipped.code !== "same" && skipped.code !== "skipped";
}
