/** One text for one JSON value. */
import { expect, test } from "vitest";
import { canonicalText } from "../src/json.ts";

test("the order of keys makes no difference at any depth, the order of items does", () => {
  expect(canonicalText({ b: [{ y: 1, x: null }], a: "ü" })).toBe('{"a":"ü","b":[{"x":null,"y":1}]}');
  expect(canonicalText({ a: 1, b: 2 })).toBe(canonicalText({ b: 2, a: 1 }));
  expect(canonicalText([1, 2])).not.toBe(canonicalText([2, 1]));
  expect(canonicalText("1")).not.toBe(canonicalText(1));
});
