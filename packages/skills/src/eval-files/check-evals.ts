/** Checks a skill's eval files for `validate`: whether they can be read, and whether the files they name exist. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { showValue } from "@metier/base/text";
import type { EvalCase } from "./eval-case.ts";
import { EVALS_FILE, readEvals } from "./read-evals.ts";
import { QUERY_FILES, readJsonFile, readQueries } from "./read-queries.ts";

/** `directory` is the skill's folder. */
export function checkEvalFiles(directory: string, skill: string): readonly Diagnostic[] {
  const file = join(directory, EVALS_FILE);
  const queries = QUERY_FILES.map((path) => join(directory, path)).filter((path) => existsSync(path));
  const { evals, diagnostics } = existsSync(file)
    ? readEvals(directory, skill)
    : { evals: [], diagnostics: [] };
  return [
    ...diagnostics,
    ...checkNamedFiles(directory, file, evals),
    ...queries.flatMap((path) => readQueries(path).diagnostics),
  ];
}

function checkNamedFiles(directory: string, file: string, evals: readonly EvalCase[]): readonly Diagnostic[] {
  const missing = evals.flatMap(({ name, files, assertions }) => {
    const inputs = files.map(({ source }) => ["file", source] as const);
    const scripts = assertions.flatMap(({ check }) =>
      check.kind === "script" ? [["script", check.script] as const] : [],
    );
    return [...inputs, ...scripts]
      .filter(([, path]) => !existsSync(join(directory, locateScript(directory, path))))
      .map(([what, path]) => ({ name, what, path }));
  });
  if (missing.length === 0) return [];
  const read = readJsonFile(file);
  if (!read.ok) return []; // It was just read; whoever removed it knows.
  const { value, report } = read.value;
  return missing.map(({ name, what, path }) =>
    report(placeOf(value, path), {
      code: "eval.missing-file",
      severity: "error",
      message: `${name} names the ${what} ${showValue(path)}, which is not in the skill's folder.`,
      hint: `Add the ${what}, or fix its path.`,
    }),
  );
}

/** Next to `evals.json` first, then as a path in the skill. */
export function locateScript(directory: string, script: string): string {
  const beside = `evals/${script.replace(/^\.\//, "")}`;
  return existsSync(join(directory, beside)) ? beside : script;
}

/** Where a string that contains `path` is. */
function placeOf(value: unknown, path: string): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  for (const [key, entry] of Object.entries(value)) {
    if (typeof entry === "string" && entry.includes(path)) return [key];
    const below = placeOf(entry, path);
    if (below.length > 0) return [key, ...below];
  }
  return [];
}
