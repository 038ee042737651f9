import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { parseYaml } from "../../src/parse/parse-yaml.ts";
import { parseSimpleYaml } from "../../src/parse/simple-yaml.ts";
import { mutatedDocument, simpleDocument } from "./yaml-documents.ts";

/** Reads what it can read, and reads it as the `yaml` package does. */
function expectSame(text: string): void {
  expect(parseSimpleYaml(text)).toStrictEqual(parse(text, { stringKeys: true }));
}

test("typical frontmatter is read", () => {
  const text = [
    "# a comment",
    "name: pdf-processing",
    "description: Reads PDF files, fills forms. It's quick",
    "license: 'MIT'",
    'version: "1.0"',
    "stars: 12",
    "ratio: 1.50",
    "sensitive: false",
    "model: ~",
    "empty:",
    "url: https://example.com/a#b",
    'allowed-tools: [Read, Bash(git:*), "Write"]',
    "",
    "metadata:",
    "  author: A B",
    "  # another comment",
    "  nested:",
    "    deeper: 2024-01-01",
    "  tags:",
    "    - one",
    "    - 'two'",
    "env:",
    "- A",
    "- 1",
    "long: one",
    "  two",
    "    three",
    "",
  ].join("\n");
  expectSame(text);
});

test("block scalars are read", () => {
  expectSame(
    "a: |\n  one\n\n   two\n  three\nb: >\n  one\n  two\n\n\n  three\n\nc: |-\n  x\nd: >-\n\n  y\n  z\n\n",
  );
});

test("numbers, booleans and null have the types of YAML 1.2", () => {
  expect(
    parseSimpleYaml("a: 1.0\nb: 007\nc: yes\nd: Null\ne: 1.2.3\nf: 1e3\ng: True\nh: -.5\n"),
  ).toStrictEqual({
    a: 1,
    b: 7,
    c: "yes",
    d: null,
    e: "1.2.3",
    f: 1000,
    g: true,
    h: -0.5,
  });
});

test.each([
  ["an empty document", "# comment\n"],
  ["a colon in a value", "a: b: c"],
  ["a comment after a plain value", "a: b # c"],
  ["a repeated key", "a: 1\na: 2"],
  ["`__proto__`", "__proto__: 1"],
  ["an escape", 'a: "b\\n"'],
  ["an anchor", "a: &b c"],
  ["a tag", "a: !!str 1"],
  ["a flow map", "a: {b: c}"],
  ["a list of maps", "a:\n  - b: c"],
  ["a list of lists", "a: [[b]]"],
  ["a tab", "a:\tb"],
  ["a control character", "a: \u0001"],
  ["an invisible character", "a: b\u200b"],
  ["a kept line end", "a: |+\n  b\n\n"],
  ["a number too large to be exact", "a: 12345678901234567890"],
  ["a hexadecimal number", "a: 0x10"],
  ["infinity", "a: .inf"],
  ["a document end", "a: b\n...\n"],
  ["a top-level list", "- a"],
  ["an indented document", "  a: b"],
  ["uneven indentation", "a:\n  b: c\n d: e"],
  ["a value over lines with a blank one", "a: b\n\n  c"],
])("%s is left to the full parser", (_, text) => {
  expect(parseSimpleYaml(text)).toBeUndefined();
});

test.each([
  ["simple documents", simpleDocument],
  ["simple documents with changed characters", mutatedDocument],
])("whatever it reads of %s is exactly what the full parser reads", (_, document) => {
  let read = 0;
  fc.assert(
    fc.property(document, (text) => {
      const simple = parseSimpleYaml(text);
      if (simple === undefined) return;
      read++;
      expect(parseYaml(text, 1)).toStrictEqual({ ok: true, value: { data: simple, faults: [] } });
      expect(simple).toStrictEqual(parse(text, { stringKeys: true }));
    }),
    { numRuns: 4000 },
  );
  expect(read).toBeGreaterThan(100);
});
