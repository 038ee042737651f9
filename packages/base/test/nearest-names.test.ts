import { expect, test } from "vitest";
import { nearestNames } from "../src/text.ts";

test.each([
  ["modle", ["model", "mode", "paths"], ["mode", "model"]],
  ["summarise", ["summarize", "summary"], ["summarize", "summary"]],
  ["pahts", ["paths", "path"], ["paths"]],
  ["x", ["paths"], []],
  ["", ["a"], []],
  ["DEPLOY", ["deploy"], ["deploy"]],
])("the names nearest to `%s` among %j are %j", (word, names, expected) => {
  expect(nearestNames(word, names)).toEqual(expected);
});

test("a word longer than any name is not compared at all", () => {
  expect(nearestNames("a".repeat(10_000), ["a"])).toEqual([]);
});
