/** Who sees which capability. */
import { expect, test } from "vitest";
import { verifies } from "../../../test/support/verifies.ts";
import { chatTypesOf, checkVisible, isDeclared, isVisibleTo } from "../src/access.ts";

const SENSITIVE = { id: "desk.mail", sensitive: true };
const OPEN = { id: "desk.clock", sensitive: false };

verifies("case 118", "what is sensitive is for private chats, unless its definition names others", () => {
  expect(chatTypesOf(SENSITIVE)).toEqual(["private"]);
  expect(chatTypesOf({ ...SENSITIVE, allowedChatTypes: ["group"] })).toEqual(["group"]);
  expect(chatTypesOf({ ...SENSITIVE, allowedChatTypes: [] })).toEqual(["private"]);
  expect(chatTypesOf(OPEN)).toEqual([]);
  expect(isVisibleTo(SENSITIVE, { userId: "a", chatType: "private" })).toBe(true);
  expect(isVisibleTo(SENSITIVE, { userId: "a", chatType: "group" })).toBe(false);
});

test("the chat type counts whatever its case, and one that is not known is none that is allowed", () => {
  expect(isVisibleTo(SENSITIVE, { userId: "a", chatType: " Private " })).toBe(true);
  expect(isVisibleTo(SENSITIVE, { userId: "a" })).toBe(false);
  expect(isVisibleTo(SENSITIVE, { userId: "a", chatType: "" })).toBe(false);
  expect(isVisibleTo(OPEN, { userId: "a" })).toBe(true);
  expect(isVisibleTo({ ...OPEN, allowedChatTypes: ["group"] }, { userId: "a" })).toBe(false);
});

test("a run uses what its skill declares and nothing else, in whatever chat", () => {
  const caller = { userId: "a", chatType: "private", skill: "letters", declared: ["desk.mail"] };
  expect(isVisibleTo(SENSITIVE, caller)).toBe(true);
  expect(isVisibleTo(OPEN, caller)).toBe(false);
  expect(isDeclared("desk.clock", { ...caller, declared: [] })).toBe(false);
  expect(isDeclared("desk.clock", { userId: "a" })).toBe(true);
  expect(checkVisible(OPEN, caller)).toMatchObject({
    code: "capability_access_denied",
    message: "The skill `letters` does not declare the capability `desk.clock`.",
  });
});

test("a refusal names the chats that are allowed and the one this is", () => {
  const fault = checkVisible(SENSITIVE, { userId: "a", chatType: "Group" });
  expect(fault?.code).toBe("capability_access_denied");
  expect(fault?.message).toContain("`private`; the type of this chat is `group`");
  expect(checkVisible(SENSITIVE, { userId: "a" })?.message).toContain("not known");
});
