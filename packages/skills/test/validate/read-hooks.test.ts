import type { Json } from "@metier/base/json";
import { expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { readHooks, type SkillHook } from "../../src/validate/read-hooks.ts";
import { check, fields, findings } from "./parsed-skill.ts";

type Hooks = Readonly<Record<string, Json>>;

function read(hooks: Hooks): { readonly hooks: readonly SkillHook[]; readonly said: readonly string[] } {
  const said: string[] = [];
  const found = readHooks(hooks, (code, message, { hint } = {}) => said.push(`${code} ${message} ${hint}`));
  return { hooks: found, said };
}

verifies(38, "`hooks` are read in our form, with the defaults filled in", () => {
  const { hooks, said } = read({
    "pre-tool": [{ matcher: "bash", command: ["sh", "scripts/guard.sh"], timeout: 5 }],
    post_tool: { matcher: ["Write", "Edit"], command: "cat" },
    stop: "scripts/done.sh",
  });
  expect(said).toEqual([]);
  expect(hooks).toEqual([
    {
      event: "pre-tool",
      tools: ["bash"],
      command: ["sh", "scripts/guard.sh"],
      timeoutMs: 5000,
      isClaude: false,
    },
    { event: "post-tool", tools: ["Write", "Edit"], command: "cat", timeoutMs: 30_000, isClaude: false },
    { event: "stop", tools: [], command: "scripts/done.sh", timeoutMs: 30_000, isClaude: false },
  ]);
});

test("the form of Claude Code is read: nested hooks, alternatives, and globs written as expressions", () => {
  const nested = [{ type: "command", command: "./check.sh" }];
  const { hooks, said } = read({
    PreToolUse: [
      { matcher: "Write|mcp__files__.*", hooks: nested },
      { matcher: "*", hooks: nested },
    ],
    Stop: [{ hooks: nested }],
  });
  expect(said).toEqual([]);
  const shared = { command: "./check.sh", timeoutMs: 30_000, isClaude: true };
  expect(hooks).toEqual([
    { ...shared, event: "pre-tool", tools: ["Write", "mcp__files__*"] },
    { ...shared, event: "pre-tool", tools: [] },
    { ...shared, event: "stop", tools: [] },
  ]);
});

test.each<[string, Json, string]>([
  ["a number", 3, "is a number"],
  ["no command", { matcher: "bash" }, "has no `command`"],
  ["an empty command", { command: "  " }, "empty `command`"],
  ["an empty list", { command: [] }, "empty `command`"],
  ["words that are none", { command: ["sh", 3] }, '`["sh",3]`'],
  ["a NUL character", { command: ["sh", "a\0b"] }, "NUL character"],
  ["a program outside of the skill", { command: ["scripts/../../x"] }, "not in the skill's folder"],
  ["another type", { type: "http", url: "x" }, "`http`"],
  ["a nested text", { hooks: ["x"] }, "has a text in `hooks`"],
])("%s is a fault: before a call it blocks, afterwards it is left out", (_, entry, reason) => {
  const before = read({ "pre-tool": [entry] });
  expect(before.hooks).toMatchObject([{ event: "pre-tool", fault: expect.stringContaining(reason) }]);
  expect(before.said.join("\n")).toContain("hook.malformed");
  expect(read({ "post-tool": [entry], stop: [entry] }).hooks).toEqual([]);
});

test("a matcher or a time that cannot be read is said, and the hook holds for more, not less", () => {
  const { hooks, said } = read({
    "pre-tool": [
      { matcher: "Bash(git:*)", command: "x" },
      { matcher: 3, command: "x", timeout: -1 },
      { command: "x", timeout: 601, once: true },
    ],
    stop: [{ matcher: "bash", command: "x" }],
  });
  expect(hooks.map(({ tools, timeoutMs }) => ({ tools, timeoutMs }))).toEqual(
    Array(4).fill({ tools: [], timeoutMs: 30_000 }),
  );
  expect(said.map((line) => line.split(" ", 1)[0])).toEqual([
    "hook.malformed",
    "hook.malformed",
    "hook.malformed",
    "field.unknown-key",
    "hook.malformed",
    "hook.malformed",
  ]);
});

test("events that do not exist here are named, those of Claude Code as what they are", () => {
  const { hooks, said } = read({ "pre-tol": [{ command: "x" }], Notification: [], Sometimes: "x" });
  expect(hooks).toEqual([]);
  expect(said[0]).toContain("Did you mean `pre-tool`?");
  expect(said[1]).toContain("`hooks.Notification` is a Claude Code event that Metier does not support.");
  expect(said[2]).toContain("The events are `pre-tool`, `post-tool` and `stop`.");
});

verifies([38, 49], "validation names what is wrong with `hooks`, with its line", () => {
  const hooks = { "pre-tool": [{ matcher: "bash" }], SessionStart: [] };
  const checked = check(fields({ hooks }));
  expect(checked.manifest?.hooks).toEqual(hooks);
  expect(findings(checked)).toEqual(["warning hook.malformed", "warning hook.unknown-event"]);
  expect(checked.diagnostics.map(({ line }) => line)).toEqual([4, 4]);
  expect(check(fields({ hooks: { stop: [{ command: "true" }] } })).diagnostics).toEqual([]);
});
