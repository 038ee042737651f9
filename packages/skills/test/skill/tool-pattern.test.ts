import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { parseToolPattern, splitToolPatterns } from "../../src/skill/field-grammars.ts";

verifies(
  [18, "case 21"],
  "a line of tools is taken apart at spaces and commas outside of parentheses",
  () => {
    expect(splitToolPatterns("Bash(git:*) Read")).toEqual(["Bash(git:*)", "Read"]);
    expect(splitToolPatterns("Bash(git log:*), Read,Write ,\n Edit")).toEqual([
      "Bash(git log:*)",
      "Read",
      "Write",
      "Edit",
    ]);
    expect(splitToolPatterns("Bash(f(a, b) c) Read")).toEqual(["Bash(f(a, b) c)", "Read"]);
    expect(splitToolPatterns("  ,  ")).toEqual([]);
  },
);

test("a pattern is a tool with or without a scope", () => {
  expect(parseToolPattern("Read")).toEqual({ tool: "Read" });
  expect(parseToolPattern("Bash(git log:*)")).toEqual({ tool: "Bash", scope: "git log:*" });
  expect(parseToolPattern("mcp__server__*")).toEqual({ tool: "mcp__server__*" });
  expect(parseToolPattern("*")).toEqual({ tool: "*" });
});

test("what is malformed stays one pattern and is not read", () => {
  expect(splitToolPatterns("Bash(git:* Read")).toEqual(["Bash(git:* Read"]);
  for (const pattern of [
    "Bash(git:* Read",
    "Read)",
    "Bash()",
    "(git:*)",
    "Bash(a)b",
    "Bash(a) (b)",
    "...",
    "",
  ]) {
    expect(parseToolPattern(pattern), pattern).toBeUndefined();
  }
});
