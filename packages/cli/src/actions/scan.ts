/** `metier scan`: reports dangers in skills as text, JSON or SARIF; a baseline keeps accepted findings. */
import { resolve } from "node:path";
import { type Diagnostic, hasErrors } from "@metier/base/diagnostic";
import { EXIT, UsageError } from "@metier/base/errors";
import { writeAtomic } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import { safeLine } from "@metier/base/text";
import type { Metier } from "@metier/runtime";
import {
  type AcceptedFinding,
  applyBaselines,
  isAtLeast,
  renderBaseline,
  type ScannedPath,
  type ScanPolicy,
} from "@metier/scan";
import { readScanPolicy } from "@metier/scan/engine";
import type { ScanSeverity } from "@metier/skills/config";
import type { ScanFlags } from "../commands/authoring.ts";
import type { Action } from "../commands/define.ts";
import { type CliContext, endWith, err, outJson, reply } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { createProgressLine } from "../output/progress.ts";
import { count } from "../output/style.ts";

/** The scanned skills, and what a baseline removed. */
export interface ScanResult {
  readonly skills: readonly ScannedPath[];
  readonly diagnostics: readonly Diagnostic[];
  readonly accepted: number;
  readonly stale: readonly AcceptedFinding[];
}

export const scanAction: Action<ScanFlags> = async (context, flags, ...asked) => {
  if (flags.rules) return listRules(context, flags);
  const cwd = workingDirectory(context, flags);
  const metier = await openMetier(context, flags);
  const file = flags.baseline === undefined ? undefined : resolve(cwd, flags.baseline);
  const { baselines, diagnostics } = openBaselines(metier, file);
  const progress = createProgressLine(context.io.stderr);
  const found = await metier.scan(asked, { onProgress: progress.show }).finally(progress.end);
  if (flags.writeBaseline !== undefined)
    writeBaseline(context, resolve(cwd, flags.writeBaseline), found.skills);
  const applied = applyBaselines(baselines, found.skills);
  const result: ScanResult = { ...applied, diagnostics: [...diagnostics, ...found.diagnostics] };
  const { scanJson, scanSarif } = await import("../output/scan.ts");
  const { scanText } = await import("../output/scan.ts");
  const json = flags.json || flags.format === "json";
  if (!json && flags.format === "sarif") outJson(context, scanSarif(result, cwd, VERSION));
  else reply(context, { json }, json && scanJson(result), (style) => scanText(result, style));
  if (flags.writeBaseline === undefined && isRefused(result, flags.failOn)) endWith(context, EXIT.no);
};

/** The baseline named by the option, or those in the config. */
function openBaselines(metier: Metier, file: string | undefined): ScanPolicy {
  const { scan } = metier.config.config;
  const policy = readScanPolicy(file === undefined ? scan : { ...scan, baseline: [file] }, []);
  const [wrong] = policy.diagnostics;
  if (file !== undefined && wrong) throw new UsageError(wrong.message, { hint: wrong.hint });
  return policy;
}

function writeBaseline(context: CliContext, file: string, skills: readonly ScannedPath[]): void {
  writeAtomic(file, renderBaseline(file, skills));
  const findings = skills.reduce((sum, skill) => sum + skill.findings.length, 0);
  err(context, `Wrote ${safeLine(file)}: ${count(findings, "finding")} accepted.`);
}

function isRefused({ skills, diagnostics }: ScanResult, level: ScanSeverity | "never"): boolean {
  if (hasErrors(diagnostics)) return true;
  return (
    level !== "never" &&
    skills.some(({ findings }) => findings.some(({ severity }) => isAtLeast(severity, level)))
  );
}

/** Only this command loads the rules and the code that prints them. */
async function listRules(context: CliContext, flags: ScanFlags): Promise<void> {
  const { listScanRules } = await import("@metier/scan/engine");
  const { rulesText } = await import("../output/scan.ts");
  const rules = listScanRules();
  const json = flags.json || flags.format === "json";
  reply(context, { json }, { rules }, (style) => rulesText(rules, style));
}
