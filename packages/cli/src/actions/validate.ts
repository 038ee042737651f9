/**
 * `metier validate`: reports every problem of the skill files at some paths; can repair them, and can watch for
 * changes.
 */
import { resolve } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { EXIT, UsageError } from "@metier/base/errors";
import { watchFolders } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import { safeLine } from "@metier/base/text";
import { validateWhole } from "@metier/runtime";
import { type FixedFile, fixPaths, type Profile, type ValidationReport } from "@metier/skills";
import type { ValidateFlags } from "../commands/authoring.ts";
import type { Action } from "../commands/define.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import { countDiagnostics, diagnosticText, githubReport, sarifReport } from "../output/diagnostics.ts";
import { count, type Style, styleFor } from "../output/style.ts";

export const validateAction: Action<ValidateFlags> = async (context, flags, ...paths) => {
  const cwd = workingDirectory(context, flags);
  const asked = [...paths, ...(flags.path ?? [])];
  const absolute = (asked.length > 0 ? asked : ["."]).map((path) => resolve(cwd, path));
  refuseContradictions(flags);
  const profile = flags.strict ? "strict" : (flags.profile ?? "standard");
  const format = flags.json ? "json" : flags.format;
  const once = async (): Promise<boolean> => {
    const fixed = flags.fix ? await fixPaths(absolute, profile) : [];
    const report = await validateWhole(absolute, profile);
    const all = [...report.diagnostics, ...report.results.flatMap((result) => result.diagnostics)];
    if (format === "json") outJson(context, { ...report, fixed: fixed.length > 0 ? fixed : undefined });
    else if (format === "sarif") outJson(context, sarifReport(all, cwd, VERSION));
    else if (format === "github") out(context, githubReport(all, cwd));
    else out(context, reportText({ report, all, fixed, profile }, styleFor(context.io.color)));
    return report.valid;
  };
  const valid = await once();
  if (flags.watch) await repeat(context, absolute, once);
  else if (!valid) endWith(context, EXIT.no);
};

function refuseContradictions({ strict, profile, watch, json, format }: ValidateFlags): void {
  if (strict && profile !== undefined && profile !== "strict") {
    throw new UsageError(`\`--strict\` and \`--profile ${profile}\` contradict each other.`, {
      hint: "Keep one of them.",
    });
  }
  if (watch && (json || format === "json" || format === "sarif")) {
    throw new UsageError("`--watch` prints many results, which can't be one JSON value.", {
      hint: "Leave out `--watch` or the format.",
    });
  }
}

/** Until interrupted. */
function repeat(context: CliContext, paths: readonly string[], once: () => Promise<boolean>): Promise<void> {
  err(context, "Watching for changes. Press Ctrl-C to stop.");
  return new Promise((end) => {
    const stop = watchFolders(
      () => paths,
      async () => {
        await once();
      },
    );
    context.io.onInterrupt(() => {
      stop();
      endWith(context, EXIT.cancelled);
      end();
    });
  });
}

interface Checked {
  readonly report: ValidationReport;
  /** For the report and for each of its files. */
  readonly all: readonly Diagnostic[];
  readonly fixed: readonly FixedFile[];
  readonly profile: Profile;
}

function reportText({ report, all, fixed, profile }: Checked, style: Style): string {
  const { results } = report;
  const lines = all.map((diagnostic) => diagnosticText(diagnostic, style));
  const repaired = fixed.map(
    ({ path, repairs }) => `${style.green("fixed")}  ${safeLine(path)}  ${repairs.join(", ")}`,
  );
  const valid = results.filter((result) => result.valid).length;
  const verdict = report.valid ? style.green("valid") : style.red("invalid");
  const numbers = results.length === 1 ? "1 skill" : `${valid} of ${count(results.length, "skill")} valid`;
  const found = countDiagnostics(all);
  return [...repaired, ...lines, `${verdict} (${profile}): ${numbers}${found ? `; ${found}` : ""}.`].join(
    "\n",
  );
}
