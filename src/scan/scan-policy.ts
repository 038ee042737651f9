/**
 * What findings mean for a skill that nobody vouched for: from which severity on they block it, which rules are not
 * applied, and what someone looked at and accepted. The same for an installation and for a use.
 */
import type { ScanConfig } from "../config/config.ts";
import type { ScanSeverity } from "../config/scan-fields.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { type AcceptedPlace, applyBaselines, type Baseline } from "./baseline.ts";
import { loadBaseline } from "./baseline-file.ts";
import { type Finding, isAtLeast } from "./finding.ts";

export interface ScanPolicy {
  /** From this severity on a skill is blocked. */
  readonly block: ScanSeverity;
  /** Rules that are not applied, by id. */
  readonly ignore: readonly string[];
  /** Names of the skills that are there: one that looks like them may want to be mistaken for them. */
  readonly knownNames: readonly string[];
  readonly baselines: readonly Baseline[];
  /** Baselines that could not be read; nothing of them is accepted. */
  readonly diagnostics: readonly Diagnostic[];
}

export function readScanPolicy(
  { block, ignore, baseline }: ScanConfig,
  knownNames: readonly string[],
): ScanPolicy {
  const readings = baseline.map(loadBaseline);
  return {
    block,
    ignore,
    knownNames,
    baselines: readings.flatMap((reading) => (reading.ok ? [reading.baseline] : [])),
    diagnostics: readings.flatMap((reading, index): Diagnostic[] => {
      if (reading.ok) return [];
      const path = baseline[index] ?? "";
      const { message, hint } = reading;
      return [{ code: "scan.baseline-unreadable", severity: "warning", path, message, hint }];
    }),
  };
}

/** What is left of findings once the rules that are not applied and what was accepted are taken out. */
export function judgeFindings(
  findings: readonly Finding[],
  place: AcceptedPlace,
  { ignore, baselines }: Pick<ScanPolicy, "ignore" | "baselines">,
): readonly Finding[] {
  const applied = findings.filter(({ id }) => !ignore.includes(id));
  return applyBaselines(baselines, [{ ...place, findings: applied }]).skills.flatMap(
    (skill) => skill.findings,
  );
}

export function blockingFindings(
  findings: readonly Finding[],
  { block }: Pick<ScanPolicy, "block">,
): readonly Finding[] {
  return findings.filter(({ severity }) => isAtLeast(severity, block));
}
