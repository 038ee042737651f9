import { expect, test } from "vitest";
import {
  choiceShape,
  countShape,
  fitShape,
  flagShape,
  listShape,
  mapShape,
  readShape,
  recordShape,
  tableShape,
  testedShape,
  textOrShape,
  textShape,
} from "../src/shape.ts";

interface Entry {
  readonly name: string;
  readonly size?: number;
  readonly fileKind?: "file" | "link";
}

const FIELDS = { name: textShape, size: countShape, fileKind: choiceShape("file", "link") };
const table = tableShape<Entry>(FIELDS, ["name"]);
const record = recordShape<Entry>(FIELDS, ["size", "fileKind"]);

test("a table is read in any spelling of its keys", () => {
  for (const key of ["file-kind", "file_kind", "fileKind"]) {
    expect(readShape(table, { name: "a", [key]: "link" })).toEqual({
      ok: true,
      value: { name: "a", fileKind: "link" },
    });
  }
});

test("all that is wrong is said at once, each with its place, its value and what is allowed", () => {
  const read = readShape(listShape(table), [
    { name: 3, sise: 1 },
    { size: -1, "file-kind": "x" },
  ]);
  expect(read).toMatchObject({
    ok: false,
    refusal: [
      { path: ["0", "name"], message: "`name` is `3`; it must be a text.", hint: "Put it in quotes." },
      { path: ["0", "sise"], message: "The key `sise` is unknown here.", hint: "Did you mean `size`?" },
      { path: ["1", "size"], message: "`size` is `-1`; it must be a whole number, 0 or greater." },
      { path: ["1", "file-kind"], message: "`file-kind` is `x`; it must be one of `file` and `link`." },
      { path: ["1"], message: "It needs `name`." },
    ],
  });
});

test("a key in two spellings is a fault, not a choice", () => {
  const read = readShape(table, { name: "a", "file-kind": "file", fileKind: "link" });
  expect(read).toMatchObject({
    ok: false,
    refusal: [{ message: "`fileKind` appears in two spellings." }],
  });
});

test("a record of a program takes keys to the letter and passes over those it does not know", () => {
  expect(fitShape(record, { name: "a", size: 1, later: true })).toEqual({ name: "a", size: 1 });
  expect(fitShape(record, { name: "a", "file-kind": "link" })).toEqual({ name: "a" });
  for (const damaged of [null, [], "a", {}, { name: 1 }, { name: "a", size: "1" }]) {
    expect(fitShape(record, damaged)).toBeUndefined();
  }
});

test("a text may be the short form of something longer", () => {
  const shape = textOrShape(textShape, listShape(textShape), "a text or a list of texts");
  expect(fitShape(shape, "a")).toBe("a");
  expect(fitShape(shape, ["a", "b"])).toEqual(["a", "b"]);
  expect(readShape(shape, 1)).toMatchObject({
    ok: false,
    refusal: [{ message: "It is `1`; it must be a text or a list of texts." }],
  });
});

test("maps have keys of their own, and a test of one's own is a shape too", () => {
  const even = testedShape((value): value is number => Number(value) % 2 === 0, "an even number");
  expect(fitShape(mapShape(even), { a: 2 })).toEqual({ a: 2 });
  expect(readShape(mapShape(even), { a: 3 })).toMatchObject({
    ok: false,
    refusal: [{ path: ["a"], message: "`a` is `3`; it must be an even number." }],
  });
  expect(fitShape(flagShape, false)).toBe(false);
});
