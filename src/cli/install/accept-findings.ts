/** `--write-baseline` of `install` and `update`: what the scan of fetched skills found is added to a file of accepted findings. */
import { existsSync } from "node:fs";
import { UsageError } from "../../foundation/errors.ts";
import { writeAtomic } from "../../host/write-atomic.ts";
import { renderBaseline } from "../../scan/baseline.ts";
import { loadBaseline } from "../../scan/baseline-file.ts";
import type { Finding } from "../../scan/finding.ts";
import { type CliContext, err } from "../context.ts";
import { count, safeLine } from "../output/style.ts";

/** What was accepted before stays. `file` is absolute. */
export function acceptFindings(
  context: CliContext,
  file: string,
  found: readonly { readonly name: string; readonly findings: readonly Finding[] }[],
): void {
  const before = existsSync(file) ? loadBaseline(file) : undefined;
  if (before && !before.ok) throw new UsageError(before.message, { hint: before.hint });
  const places = found.map((skill) => ({ ...skill, directory: "", isInstalled: true }));
  writeAtomic(file, renderBaseline(file, places, before?.baseline));
  const accepted = found.reduce((sum, { findings }) => sum + findings.length, 0);
  err(context, `Added to ${safeLine(file)}: ${count(accepted, "finding")} accepted. Nothing was installed.`);
}
