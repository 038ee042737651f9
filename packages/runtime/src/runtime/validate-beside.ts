/**
 * Validates skills together with the files that authors keep next to them, with the code that reads them: evals,
 * queries and test files. Used by the library and the command line.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { compareDiagnostics, hasErrors } from "@metier/base/diagnostic";
import {
  loadTokenCounter,
  type Profile,
  regrade,
  type ValidationReport,
  type ValidationResult,
  validatePaths,
} from "@metier/skills";

/** `paths` are absolute: skill files, skill folders, or trees of them. */
export async function validateWhole(paths: readonly string[], profile: Profile): Promise<ValidationReport> {
  return withFilesBeside(await validatePaths(paths, profile, { loadCounter: loadTokenCounter }), profile);
}

/** Loads the readers of such files only for skills that have some. */
async function withFilesBeside(report: ValidationReport, profile: Profile): Promise<ValidationReport> {
  const results: ValidationResult[] = [];
  for (const result of report.results) results.push(await checkBeside(result, profile));
  const isBroken = results.some(({ valid }, index) => !valid && report.results[index]?.valid);
  return { ...report, results, valid: report.valid && !isBroken };
}

async function checkBeside(result: ValidationResult, profile: Profile): Promise<ValidationResult> {
  const directory = dirname(result.path);
  // A flat skill shares its folder with others: only tests with its name belong to it.
  const isFolder = /^skill\.md$/i.test(basename(result.path));
  const hasEvals =
    isFolder && (existsSync(join(directory, "evals")) || existsSync(join(directory, "eval_queries.json")));
  const hasTests = result.path !== "" && existsSync(join(directory, "tests"));
  if (!hasEvals && !hasTests) return result;
  const evals = hasEvals
    ? (await import("@metier/skills/formats")).checkEvalFiles(directory, result.name)
    : [];
  const form = isFolder ? ("directory" as const) : ("markdown" as const);
  const tests = hasTests
    ? await (await import("../testing/check-test-files.ts")).checkTestFiles({
        form,
        location: result.path,
        directory,
      })
    : [];
  const found = regrade([...evals, ...tests], profile);
  const diagnostics = [...result.diagnostics, ...found].sort(compareDiagnostics);
  return { ...result, diagnostics, valid: result.valid && !hasErrors(found) };
}
