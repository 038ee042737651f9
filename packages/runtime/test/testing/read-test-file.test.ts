/** Test files are read strictly: each mistake is told with its line, and a misspelled key with what is near. */
import { expect, test } from "vitest";
import { readTestFile } from "../../src/testing/read-test-file.ts";

/** The faults of a file, as `line: message hint`. */
function faultsOf(text: string): readonly string[] {
  const reading = readTestFile(text);
  if (reading.ok) return [];
  return reading.refusal.map(({ line, message, hint = "" }) => `${line}: ${message} ${hint}`.trim());
}

function casesOf(text: string): readonly unknown[] {
  const reading = readTestFile(text);
  if (!reading.ok) throw new Error(JSON.stringify(reading.refusal));
  return reading.value.map(({ test: { name, ...rest }, line }) => [name, line, rest]);
}

test("a file is a list of cases, the same below `cases`, or one case", () => {
  const one = "name: a\nexpect: { text: x }";
  expect(casesOf(one)).toEqual([["a", 1, { expect: { text: "x" } }]]);
  expect(
    casesOf("# two\n- name: a\n  expect: { text: x }\n\n- name: b\n  expect: { refused: true }\n"),
  ).toEqual([
    ["a", 2, { expect: { text: "x" } }],
    ["b", 5, { expect: { refused: true } }],
  ]);
  expect(casesOf("\uFEFFcases:\r\n  - name: a\r\n    expect: { text: x }\r\n")).toEqual([
    ["a", 2, { expect: { text: "x" } }],
  ]);
});

test("keys have three spellings, and data is left as it is", () => {
  const text = `
- name: a
  input: { maxItems: 3, other_key: [null, 1.5] }
  caller: { chatType: group }
  script:
    - expect: { last_user_text: hi }
      answer: { tool-calls: [{ tool: t, input: { someKey: 1 } }], finishReason: tool-calls }
  expect: { tools: [t, { tool: u, input: { a_b: 1 } }], result: limited }
`;
  expect(casesOf(text)).toEqual([
    [
      "a",
      2,
      {
        input: { maxItems: 3, other_key: [null, 1.5] },
        caller: { chatType: "group" },
        script: [
          {
            expect: { lastUserText: "hi" },
            answer: { toolCalls: [{ tool: "t", input: { someKey: 1 } }], finishReason: "tool-calls" },
          },
        ],
        expect: { tools: [{ tool: "t" }, { tool: "u", input: { a_b: 1 } }], result: { status: "limited" } },
      },
    ],
  ]);
});

const CASE = "- name: a\n  expect:\n    text: x\n";

test.each([
  ["- name: a\n  expect: { text: {} }", ["2: `text` expects nothing."]],
  [`${CASE}  argumnets: b`, ["4: The key `argumnets` is unknown here. Did you mean `arguments`?"]],
  [
    "- name: a\n  expect:\n    text:\n      contain: x",
    ["4: The key `contain` is unknown here. Did you mean `contains`?"],
  ],
  [
    "- name: a\n  expect:\n    zzz: x",
    ["3: The key `zzz` is unknown here. Use `text`, `refused`, `tools` and `result`."],
  ],
  ["- expect: { text: x }", ["1: It needs `name`."]],
  [
    "- name: a\n- name: 7\n  expect: { text: x }",
    [
      "1: The case expects nothing. Add `text` or `refused` to `expect`, or a `script`.",
      "2: `name` is `7`; it must be a text. Put it in quotes.",
    ],
  ],
  [`${CASE}${CASE}`, ["4: Two cases in this file have the name `a`. Rename one of them."]],
  [
    "- name: a\n  expect: { tools: [] }",
    [
      "1: `expect.tools` and `expect.result` need a run, and a case without `script` has none.",
      "1: The case expects nothing. Add `text` or `refused` to `expect`, or a `script`.",
    ],
  ],
  [
    "- name: a\n  expect: { refused: inptu }",
    [
      expect.stringMatching(
        /^2: `expect\.refused` is `inptu`; it must be one of `not-found`, .* and `needs-run`\.$/,
      ),
    ],
  ],
  [
    "- name: a\n  script:\n    - answer:\n        text: x\n    - text: y",
    ["5: The key `text` is unknown here. Use `expect` and `answer`.", "5: `script` needs `answer`."],
  ],
  [
    "- name: a\n  expect:\n    text: { matches: '(' }",
    [expect.stringMatching(/^3: `matches` is not a usable pattern: /)],
  ],
  [
    "- name: a\n  expect: { text: 4 }",
    [expect.stringMatching(/^2: `expect\.text` is `4`; it must be a string, or /)],
  ],
  ["- name: a\n  Name: b\n  expect: { text: x }", ["2: `Name` appears in two spellings. Keep one of them."]],
  ["cases: []", ["1: The file has no cases. Write a list of cases, each with `name` and `expect`."]],
  ["# nothing", ["1: The file has no cases. Write a list of cases, each with `name` and `expect`."]],
  ["just a text", [expect.stringMatching(/^1: It is `just a text`; it must be a table with `name`, /)]],
  [
    "cases:\n  - name: a\n    expect: { text: x }\nother: 1",
    [expect.stringMatching(/^4: The key `other` is unknown/)],
  ],
  ["- name: [a", [expect.stringMatching(/^1: The file is not valid YAML: /)]],
  ["- name: a\n  expect: *none", [expect.stringMatching(/^1: The file is not valid YAML: /)]],
])("%j is refused with its line", (text, faults) => {
  expect(faultsOf(text)).toEqual(faults);
});

test("a pattern cannot keep anyone busy", () => {
  const reading = readTestFile("- name: a\n  expect:\n    text: { matches: '^(a+)+$' }");
  if (!reading.ok) throw new Error(JSON.stringify(reading.refusal));
  const text = reading.value[0]?.test.expect?.text;
  const matches = typeof text === "object" ? text.matches : undefined;
  if (typeof matches !== "object") throw new Error("It is a pattern.");
  expect(matches.test(`${"a".repeat(50_000)}b`)).toBe(false);
  expect(JSON.stringify(text)).toBe('{"matches":"^(a+)+$"}');
});
