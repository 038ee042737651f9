import { expect, test } from "vitest";
import { lastUserText, messageTexts } from "../../src/adapters/plain.ts";

test("the texts of a message are found at any usual depth, and no further", () => {
  const deep = { a: { b: { c: { d: { e: { f: { g: { h: { i: { j: "below" } } } } } } } } } };
  const message = { role: "tool", content: [{ output: { value: "inside" } }, null, 7] };
  expect(messageTexts([undefined, message, deep])).toEqual(["tool", "inside"]);
});

test("the last words of the user are those of the last message of a user", () => {
  const assistant = { role: "assistant", content: "Yes." };
  const parts = [{ type: "text", text: "One." }, { type: "image" }, { type: "text", text: "Two." }];
  expect(
    lastUserText([{ role: "user", content: "First." }, { role: "user", content: "Last." }, assistant]),
  ).toBe("Last.");
  expect(lastUserText([{ role: "user", content: parts }])).toBe("One.\nTwo.");
  expect(lastUserText([{ role: "user", content: [{ type: "image" }] }])).toBeUndefined();
  expect(lastUserText([{ role: "user", content: 7 }])).toBeUndefined();
  expect(lastUserText([assistant, null, "text"])).toBeUndefined();
});
