/** What a rule is: facts for people, and a function that finds where it applies. */
import type { ScanSeverity } from "../config/scan-fields.ts";
import type { ScannedSkill } from "./scanned-skill.ts";

export const RULE_FAMILIES = [
  "text",
  "injection",
  "credentials",
  "exfiltration",
  "download",
  "obfuscation",
  "control",
  "destructive",
  "persistence",
  "evasion",
  "tools",
  "secrets",
  "names",
  "files",
] as const;
export type RuleFamily = (typeof RULE_FAMILIES)[number];

export interface RuleFacts {
  /** `<family>.<what>`; never changes its meaning. */
  readonly id: string;
  readonly family: RuleFamily;
  /** The worst it can be; a single finding may be milder where its place says so. */
  readonly severity: ScanSeverity;
  /** What is there, as a sentence without a stop. */
  readonly title: string;
  /** Why that is dangerous, and why it has this severity. */
  readonly explanation: string;
  /** What to do about it. */
  readonly help: string;
}

/** A place where a rule applies. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly column?: number;
  /** As it stands in the file; cleaned and cut later. */
  readonly seen: string;
  /** What to show instead, where what was seen must not be shown. */
  readonly shown?: string;
  /** More about this one, behind the title; begins in lower case. */
  readonly detail?: string;
  /** Milder than the rule's, or the rule's own. */
  readonly severity?: ScanSeverity;
}

export interface ScanRule extends RuleFacts {
  find(skill: ScannedSkill): Iterable<Hit>;
}
