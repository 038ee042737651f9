import { expect, test } from "vitest";
import { meetsRequirement } from "../../../src/tools/scripts/choose-interpreter.ts";

test.each([
  [">=3.11", true],
  [">=3.11, <3.12", true],
  [">=3.12", false],
  ["<3.11", false],
  [">3.11", true],
  [">3.11.7", false],
  ["<=3.11.7", true],
  ["==3.11.*", true],
  ["==3.11", false],
  ["===3.11.7", true],
  ["!=3.11.*", false],
  ["!=3.10.*", true],
  ["~=3.10", true],
  ["~=3.11.2", true],
  ["~=3.10.2", false],
  ["~=2.7", false],
  ["", true],
] as const)("3.11.7 against %j", (requirement, expected) => {
  expect(meetsRequirement("3.11.7", requirement)).toBe(expected);
});

test.each(["3.11", ">=3.x", ">=3.11.*", "python>=3", ">= ", ">=3.12rc1", "^3.11"])(
  "%j cannot be read",
  (requirement) => expect(meetsRequirement("3.11.7", requirement)).toBeUndefined(),
);
