/** `metier validate`: every problem of every skill file at some paths; optionally repaired, optionally again and again. */
import { resolve } from "node:path";
import { type FixedFile, fixPaths } from "../../catalog/fix-paths.ts";
import { type ValidationReport, validatePaths } from "../../catalog/validate-paths.ts";
import { UsageError } from "../../foundation/errors.ts";
import { EXIT } from "../../foundation/exit-codes.ts";
import { VERSION } from "../../foundation/version.ts";
import { watchFolders } from "../../host/watch-folders.ts";
import type { Profile } from "../../validate/profiles.ts";
import type { CommonFlags } from "../common-flags.ts";
import { type CliContext, endWith, err, out, outJson } from "../context.ts";
import { workingDirectory } from "../open-metier.ts";
import { countDiagnostics, diagnosticText } from "../output/diagnostics-text.ts";
import { count, type Style, safeLine, styleFor } from "../output/style.ts";
import { githubReport, sarifReport } from "../output/validate-formats.ts";

type Format = "text" | "json" | "sarif" | "github";

interface ValidateFlags {
  readonly strict?: boolean;
  readonly format?: Format;
  readonly fix?: boolean;
  readonly watch?: boolean;
}

export async function run(
  context: CliContext,
  flags: ValidateFlags & CommonFlags,
  ...paths: readonly string[]
): Promise<void> {
  const cwd = workingDirectory(context, flags);
  const asked = [...paths, ...(flags.path ?? [])];
  const absolute = (asked.length > 0 ? asked : ["."]).map((path) => resolve(cwd, path));
  refuseContradictions(flags);
  const profile = flags.strict ? "strict" : (flags.profile ?? "standard");
  const format = flags.json ? "json" : (flags.format ?? "text");
  const once = async (): Promise<boolean> => {
    const fixed = flags.fix ? await fixPaths(absolute, profile) : [];
    const report = await validatePaths(absolute, profile);
    print(context, { report, fixed, format, profile, cwd });
    return report.valid;
  };
  const valid = await once();
  if (flags.watch) await repeat(context, absolute, once);
  else if (!valid) endWith(context, EXIT.no);
}

function refuseContradictions({ strict, profile, watch, json, format }: ValidateFlags & CommonFlags): void {
  if (strict && profile !== undefined && profile !== "strict") {
    throw new UsageError(`\`--strict\` and \`--profile ${profile}\` contradict each other.`, {
      hint: "Keep one of them.",
    });
  }
  if (watch && (json || format === "json" || format === "sarif")) {
    throw new UsageError("`--watch` prints one result after another, which is not one JSON value.", {
      hint: "Leave out `--watch`, or the format.",
    });
  }
}

/** Until interrupted. */
function repeat(context: CliContext, paths: readonly string[], once: () => Promise<boolean>): Promise<void> {
  err(context, "Watching for changes; Ctrl-C ends.");
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

interface Printed {
  readonly report: ValidationReport;
  readonly fixed: readonly FixedFile[];
  readonly format: Format;
  readonly profile: Profile;
  readonly cwd: string;
}

function print(context: CliContext, { report, fixed, format, profile, cwd }: Printed): void {
  const diagnostics = [...report.diagnostics, ...report.results.flatMap((result) => result.diagnostics)];
  if (format === "json") outJson(context, { ...report, ...(fixed.length > 0 && { fixed }) });
  else if (format === "sarif") outJson(context, sarifReport(diagnostics, cwd, VERSION));
  else if (format === "github") out(context, githubReport(diagnostics, cwd));
  else out(context, reportText({ report, fixed, format, profile, cwd }, styleFor(context.io.color)));
}

function reportText({ report, fixed, profile }: Printed, style: Style): string {
  const { results, diagnostics } = report;
  const all = [...diagnostics, ...results.flatMap((result) => result.diagnostics)];
  const lines = all.map((diagnostic) => diagnosticText(diagnostic, style));
  const repaired = fixed.map(
    ({ path, repairs }) => `${style.green("fixed")}  ${safeLine(path)}  ${repairs.join(", ")}`,
  );
  const valid = results.filter((result) => result.valid).length;
  const verdict = report.valid ? style.green("valid") : style.red("not valid");
  const numbers = results.length === 1 ? "1 skill" : `${valid} of ${count(results.length, "skill")} valid`;
  const found = countDiagnostics(all);
  return [...repaired, ...lines, `${verdict} (${profile}): ${numbers}${found ? `; ${found}` : ""}.`].join(
    "\n",
  );
}
