import { expect, test } from "vitest";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { readAssertion } from "../../src/eval-files/read-assertion.ts";
import { readEvals } from "../../src/eval-files/read-evals.ts";

function read(text: string): ReturnType<typeof readEvals> {
  const folder = temporaryFolder();
  writeTree(folder, { "evals/evals.json": text });
  return readEvals(folder, "pdf");
}

test("assertions and expectations are the same thing by two names", () => {
  const { evals, diagnostics } = read(
    JSON.stringify({
      skill_name: "pdf",
      evals: [
        { id: 1, prompt: "Do it.", assertions: ["A holds."] },
        { id: "two", prompt: "Do that.", expectations: ["B holds."] },
        { prompt: "Do both.", assertions: ["A."], expectations: ["B."] },
      ],
    }),
  );
  expect(diagnostics).toEqual([]);
  expect(evals.map(({ id, assertions }) => [id, ...assertions.map(({ text }) => text)])).toEqual([
    ["1", "A holds."],
    ["two", "B holds."],
    ["3", "A.", "B."],
  ]);
});

test("files are named by their place in the skill and found by their own in the workspace", () => {
  const { evals } = read(
    JSON.stringify({
      evals: [{ prompt: "p", assertions: ["a"], files: ["evals/files/in/a.csv", "evals/b.txt", "c.md"] }],
    }),
  );
  expect(evals[0]?.files).toEqual([
    { source: "evals/files/in/a.csv", target: "in/a.csv" },
    { source: "evals/b.txt", target: "b.txt" },
    { source: "c.md", target: "c.md" },
  ]);
});

test("two evals of one name get folders of their own", () => {
  const { evals } = read(
    JSON.stringify({
      evals: ["Top Months!", "top months", "../../etc"].map((name) => ({
        name,
        prompt: "p",
        assertions: ["a"],
      })),
    }),
  );
  expect(evals.map(({ folder }) => folder)).toEqual(["eval-top-months", "eval-top-months-2", "eval-etc"]);
});

test("what is not valid is left out, with the line it stands on", () => {
  const { evals, diagnostics } = read(`{
  "skill_name": "other",
  "evals": [
    { "id": 1, "prompt": "Good.", "assertions": ["a"] },
    { "id": 1, "prompt": "Same id.", "assertions": ["a"] },
    { "id": 2, "assertions": ["no prompt"] },
    { "id": 3, "prompt": "Bad file.", "files": ["../secret"], "assertions": ["a"] },
    {
      "id": 4,
      "prompt": "Bad assertion.",
      "assertions": [
        "good",
        { "contians": "x" }
      ]
    },
    "just text",
    { "id": 5, "prompt": "Odd field.", "assertion": ["a"], "assertions": ["a"] },
    { "id": 6, "prompt": "Nothing to check." }
  ]
}`);
  expect(evals.map(({ id }) => id)).toEqual(["1", "5", "6"]);
  expect(diagnostics.map(({ code, line, severity }) => [code, line, severity])).toEqual([
    ["eval.other-skill", 2, "warning"],
    ["eval.invalid", 5, "error"],
    ["eval.invalid", 6, "error"],
    ["eval.invalid", 7, "error"],
    ["eval.invalid", 13, "error"],
    ["eval.invalid", 16, "error"],
    ["eval.unknown-field", 17, "warning"],
    ["eval.no-assertions", 18, "warning"],
  ]);
  expect(diagnostics.every(({ hint }) => (hint ?? "") !== "")).toBe(true);
});

test("a file that is no JSON says where", () => {
  const { evals, diagnostics } = read('{\n  "evals": [,]\n}');
  expect(evals).toEqual([]);
  expect(diagnostics).toMatchObject([{ code: "eval.unreadable", severity: "error", line: 2 }]);
});

test.each([
  ["[1, 2]", 2],
  ['{"evals": {"a": 1}}', 1],
  ["true", 1],
])("the shape %s is reported, not thrown", (text, count) => {
  const { evals, diagnostics } = read(text);
  expect(evals).toEqual([]);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toHaveLength(count);
});

test("every way to write an assertion is read", () => {
  const check = (value: unknown): unknown => {
    const read = readAssertion(value);
    return read.ok ? read.value.check : read.refusal.message;
  };
  expect(check("It is short.")).toEqual({ kind: "model" });
  expect(check({ text: "It is short." })).toEqual({ kind: "model" });
  expect(check({ type: "llm-judge", text: "It is short." })).toEqual({ kind: "model" });
  expect(check("script: check.mjs 'a b' c")).toEqual({
    kind: "script",
    script: "check.mjs",
    args: ["a b", "c"],
  });
  expect(check({ check: "check.py", args: ["--strict"] })).toEqual({
    kind: "script",
    script: "check.py",
    args: ["--strict"],
  });
  expect(check({ script: ["check.sh", "x"] })).toEqual({ kind: "script", script: "check.sh", args: ["x"] });
  expect(check({ script: "python3 check.py out.csv" })).toEqual({
    kind: "script",
    script: "check.py",
    args: ["out.csv"],
  });
  expect(check({ contains: "x" })).toEqual({ kind: "contains", value: "x" });
  expect(check({ type: "not_contains", value: "x" })).toEqual({ kind: "not-contains", value: "x" });
  expect(check({ regex: "^a", file: "out.txt" })).toEqual({ kind: "regex", value: "^a", file: "out.txt" });
  expect(check({ file_exists: "out.txt" })).toEqual({ kind: "file-exists", file: "out.txt" });
  expect(check({ type: "file-exists", path: "out.txt" })).toEqual({ kind: "file-exists", file: "out.txt" });
});

test.each([
  [{ contains: "a", regex: "b" }, "the checks"],
  [{ regex: "(" }, "is not valid"],
  [{ regex: "(a+)+\\1" }, "is not valid"],
  [{ type: "vibes", value: "x" }, "unknown type"],
  [{ contains: 3 }, "must be a non-empty string"],
  [{ script: "'open" }, "must be a script"],
  [{}, "An assertion is empty"],
  [null, "must be a string or an object"],
])("the assertion %j is refused", (value, reason) => {
  const read = readAssertion(value);
  expect(read.ok ? "" : read.refusal.message).toContain(reason);
});
