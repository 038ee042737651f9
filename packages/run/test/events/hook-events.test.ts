/** Hooks and the use of the sandbox in the product's memory: read back, shown, redacted. */
import { createRedactor } from "@metier/sandbox/secrets";
import { expect, test } from "vitest";
import { parseEventLines } from "../../src/events/read-log.ts";
import type { RunEvent, RunEventBody } from "../../src/events/run-event.ts";
import { redactEvent } from "../../src/events/run-recorder.ts";
import { viewRun } from "../../src/events/run-view.ts";

const HOOK: RunEventBody = {
  type: "hook-finished",
  step: 2,
  hook: "pre-tool",
  tool: "bash",
  callId: "c1",
  outcome: "block",
  reason: "not with k-12345678",
  durationMs: 12,
};

const FINISHED: RunEventBody = {
  type: "run-finished",
  status: "completed",
  text: "Done.",
  iterations: 2,
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  durationMs: 20,
  sandbox: {
    backend: "bubblewrap",
    declared: { network: ["example.com"], read: [], write: ["./out"] },
    granted: { network: [], read: [], write: ["/p/out"] },
    used: { network: [], read: [], write: ["/p/out/a.md"] },
  },
};

function event(body: RunEventBody, seq: number): RunEvent {
  return { v: 1, runId: "r1", seq, at: "2025-01-02T03:04:05.000Z", ...body };
}

test("a hook is part of its step, and the use of the sandbox part of the run", () => {
  const lines = [event(HOOK, 1), event(FINISHED, 2)].map((line) => `${JSON.stringify(line)}\n`).join("");
  const { events, broken, unknown } = parseEventLines(lines);
  expect({ broken, unknown }).toEqual({ broken: 0, unknown: 0 });
  const view = viewRun(events);
  const { type: _, step: __, ...shown } = HOOK as Extract<RunEventBody, { type: "hook-finished" }>;
  expect(view.steps).toMatchObject([{ step: 2, hooks: [shown] }]);
  expect(view.sandbox).toEqual((FINISHED as Extract<RunEventBody, { type: "run-finished" }>).sandbox);
});

test("a hook that is not whole is no event", () => {
  const { outcome: _, ...rest } = event(HOOK, 1) as Extract<RunEvent, { type: "hook-finished" }>;
  expect(parseEventLines(`${JSON.stringify(rest)}\n`)).toMatchObject({ events: [], broken: 1 });
});

test("what a hook says passes the redaction gate, its outcome stays readable", () => {
  const redactor = createRedactor([
    { name: "KEY", value: "k-12345678" },
    { name: "ODD", value: "pre-tool" },
  ]);
  const redacted = redactEvent(HOOK, redactor);
  expect(redacted).toMatchObject({ hook: "pre-tool", outcome: "block" });
  expect(JSON.stringify(redacted)).not.toContain("k-12345678");
});
