/** Who sees which capability. */
import { expect, test } from "vitest";
import { chatTypesOf, checkVisible, isDeclared, isVisible } from "../../../src/capabilities/visibility.ts";
import { verifies } from "../../support/verifies.ts";

const SENSITIVE = { id: "desk.mail", sensitive: true };
const OPEN = { id: "desk.clock", sensitive: false };

verifies("case 118", "what is sensitive is for private chats, unless its definition names others", () => {
  expect(chatTypesOf(SENSITIVE)).toEqual(["private"]);
  expect(chatTypesOf({ ...SENSITIVE, allowedChatTypes: ["group"] })).toEqual(["group"]);
  expect(chatTypesOf({ ...SENSITIVE, allowedChatTypes: [] })).toEqual(["private"]);
  expect(chatTypesOf(OPEN)).toEqual([]);
  expect(isVisible(SENSITIVE, { userId: "a", chatType: "private" })).toBe(true);
  expect(isVisible(SENSITIVE, { userId: "a", chatType: "group" })).toBe(false);
});

test("the chat type counts whatever its case, and one that is not known is none that is allowed", () => {
  expect(isVisible(SENSITIVE, { userId: "a", chatType: " Private " })).toBe(true);
  expect(isVisible(SENSITIVE, { userId: "a" })).toBe(false);
  expect(isVisible(SENSITIVE, { userId: "a", chatType: "" })).toBe(false);
  expect(isVisible(OPEN, { userId: "a" })).toBe(true);
  expect(isVisible({ ...OPEN, allowedChatTypes: ["group"] }, { userId: "a" })).toBe(false);
});

test("a run uses what its skill declares and nothing else, in whatever chat", () => {
  const caller = { userId: "a", chatType: "private", skill: "letters", declared: ["desk.mail"] };
  expect(isVisible(SENSITIVE, caller)).toBe(true);
  expect(isVisible(OPEN, caller)).toBe(false);
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
  expect(fault?.message).toContain("`private`; the type of this one is `group`");
  expect(checkVisible(SENSITIVE, { userId: "a" })?.message).toContain("not known");
});
