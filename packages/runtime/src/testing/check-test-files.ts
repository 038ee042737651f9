/** What `validate` says about the test files beside a skill: whether each can be read, and whether its cases can be used. */
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

/** How many cases each test file of a skill has; 0 for one that cannot be read. */
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

const HINT = "Correct it there; `metier schema test-file` prints every key.";

/** Of a test file, for editors. */
export async function testFileJsonSchema(): Promise<JsonSchema> {
  return (await import("./read-test-file.ts")).describeTestFile();
}
