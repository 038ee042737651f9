/** What findings mean for an installation: which of them stop it, and which only a person may wave through. */
import type { ScanSeverity } from "../config/scan-fields.ts";
import { type Finding, isAtLeast } from "../scan/finding.ts";
import type { SkippedPart } from "../scan/scan-limits.ts";
import type { SkippedSkill } from "./install-request.ts";

export interface ScanPolicy {
  /** From this severity on a skill is not installed, whoever asks for it. */
  readonly block: ScanSeverity;
  /** Rules that are not applied, by id. */
  readonly ignore: readonly string[];
  /** Names of the skills that are there: one that looks like them may want to be mistaken for them. */
  readonly knownNames: readonly string[];
}

export interface ScanOutcome {
  readonly findings: readonly Finding[];
  readonly unscanned: readonly SkippedPart[];
}

/** The grammars behind a scan are loaded by the first one. */
export async function scanFolder(directory: string, name: string, policy: ScanPolicy): Promise<ScanOutcome> {
  const { scanSkill } = await import("../scan/scan-skill.ts");
  const { ignore, knownNames } = policy;
  const { findings, skipped } = await scanSkill({ directory }, { name, ignore, knownNames });
  return { findings, unscanned: skipped };
}

/** From here on someone must have looked: without a terminal, `--yes` says so. */
const ASKS_FROM: ScanSeverity = "high";

export function blockingFindings(findings: readonly Finding[], { block }: ScanPolicy): readonly Finding[] {
  return findings.filter(({ severity }) => isAtLeast(severity, block));
}

export function needsReview(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => isAtLeast(severity, ASKS_FROM));
}

/** `findings` are the ones that block. */
export function refuseBlocked(name: string, findings: readonly Finding[]): SkippedSkill {
  const ids = [...new Set(findings.map(({ id }) => `\`${id}\``))].join(", ");
  return {
    name,
    code: "install.blocked",
    reason: `The scan found what no option lets pass: ${ids}.`,
    hint: "`metier scan` explains it; a rule that `scan.ignore` in your config names is not applied.",
  };
}
