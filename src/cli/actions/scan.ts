/** `metier scan`: the dangers in skills, as text, JSON or SARIF; accepted ones are kept in a baseline. */
import { resolve } from "node:path";
import type { ScanSeverity } from "../../config/scan-fields.ts";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import { VERSION } from "../../foundation/version.ts";
import { writeAtomic } from "../../host/write-atomic.ts";
import type { Metier } from "../../runtime/create-metier.ts";
import { type AcceptedFinding, applyBaselines, renderBaseline } from "../../scan/baseline.ts";
import { isAtLeast } from "../../scan/finding.ts";
import type { ScannedPath } from "../../scan/scan-paths.ts";
import { readScanPolicy, type ScanPolicy } from "../../scan/scan-policy.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { openMetier, workingDirectory } from "../open-metier.ts";
import { count, safeLine, styleFor } from "../output/style.ts";

interface ScanFlags {
  readonly format?: "text" | "json" | "sarif";
  readonly failOn?: ScanSeverity | "never";
  readonly baseline?: string;
  readonly writeBaseline?: string;
  readonly rules?: boolean;
}

/** What was scanned, and what a baseline took out of it. */
export interface ScanResult {
  readonly skills: readonly ScannedPath[];
  readonly diagnostics: readonly Diagnostic[];
  readonly accepted: number;
  readonly stale: readonly AcceptedFinding[];
}

export async function run(
  context: CliContext,
  flags: ScanFlags & CommonFlags,
  ...asked: readonly string[]
): Promise<void> {
  if (flags.rules) return listRules(context, flags);
  const cwd = workingDirectory(context, flags);
  const metier = await openMetier(context, flags);
  const file = flags.baseline === undefined ? undefined : resolve(cwd, flags.baseline);
  const { baselines, diagnostics } = openBaselines(metier, file);
  const found = await metier.scan(asked);
  if (flags.writeBaseline !== undefined)
    writeBaseline(context, resolve(cwd, flags.writeBaseline), found.skills);
  const applied = applyBaselines(baselines, found.skills);
  const result: ScanResult = { ...applied, diagnostics: [...diagnostics, ...found.diagnostics] };
  await print(context, result, { format: flags.json ? "json" : (flags.format ?? "text"), cwd });
  if (flags.writeBaseline === undefined && isRefused(result, flags.failOn ?? "high"))
    endWith(context, EXIT.no);
}

/** The one that is asked for, or those that the config names. */
function openBaselines(metier: Metier, file: string | undefined): ScanPolicy {
  const { scan } = metier.config.config;
  const policy = readScanPolicy({ ...scan, ...(file !== undefined && { baseline: [file] }) }, []);
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
  if (diagnostics.some(({ severity }) => severity === "error")) return true;
  return (
    level !== "never" &&
    skills.some(({ findings }) => findings.some(({ severity }) => isAtLeast(severity, level)))
  );
}

/** The rules, and so what prints them, are loaded by this command alone. */
async function print(
  context: CliContext,
  result: ScanResult,
  { format, cwd }: { readonly format: "text" | "json" | "sarif"; readonly cwd: string },
): Promise<void> {
  const { scanJson, scanSarif } = await import("../output/scan-formats.ts");
  const { scanText } = await import("../output/scan-text.ts");
  if (format === "json") outJson(context, scanJson(result));
  else if (format === "sarif") outJson(context, scanSarif(result, cwd, VERSION));
  else out(context, scanText(result, styleFor(context.io.color)));
}

async function listRules(context: CliContext, flags: ScanFlags & CommonFlags): Promise<void> {
  const { listScanRules } = await import("../../scan/rules.ts");
  const { rulesText } = await import("../output/scan-text.ts");
  const rules = listScanRules();
  if (flags.json || flags.format === "json") outJson(context, { rules });
  else out(context, rulesText(rules, styleFor(context.io.color)));
}
