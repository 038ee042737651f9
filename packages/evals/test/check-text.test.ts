import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { readAssertion } from "@metier/skills/formats";
import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../test/support/temporary.ts";
import { checkText } from "../src/grade/check-assertion.ts";

function check(value: unknown, answer: string, files: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder();
  writeTree(folder, {
    "outside.txt": "secret",
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`work/${path}`, text])),
    "work/.keep": "",
  });
  symlinkSync(join(folder, "outside.txt"), join(folder, "work", "link.txt"));
  const read = readAssertion(value);
  if (!read.ok || read.value.check.kind === "model" || read.value.check.kind === "script")
    throw new Error("Not a check of text.");
  return checkText(read.value, read.value.check, { answer, folder: join(folder, "work") });
}

test.each([
  [{ contains: "Thursday" }, "It ships on Thursday.", true],
  [{ contains: "Friday" }, "It ships on Thursday.", false],
  [{ not_contains: "Friday" }, "It ships on Thursday.", true],
  [{ equals: "42" }, " 42\n", true],
  [{ equals: "42" }, "It is 42.", false],
  [{ regex: "(?m)^- " }, "Points:\n- one", true],
  [{ not_regex: "\\d" }, "no digits", true],
])("%j of %j", (value, answer, passed) => {
  const graded = check(value, answer);
  expect(graded.passed).toBe(passed);
  expect(graded.evidence).not.toBe("");
});

test("files of the run are looked into, and nothing outside of its workspace", () => {
  const files = { "out/a.csv": "x,y\n1,2\n" };
  expect(check({ file_exists: "out/a.csv" }, "", files)).toMatchObject({ passed: true });
  expect(check({ file_exists: "out/b.csv" }, "", files)).toMatchObject({ passed: false });
  expect(check({ file_absent: "out/b.csv" }, "", files)).toMatchObject({ passed: true });
  expect(check({ contains: "1,2", file: "out/a.csv" }, "", files)).toMatchObject({ passed: true });
  expect(check({ contains: "secret", file: "link.txt" }, "")).toMatchObject({ passed: false });
  expect(check({ contains: "secret", file: "../outside.txt" }, "")).toMatchObject({ passed: false });
});
