import { expect, test } from "vitest";
import { locateKey } from "../../src/parse/source-text.ts";

const YAML =
  '# name: no\nname: a\n"quoted key": b\nversion: 1\nmetadata:\n  inner: c\n  version: 2\ntext: |\n  name: no\nversion : 3\n';

test("a top-level key is found by its line", () => {
  expect(locateKey(YAML, 2, "name")).toEqual({ line: 3, column: 1 });
  expect(locateKey(YAML, 2, "quoted key")).toEqual({ line: 4, column: 1 });
});

test("of a repeated key the last one is found, since it counts", () => {
  expect(locateKey(YAML, 2, "version")).toEqual({ line: 11, column: 1 });
});

test("keys inside other values and unknown keys are not found", () => {
  expect(locateKey(YAML, 2, "inner")).toBeUndefined();
  expect(locateKey(YAML, 2, "nam")).toBeUndefined();
  expect(locateKey("", 2, "name")).toBeUndefined();
});

test("keys of indented frontmatter are found", () => {
  expect(locateKey("  name: a\n  b: c\n", 1, "b")).toEqual({ line: 2, column: 3 });
});

test("keys in flow style are found", () => {
  const flow = '{ "rename": x,\n  "name": "a", description: b }';
  expect(locateKey(flow, 2, "name")).toEqual({ line: 3, column: 3 });
  expect(locateKey(flow, 2, "description")).toEqual({ line: 3, column: 16 });
});
