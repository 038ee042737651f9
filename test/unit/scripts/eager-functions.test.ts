/** Which functions the build has compiled with their file: those that reading commands and an installation call, and they still do what they did. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { markCalled, replaceMarks } from "../../../scripts/build/eager-functions.mjs";
import { ROOT } from "../../../scripts/setup/repository.mjs";

const CODE = `import { a } from "./a.js";
const first = called(1);
function called(value) {
  const text = "}";
  return inner(value);
  function inner(given) {
    return given + 1;
  }
}
async function later() {
  return 2;
}
function* many() {
  yield other();
}
function other() {
  return 3;
}
export {
  called,
  first
};
`;

test("what was called is in parentheses, before anything is called", () => {
  const code = replaceMarks(markCalled(CODE, new Set(["called", "inner", "later", "many"])));
  expect(code.indexOf("var called = (function called(value) {")).toBe(0);
  expect(code).toContain("var later = (async function later() {\n  return 2;\n});");
  expect(code).toContain("var many = (function* many() {");
  expect(code).not.toContain("var inner");
  expect(code).not.toContain("var other");
  expect(code.indexOf("const first = called(1)")).toBeGreaterThan(code.indexOf("var many"));
});

test("without names nothing changes", () => expect(replaceMarks(markCalled(CODE, new Set()))).toBe(CODE));

test("a built program has them", () => {
  const chunks = join(ROOT, "packages/metier/dist/chunks");
  const code = readdirSync(chunks)
    .map((file) => readFileSync(join(chunks, file), "utf8").replaceAll("\n", ""))
    .join("\n");
  const isCompiledAtOnce = (name: string): boolean =>
    new RegExp(`\\b${name}=\\((?:async )?function`).test(code);
  const names = [
    "readRoot",
    "placeSkills",
    "parseSimpleYaml",
    "validateSkill",
    "openFindIndex",
    "fetchGit",
    "placeAllInStore",
    "scanSkill",
  ];
  expect(names.filter((name) => !isCompiledAtOnce(name))).toEqual([]);
  expect(code.includes("__compiledAtOnce")).toBe(false);
});
