/** What an update is asked for, what it shows to whoever decides, and what comes of it. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { LockOwner } from "../lock/lock-entry.ts";
import type { Finding } from "../scan/finding.ts";
import type { FileChange } from "../trust/content-identity.ts";
import type { InstalledWish } from "./choose-installed.ts";
import type { FaultOutcome, InstallFaultCode } from "./install-fault.ts";
import type { InstallRequest } from "./install-request.ts";
import type { VersionMark } from "./outdated.ts";
import type { SkillSummary } from "./summarise.ts";

export interface UpdateRequest
  extends InstalledWish,
    Pick<InstallRequest, "dryRun" | "baseline" | "signal" | "onProgress"> {
  /** Nobody is to be asked: new versions are taken, except what the scan blocks and what was changed by hand. */
  readonly yes?: boolean;
  /** Take the place of what was changed by hand, too; a copy of it is kept. */
  readonly force?: boolean;
  /** Called with everything that is shown, before anyone decides on it. */
  onReview?(review: UpdateReview): void;
}

/** `keep`: it stays as it is. `abort`: so does everything else. */
export type UpdateAnswer = "take" | "keep" | "abort";

/** Without it nobody can be asked; then only what brings nothing new in risk is taken, or with `yes` what is not blocked. */
export interface UpdateDecisions {
  decide?(review: UpdateReview): Promise<UpdateAnswer>;
}

/** A file that the source changed. */
export interface ReviewedFile extends FileChange {
  /** Lines; absent where the file is no text, or too large to compare. */
  readonly added?: number;
  readonly removed?: number;
}

/** A folder of this machine that holds the skill and was changed by hand. */
export interface LocalChanges {
  readonly folder: string;
  /** Whose folder it is, when it was put there for another client. */
  readonly client?: string;
  readonly digest: string;
  readonly files: readonly FileChange[];
}

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
  readonly kind: (typeof RISK_KINDS)[number];
  /** The file, tool, variable, address, … */
  readonly what: string;
  /** `lifted`: a limit that the old version set itself. */
  readonly change: "added" | "changed" | "lifted";
}

export interface UpdateReview {
  /** What it is called here. */
  readonly name: string;
  readonly lock: LockOwner;
  readonly source: string;
  readonly ref?: string;
  readonly from: VersionMark;
  readonly to: VersionMark;
  /** What the source changed. */
  readonly upstream: readonly ReviewedFile[];
  /** The same as a unified diff of the texts among it, cut to a readable length. */
  readonly diff: string;
  readonly local: readonly LocalChanges[];
  /** Files that were changed in both ways, differently. */
  readonly conflicts: readonly string[];
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

export interface UpdatedSkill {
  readonly name: string;
  readonly lock: LockOwner;
  readonly from: VersionMark;
  readonly to: VersionMark;
  /** The skill's folder. */
  readonly path: string;
  readonly losesTrust: boolean;
  /** Where what was changed by hand has been put. */
  readonly kept: readonly string[];
}

export interface NotUpdated {
  readonly name: string;
  readonly lock: LockOwner;
  /** `kept`: someone chose so. A fault's code is why there is no update, or why it was not taken. */
  readonly code: "current" | "pinned" | "local" | "kept" | InstallFaultCode;
  readonly reason: string;
  readonly hint?: string;
}

export interface UpdateResult {
  readonly ok: true;
  /** With `dryRun`: what would be. */
  readonly updated: readonly UpdatedSkill[];
  readonly skipped: readonly NotUpdated[];
  /** Of every skill that has a new version, taken or not. */
  readonly reviews: readonly UpdateReview[];
  readonly diagnostics: readonly Diagnostic[];
}

export type UpdateOutcome = UpdateResult | FaultOutcome;
