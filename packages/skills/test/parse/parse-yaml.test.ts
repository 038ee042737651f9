import type { Json } from "@metier/base/json";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseYaml } from "../../src/parse/parse-yaml.ts";

function readValue(text: string): Json {
  const result = parseYaml(text, 1);
  if (!result.ok) throw new Error(result.refusal.message);
  return result.value.data;
}

verifies("case 4", "quoted values keep their colons", () => {
  expect(readValue("a: \"x: y\"\nb: 'https://example.com: z'\nc: 12:30\nd: a:b")).toEqual({
    a: "x: y",
    b: "https://example.com: z",
    c: "12:30",
    d: "a:b",
  });
});

verifies(10, "block scalars of every kind are read", () => {
  expect(readValue("a: |\n  x\n  y\nb: >-\n  x\n  y\nc: |+\n  x\n\nd: |2\n   x\n")).toEqual({
    a: "x\ny\n",
    b: "x y",
    c: "x\n\n",
    d: " x\n",
  });
});

verifies("case 8", "an error has the line and column of the file", () => {
  const result = parseYaml("name: a\ndescription: b: c\n", 5);
  expect(result).toMatchObject({
    ok: false,
    refusal: { code: "yaml.invalid", severity: "error", line: 6, column: 14 },
  });
});

test("what JSON cannot hold is kept as it was written", () => {
  expect(
    readValue("a: .inf\nb: .nan\nc: 12345678901234567890\nd: 2024-01-01\ne: -0\nf: 1e999"),
  ).toStrictEqual({
    a: ".inf",
    b: ".nan",
    c: "12345678901234567890",
    d: "2024-01-01",
    e: 0,
    f: "1e999",
  });
});

test("keys are kept as written", () => {
  expect(readValue("1.0: a\ntrue: b\nnull: c\nName: d")).toEqual({
    "1.0": "a",
    true: "b",
    null: "c",
    Name: "d",
  });
});

test("the last of a repeated key counts, and the repetition is reported where it stands", () => {
  const result = parseYaml("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n", 2);
  expect(result).toMatchObject({
    ok: true,
    value: {
      data: { a: 3, b: { c: 2 } },
      faults: [
        { code: "yaml.duplicate-key", severity: "warning", line: 5, column: 3 },
        { code: "yaml.duplicate-key", line: 6, column: 1 },
      ],
    },
  });
});

test("keys that reach prototypes are left out or plain data", () => {
  const result = parseYaml(
    "__proto__: {polluted: true}\nconstructor: x\na: {__proto__: 1, toString: 2}\n",
    1,
  );
  if (!result.ok) throw new Error(result.refusal.message);
  const value = result.value.data as Record<string, Json>;
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.entries(value)).toEqual([
    ["constructor", "x"],
    ["a", { toString: 2 }],
  ]);
  expect(result.value.faults.map(({ code, line }) => `${code}:${line}`)).toEqual([
    "yaml.unsafe-key:1",
    "yaml.unsafe-key:3",
  ]);
  expect(Object.keys(Object.prototype)).toEqual([]);
});

test("aliases repeat what their anchor holds", () => {
  expect(readValue("a: &x [1, 2]\nb: *x\nc: &y word\nd: *y")).toEqual({
    a: [1, 2],
    b: [1, 2],
    c: "word",
    d: "word",
  });
});

test.each([
  ["an alias without an anchor", "a: *nothing", /alias `\*nothing`/],
  ["an alias above its anchor", "a: *x\nb: &x 1", /alias `\*x`/],
  ["a map as a key", "a: {{b}}", /is used as a key/],
  ["a tag", "a: !run whoami", /tag/i],
  ["a tag of YAML 1.1", "a: !!binary aGk=", /tag/i],
])("%s is a problem with its place", (_, text, message) => {
  const result = parseYaml(text, 1);
  expect(result).toMatchObject({ ok: false, refusal: { code: "yaml.invalid", line: 1 } });
  expect(result.ok ? "" : result.refusal.message).toMatch(message);
});

test("a bomb of aliases is stopped", () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const target = level === 0 ? '"lol"' : `*a${level - 1}`;
    return `a${level}: &a${level} [${Array.from({ length: 9 }, () => target).join(", ")}]`;
  });
  expect(parseYaml(levels.join("\n"), 1)).toMatchObject({ ok: false, refusal: { code: "yaml.too-complex" } });
});

test("an anchor that holds itself is stopped", () => {
  expect(parseYaml("a: &x [*x]", 1)).toMatchObject({ ok: false, refusal: { code: "yaml.too-complex" } });
});

test("nesting beyond any use is stopped", () => {
  for (const text of [`a: ${"[".repeat(60)}${"]".repeat(60)}`, "[".repeat(30_000), "- ".repeat(30_000)]) {
    expect(parseYaml(text, 1)).toMatchObject({ ok: false, refusal: { severity: "error" } });
  }
});
