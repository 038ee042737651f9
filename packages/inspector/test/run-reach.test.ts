/** Reach as a table, and the marks of redaction. */
import { expect, test } from "vitest";
import { compareReach, remarkOn } from "../src/page/run/reach.ts";
import { countRedactions, splitRedactions } from "../src/page/state/redactions.ts";
import { RUN, RUN_EVENTS } from "./support/answers-runs.ts";

test("declared, granted and used stand side by side; a pattern is used by what it covers", () => {
  const rows = compareReach(RUN.sandbox ?? {});
  expect(rows.find(({ item }) => item === "*.shop.example")).toMatchObject({
    isDeclared: true,
    isGranted: true,
    isUsed: true,
  });
  expect(rows.find(({ item }) => item === "api.shop.example:443")).toMatchObject({
    isGranted: true,
    isUsed: true,
  });
});

test("what stands out is said in words", () => {
  const rows = compareReach(RUN.sandbox ?? {});
  const remarks = Object.fromEntries(rows.map((row) => [row.item, remarkOn(row)]));
  expect(remarks).toEqual({
    "*.shop.example": undefined,
    "news.example": "declared, not granted",
    "api.shop.example:443": undefined,
    "./data": "granted, not used",
    "./out": "granted but not declared, not used",
  });
});

test("a folder covers what is below it, and not its neighbor", () => {
  const rows = compareReach({ granted: { write: ["./out"] }, used: { write: ["./out/a.txt", "./outside"] } });
  expect(rows.map(({ item, isGranted, isUsed }) => [item, isGranted, isUsed])).toEqual([
    ["./out", true, true],
    ["./out/a.txt", true, true],
    ["./outside", false, true],
  ]);
});

test("redactions are counted by name, wherever they stand", () => {
  expect(countRedactions(RUN_EVENTS)).toEqual(new Map([["SHOP_TOKEN", 5]]));
  expect(countRedactions({ "[redacted]": ["[redacted:A] and [redacted:A]"] })).toEqual(
    new Map([
      ["A", 2],
      ["unnamed secret", 1],
    ]),
  );
});

test("a text falls into marks and the rest; what only looks like one stays text", () => {
  expect(splitRedactions("a [redacted:KEY] b")).toEqual([
    { text: "a " },
    { text: "[redacted:KEY]", redacted: "KEY" },
    { text: " b" },
  ]);
  expect(splitRedactions("[redacted:<img>]")).toEqual([{ text: "[redacted:<img>]" }]);
  expect(splitRedactions("")).toEqual([{ text: "" }]);
});
