/** What findings mean for an installation: which of them stop it, and which only a person may wave through. */
import { type Finding, isAtLeast, type ScanSeverity } from "../scan/finding.ts";

export interface ScanPolicy {
  /** From this severity on a skill is not installed, whoever asks for it. */
  readonly block: ScanSeverity;
}

/** From here on someone must have looked: without a terminal, `--yes` says so. */
const ASKS_FROM: ScanSeverity = "high";

export function blockingFindings(findings: readonly Finding[], { block }: ScanPolicy): readonly Finding[] {
  return findings.filter(({ severity }) => isAtLeast(severity, block));
}

export function needsReview(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => isAtLeast(severity, ASKS_FROM));
}
