/** What findings mean for an installation: which of them only a person may wave through, and how the others are refused. */
import type { ScanSeverity } from "../config/scan-fields.ts";
import { type Finding, isAtLeast } from "../scan/finding.ts";
import type { SkippedPart } from "../scan/scan-limits.ts";
import { judgeFindings, type ScanPolicy } from "../scan/scan-policy.ts";
import type { SkippedSkill } from "./install-request.ts";

export interface ScanOutcome {
  readonly findings: readonly Finding[];
  readonly unscanned: readonly SkippedPart[];
}

/** The grammars behind a scan are loaded by the first one. */
export async function scanFolder(directory: string, name: string, policy: ScanPolicy): Promise<ScanOutcome> {
  const { scanSkill } = await import("../scan/scan-skill.ts");
  const { ignore, knownNames } = policy;
  const { findings, skipped } = await scanSkill({ directory }, { name, ignore, knownNames, identify: false });
  const place = { name, directory, isInstalled: true };
  return { findings: judgeFindings(findings, place, policy), unscanned: skipped };
}

/** From here on someone must have looked: without a terminal, `--yes` says so. */
const ASKS_FROM: ScanSeverity = "high";

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
    hint: "`metier scan --rules` explains it. If it is harmless, `--write-baseline FILE` accepts it in a file, which `--baseline FILE` or `scan.baseline` in your config names.",
  };
}
