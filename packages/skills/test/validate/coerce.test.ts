import type { Json } from "@metier/base/json";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { check, fields, findings, manifestOf } from "./parsed-skill.ts";

verifies([26, 30, 31, "case 14"], "one text becomes a list where a list belongs", () => {
  const manifest = manifestOf(
    fields({ env: "API_KEY", packages: "jq", authors: "Ann Lee", allowed_tools: "Read" }),
  );
  expect(manifest).toMatchObject({
    env: ["API_KEY"],
    packages: ["jq"],
    authors: ["Ann Lee"],
    allowedTools: ["Read"],
  });
});

test("a line of words becomes a list, and says so", () => {
  const checked = check(fields({ env: "A_KEY, B_KEY", packages: "jq curl" }));
  expect(checked.manifest).toMatchObject({ env: ["A_KEY", "B_KEY"], packages: ["jq", "curl"] });
  expect(findings(checked)).toEqual(["info field.coerced", "info field.coerced"]);
});

verifies([37], "an argument hint without quotes is a list in YAML and is read as it was written", () => {
  const checked = check(fields({ "argument-hint": ["file"] }));
  expect(checked.manifest?.argumentHint).toBe("[file]");
  expect(findings(checked)).toEqual(["warning field.structure-for-text"]);
  expect(manifestOf(fields({ "argument-hint": [{ optional: "date" }] })).argumentHint).toBe(
    "[optional: date]",
  );
});

test("lists and maps where prose belongs become text", () => {
  const manifest = manifestOf(fields({ compatibility: { python: 3.12 }, description: ["One.", "Two."] }));
  expect(manifest).toMatchObject({ compatibility: "python: 3.12", description: "One., Two." });
});

test("numbers and booleans where text belongs become text", () => {
  const checked = check(fields({ license: 1, description: true, model: 4 }));
  expect(checked.manifest).toMatchObject({ license: "1", description: "true", model: "4" });
  expect(findings(checked)).toEqual(Array(3).fill("warning field.scalar-for-text"));
});

test("booleans are read in the words people write", () => {
  for (const yes of ["yes", "Yes", "on", "true", "1", 1]) {
    expect(manifestOf(fields({ sensitive: yes })).sensitive, String(yes)).toBe(true);
  }
  for (const no of ["no", "off", "FALSE", "0", 0]) {
    expect(manifestOf(fields({ "user-invocable": no })).userInvocable, String(no)).toBe(false);
  }
});

verifies([24, "case 24"], "the iteration limit is a whole number of at least 1", () => {
  expect(manifestOf(fields({ max_iterations: "12" })).maxIterations).toBe(12);
  for (const bad of ["nope", 0, -1, 1.5, true, [], "1e3", null] as const) {
    const checked = check(fields({ max_iterations: bad }));
    expect(checked.manifest?.maxIterations, String(bad)).toBeUndefined();
    if (bad !== null) expect(findings(checked), String(bad)).toEqual(["error field.wrong-type"]);
  }
});

verifies([49, "case 18"], "a wrong type is reported for each field, by its name, all at once", () => {
  const wrong: Readonly<Record<string, Json>> = {
    model: ["a", "b"],
    agent: { a: 1 },
    sensitive: "maybe",
    "max-iterations": "many",
    env: { A: 1 },
    metadata: "text",
    "input-schema": [],
    hooks: 3,
    sandbox: "all",
    requires: true,
    "allowed-tools": { Bash: true },
  };
  const checked = check(fields(wrong));
  expect(findings(checked)).toEqual(Object.keys(wrong).map(() => "error field.wrong-type"));
  for (const [index, key] of Object.keys(wrong).entries()) {
    expect(checked.diagnostics[index]).toMatchObject({
      message: expect.stringContaining(`\`${key}\``),
      line: index + 4,
    });
  }
  expect(checked.manifest).toBeDefined();
});

verifies("case 18", "items of a list that are not text are reported and left out", () => {
  const checked = check(fields({ packages: ["jq", ["a"], { b: 1 }, null, 77, " "] }));
  expect(checked.manifest?.packages).toEqual(["jq", "77"]);
  expect(findings(checked)).toEqual(Array(3).fill("warning field.wrong-item"));
});

test("a choice that does not exist is left out, with the near one named", () => {
  const checked = check(fields({ context: "forked" }));
  expect(checked.manifest?.context).toBeUndefined();
  expect(checked.diagnostics[0]).toMatchObject({
    code: "field.wrong-choice",
    hint: expect.stringContaining("`fork`"),
  });
});

test("what was turned into another type is named with both types, and how to write it", () => {
  const checked = check(fields({ "max-iterations": "3", requires: { bins: "git" } }));
  expect(checked.diagnostics.map(({ message, hint }) => [message, hint])).toEqual([
    ["`max-iterations` is the text `3`; it is read as the number `3`.", "Write `max-iterations: 3`."],
    [
      '`requires.bins` is the text `git`; it is read as the list `["git"]`.',
      'Write `bins: ["git"]` below `requires`.',
    ],
  ]);
});

test("metadata that is JSON inside quotes is read", () => {
  const checked = check(fields({ metadata: '{"version":"2","openclaw":{"requires":{"bins":["node"]}}}' }));
  expect(checked.manifest).toMatchObject({ version: "2", requires: { bins: ["node"] } });
  expect(findings(checked)).toEqual(["warning metadata.nested", "info field.coerced"]);
});

test("`false` for a list is the empty list", () => {
  const checked = check(fields({ sandbox: { network: false } }));
  expect(checked.manifest?.sandbox).toEqual({ network: [], read: [], write: [] });
  expect(findings(checked)).toEqual([]);
});

test("a key inside a field that is not known is named", () => {
  const checked = check(fields({ requires: { pip: ["requests"], bins: ["git"] } }));
  expect(checked.manifest?.requires.bins).toEqual(["git"]);
  expect(checked.diagnostics).toMatchObject([{ code: "field.unknown-key", line: 4 }]);
});

test("values in messages are short and show nothing invisible", () => {
  const checked = check(fields({ sensitive: `\u202e${"x".repeat(500)}` }));
  const message = checked.diagnostics[0]?.message ?? "";
  expect(message.length).toBeLessThan(200);
  expect(message).toContain("\\u{202e}");
});
