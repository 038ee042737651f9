import { expect, test } from "vitest";
import { type Page, pageOf } from "../../src/mcp/connection.ts";

const LETTERS = ["a", "b", "c", "d", "e"];
const page = (cursor?: string, items: readonly string[] = LETTERS): Page<string> =>
  pageOf(items, (item) => item, cursor, 2);

test("cursors lead through the whole list, and the last page has none", () => {
  const first = page();
  const second = page(first.nextCursor);
  const third = page(second.nextCursor);
  expect([first, second, third].map((one) => one.items)).toEqual([["a", "b"], ["c", "d"], ["e"]]);
  expect(third.nextCursor).toBeUndefined();
});

test("a list that ends with a page has no empty page after it", () => {
  expect(page(page(undefined, ["a", "b", "c", "d"]).nextCursor, ["a", "b", "c", "d"])).toEqual({
    items: ["c", "d"],
  });
});

test("a cursor goes on behind its entry when that entry has gone meanwhile", () => {
  const cursor = page().nextCursor;
  expect(page(cursor, ["a", "c", "d"]).items).toEqual(["c", "d"]);
});

test.each(["nonsense", "", "after:b", `${Buffer.from("after:b").toString("base64")}=`])(
  "a cursor that nobody gave (%j) is refused",
  (cursor) => {
    expect(() => page(cursor)).toThrow("Unknown cursor");
  },
);
