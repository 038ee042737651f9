import { describe, expect, test } from "vitest";
import { nameMatcher } from "../src/text.ts";

describe("a name matcher", () => {
  test.each([
    ["pdf-*", "pdf-read", true],
    ["pdf-*", "pdf-", true],
    ["pdf-*", "my-pdf-read", false],
    ["*-deprecated", "x-deprecated", true],
    ["*-deprecated", "deprecated", false],
    ["*", "anything", true],
    ["*", "", true],
    ["a?c", "abc", true],
    ["a?c", "ac", false],
    ["*a*b*", "xaybz", true],
    ["*ab*ab", "abab", true],
    ["[a-c]x", "bx", true],
    ["[a-c]x", "dx", false],
    ["[!a-c]x", "dx", true],
    ["[abc", "[abc", true],
    ["a.b", "axb", false],
    ["deploy", "deploy", true],
    ["ключ-*", "ключ-1", true],
  ])("for %j says of %j: %j", (pattern, name, expected) => {
    expect(nameMatcher([pattern])(name)).toBe(expected ? pattern : undefined);
  });

  test("answers with the first pattern that matches", () => {
    expect(nameMatcher(["x", "a*", "ab"])("ab")).toBe("a*");
    expect(nameMatcher([])("ab")).toBeUndefined();
  });

  test("a hostile pattern ends", () => {
    const matcher = nameMatcher([`${"*a".repeat(200)}*b`]);
    expect(matcher("a".repeat(1000))).toBeUndefined();
  });
});
