/** What `validate` reports about a skill's test files: whether each can be read, and whether its cases can be used. */
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import type { JsonSchema } from "@metier/base/json";
import { findTestFiles, readTestText, type TestedFolder } from "./run-skill-tests.ts";

export async function checkTestFiles(skill: TestedFolder): Promise<readonly Diagnostic[]> {
  const files = findTestFiles(skill);
  if (files.length === 0) return [];
  const { readTestFile } = await import("./read-test-file.ts"); // With YAML.
  return files.flatMap((file) => {
    const text = readTestText(skill, file);
    const reading = text.ok ? readTestFile(text.value) : undefined;
    if (reading?.ok) return [];
    const faults = text.ok ? (reading?.refusal ?? []) : [{ line: 1, message: text.refusal }];
    return faults.map(({ line, message, hint = HINT }) => ({
      code: "test-file.invalid",
      severity: "error",
      path: join(skill.directory, file),
      line,
      message,
      hint,
    }));
  });
}

/** The number of cases in each of a skill's test files; 0 for one that can't be read. */
export async function countTestCases(
  skill: TestedFolder,
): Promise<readonly { readonly file: string; readonly cases: number }[]> {
  const files = findTestFiles(skill);
  if (files.length === 0) return [];
  const { readTestFile } = await import("./read-test-file.ts");
  return files.map((file) => {
    const text = readTestText(skill, file);
    const reading = text.ok ? readTestFile(text.value) : undefined;
    return { file, cases: reading?.ok ? reading.value.length : 0 };
  });
}

const HINT = "Fix it in the file; `metier schema test-file` prints every key.";

/** The schema of a test file, for editors. */
export async function testFileJsonSchema(): Promise<JsonSchema> {
  return (await import("./read-test-file.ts")).describeTestFile();
}
