import type { CommandOutcome } from "@metier/sandbox";
import type { HookEvent } from "@metier/skills";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readVerdict } from "../../../src/run/hooks/skill-hooks.ts";

function ended(outcome: Partial<CommandOutcome>): CommandOutcome {
  return { ended: "exited", exitCode: 0, stdout: "", stderr: "", droppedBytes: 0, durationMs: 1, ...outcome };
}

function answered(answer: unknown, event: HookEvent = "pre-tool") {
  return readVerdict(event, ended({ stdout: JSON.stringify(answer) }), 1000);
}

test("silence and agreement allow", () => {
  for (const stdout of [
    "",
    " \n",
    "{}",
    '{"decision":"allow"}',
    '{"decision":"approve"}',
    '{"continue":true}',
  ]) {
    expect(readVerdict("pre-tool", ended({ stdout }), 1000), stdout).toEqual({ outcome: "allow" });
  }
  expect(answered({ note: " Mind the gap. " })).toEqual({ outcome: "allow", note: "Mind the gap." });
  expect(answered({ hookSpecificOutput: { additionalContext: "More." } })).toMatchObject({ note: "More." });
});

test("a decision to block, exit code 2, and Claude Code's words for both block with their reason", () => {
  const blocked = { outcome: "block", reason: "No." };
  expect(answered({ decision: "block", reason: "No." })).toEqual(blocked);
  expect(readVerdict("pre-tool", ended({ exitCode: 2, stderr: "No.\n", stdout: "{}" }), 1000)).toEqual(
    blocked,
  );
  expect(
    answered({ hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason: "No." } }),
  ).toEqual(blocked);
  expect(answered({ continue: false, stopReason: "No." })).toEqual(blocked);
  expect(answered({ continue: false, stopReason: "No." }, "stop")).toEqual({ outcome: "allow" });
  expect(answered({ decision: "block" })).toEqual({ outcome: "block", reason: "it gave no reason" });
});

test("what is no clear answer is a fault that says why", () => {
  const faults: readonly (readonly [Partial<CommandOutcome>, string])[] = [
    [{ exitCode: 1, stderr: "oops\n" }, "code 1: oops"],
    [{ ended: "timeout" }, "timed out after 1 s"],
    [{ ended: "signalled", signal: "SIGSEGV" }, "SIGSEGV"],
    [{ ended: "limit", reason: "It had 90 processes." }, "90 processes"],
    [{ ended: "refused", reason: "No bwrap." }, "No bwrap."],
    [{ ended: "cancelled" }, "stopped"],
    [{ droppedBytes: 7 }, "7 bytes more"],
    [{ stdout: "all fine" }, "not a JSON object: `all fine`"],
    [{ stdout: "[1]" }, "not a JSON object"],
    [{ stdout: '{"decision":"maybe"}' }, "`maybe`"],
    [{ stdout: '{"decision":null}' }, "`null`"],
    [{ stdout: '{"note":3}' }, "`note`"],
    [{ stdout: '{"updatedInput":{}}' }, "`updatedInput`"],
  ];
  for (const [outcome, reason] of faults) {
    const verdict = readVerdict("pre-tool", ended(outcome), 1000);
    expect(verdict, reason).toEqual({ outcome: "fault", reason: expect.stringContaining(reason) });
  }
});

test("reasons and notes are bounded and have nothing invisible in them", () => {
  const verdict = answered({ decision: "block", reason: `\u202E${"x".repeat(100_000)}` });
  expect(verdict).toEqual({ outcome: "block", reason: `${"x".repeat(2000)}…` });
});

test("no output makes anything but a verdict", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (stdout) => {
      expect(["allow", "block", "fault"]).toContain(
        readVerdict("post-tool", ended({ stdout }), 1000).outcome,
      );
    }),
  );
});
