import type { Json } from "@metier/base/json";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseYaml } from "../../src/parse/parse-yaml.ts";
import { repairYaml } from "../../src/parse/repair-yaml.ts";
import type { UnplacedDiagnostic } from "../../src/parse/source-text.ts";

/** The data and the faults as `code line:column`; the text must be one that YAML refuses. */
function repair(text: string): { readonly value: Json | undefined; readonly faults: readonly string[] } {
  expect(parseYaml(text, 2).ok, "the text is broken").toBe(false);
  const repaired = repairYaml(text, 2);
  const faults = repaired?.faults ?? [];
  return {
    value: repaired?.value,
    faults: faults.map((fault) => `${fault.code} ${fault.line}:${fault.column}`),
  };
}

function firstFault(text: string): UnplacedDiagnostic | undefined {
  return repairYaml(text, 2)?.faults[0];
}

verifies("case 4", "a value with a colon and a blank in it is read as text", () => {
  const { value, faults } = repair(
    "name: a\ndescription: Use it: always. See http://x.y: now\nlicense: MIT\n",
  );
  expect(value).toEqual({ name: "a", description: "Use it: always. See http://x.y: now", license: "MIT" });
  expect(faults).toEqual(["yaml.repaired 3:14"]);
});

test("a fault says what was wrong and how to write it", () => {
  expect(firstFault("description: Use: it")).toMatchObject({
    severity: "warning",
    message: expect.stringContaining("`description` contains `: `"),
    hint: expect.stringContaining('`description: "…"`'),
  });
});

test.each([
  "@tool does",
  "`code` does",
  "% done",
  "**bold** text",
  "*alias",
  "!important text",
  ", then",
  "}x{",
])("a value that begins with a character of YAML is read as text: %s", (text) => {
  const { value, faults } = repair(`description: ${text}\nname: a\n`);
  expect(value).toEqual({ description: text, name: "a" });
  expect(faults).toEqual(["yaml.repaired 2:14"]);
});

test.each(["[topic] [--deep]", "{NAME} helps", "{{name}}", "[link](https://x.y) to it", "&amp; more"])(
  "brackets and entities that are no YAML are read as text: %s",
  (text) => {
    expect(repair(`name: a\nhint: ${text}\n`).value).toEqual({ name: "a", hint: text });
  },
);

verifies("case 8", "tabs as indentation are read as blanks, and their line is named", () => {
  const { value, faults } = repair("name: a\nmetadata:\n\tauthor: b\n\ttags:\n\t\t- c\n");
  expect(value).toEqual({ name: "a", metadata: { author: "b", tags: ["c"] } });
  expect(faults).toEqual(["yaml.repaired 4:1"]);
});

test("no-break blanks are read as blanks", () => {
  const { value, faults } = repair("name: a\ntags:\u00a0\n\u00a0 -\u00a0 b\n\u00a0 - c\n");
  expect(value).toEqual({ name: "a", tags: ["b", "c"] });
  expect(faults).toEqual(["yaml.repaired 3:1"]);
});

test("an indentation that all lines share is removed before the rest is repaired", () => {
  expect(repair("  name: a\n  description: b: c\n").value).toEqual({ name: "a", description: "b: c" });
});

describe("quotes", () => {
  test("escapes that YAML does not know are the characters that were written", () => {
    const { value, faults } = repair('path: "C:\\Users\\dir"\nit: "don\\\'t \\"x\\""\n');
    expect(value).toEqual({ path: "C:\\Users\\dir", it: 'don\'t "x"' });
    expect(faults).toEqual(["yaml.repaired 2:7", "yaml.repaired 3:5"]);
  });

  test("a missing closing quote ends with the value", () => {
    expect(repair('description: "text\nname: a\n').value).toEqual({ description: "text", name: "a" });
  });

  test("quotes inside quotes are part of the text", () => {
    expect(repair('a: \'it\'s here\'\nb: "say "x" now"\n').value).toEqual({
      a: "it's here",
      b: 'say "x" now',
    });
  });

  test("a value that only begins with a quoted word keeps its quotes", () => {
    expect(repair('a: "one" and "two" more\n').value).toEqual({ a: '"one" and "two" more' });
  });

  test("text below a quoted value belongs to it", () => {
    expect(repair('a: "One."\n  Two.\n').value).toEqual({ a: "One. Two." });
    expect(repair('a: "One.\nTwo."\nb: c\n').value).toEqual({ a: "One. Two.", b: "c" });
  });
});

describe("blocks", () => {
  test("text on the line of the block mark is part of the value", () => {
    const { value, faults } = repair("description: > text on\n  two lines\nname: a\n");
    expect(value).toEqual({ description: "text on two lines", name: "a" });
    expect(faults).toEqual(["yaml.repaired 2:14"]);
    expect(repair("a: | one\n  two\n    three\n").value).toEqual({ a: "one\ntwo\n  three" });
    expect(repair("a: >- one\n").value).toEqual({ a: "one" });
  });

  test("a block whose lines are not indented is read up to the next key", () => {
    expect(repair("a: |\none (1)\ntwo\nb: c\n").value).toEqual({ a: "one (1)\ntwo", b: "c" });
  });
});

test("a value continues on lines that are not indented, as paragraphs", () => {
  const { value, faults } = repair("description: One\n(1) two\n\nThree.\nname: a\n");
  expect(value).toEqual({ description: "One (1) two\nThree.", name: "a" });
  expect(faults).toEqual(["yaml.repaired 2:14"]);
  expect(repair("description:\nSome text\nname: a\n").value).toEqual({ description: "Some text", name: "a" });
});

test("text below a heading belongs to no key and is left out", () => {
  const { value, faults } = repair("name: a\n## Heading\nText.\n\nmetadata: {b: c}\n");
  expect(value).toEqual({ name: "a", metadata: { b: "c" } });
  expect(faults).toEqual(["yaml.dropped 3:1"]);
});

test("text before all keys is left out", () => {
  const { value, faults } = repair("Some text\nname: a\n");
  expect(value).toEqual({ name: "a" });
  expect(faults).toEqual(["yaml.dropped 2:1"]);
});

describe("lists and maps", () => {
  test("missing brackets at the end are added", () => {
    const { value, faults } = repair('metadata: {"a":{"b":["c"]}\nname: d\n');
    expect(value).toEqual({ metadata: { a: { b: ["c"] } }, name: "d" });
    expect(faults).toEqual(["yaml.repaired 2:26"]);
  });

  test("a map that cannot be read is left out by its name, the rest stays", () => {
    const { value, faults } = repair('name: a\nmetadata: {"x":"y":["z"]}\n');
    expect(value).toEqual({ name: "a" });
    expect(faults).toEqual(["yaml.dropped 3:11"]);
    expect(firstFault('name: a\nmetadata: {"x":"y":["z"]}\n')?.message).toContain("`metadata`");
  });

  test("a nested value is repaired on its own line", () => {
    const { value, faults } = repair(
      'metadata:\n  a: one: two\n  b:\n    - @c\n    - d\n  e: "\\U+1"\n  f: |\n    x: y: z\n',
    );
    expect(value).toEqual({ metadata: { a: "one: two", b: ["@c", "d"], e: "\\U+1", f: "x: y: z\n" } });
    expect(faults).toEqual(["yaml.repaired 3:6"]);
  });

  test("a structure that cannot be read is left out", () => {
    expect(repair("name: a\nmetadata:\n  b: c\n d: e\n").faults).toEqual(["yaml.dropped 3:10"]);
  });
});

describe("keys", () => {
  test.each([
    ["without a blank after the colon", "name:a\ndescription: b\n", "has no space after"],
    ["with a wide colon", "name: a\ndescription：b\n", "full-width colon"],
    ["indented for no reason", "name: a\n description: b\n", "is indented"],
  ])("a common key is recognised %s", (_, text, message) => {
    expect(repair(text).value).toMatchObject({ name: "a", description: "b" });
    expect(firstFault(text)?.message).toContain(message);
  });

  test("the last of a repeated key counts in repaired frontmatter too", () => {
    const { value, faults } = repair("a: 1\na: 2\nb: c: d\n");
    expect(value).toEqual({ a: 2, b: "c: d" });
    expect(faults).toEqual(["yaml.repaired 4:4", "yaml.duplicate-key 3:1"]);
  });
});

test("an alias keeps its meaning when its anchor stands in another entry", () => {
  expect(repair("base: &x [Read]\ntools: *x\ndescription: a: b\n").value).toMatchObject({ tools: ["Read"] });
});

test("an alias whose anchor had to be left out is left out too", () => {
  const { value, faults } = repair('base: &x {"a":"b":"c"}\ntools: *x\nname: d: e\n');
  expect(value).toEqual({ base: '&x {"a":"b":"c"}', name: "d: e" });
  expect(faults).toContain("yaml.dropped 3:8");
});

test("what has no key at all is not repaired", () => {
  expect(repairYaml("**Name:** x\n**Description:** y\n", 2)).toBeUndefined();
  expect(repairYaml('a: {"b":"c":"d"}\n', 2)).toBeUndefined();
});

test("frontmatter too long to be tried line by line is not repaired", () => {
  expect(repairYaml(`a: b: c\n${"# comment\n".repeat(2000)}`, 2)).toBeUndefined();
});
