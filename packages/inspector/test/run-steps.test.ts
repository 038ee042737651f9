/** A run's events become steps: who said what, who decided by which rule, what it cost. */
import { expect, test } from "vitest";
import { buildSteps, problemsOf, workedMs } from "../src/page/run/steps.ts";
import { RUN_EVENTS, text, usage, writeEvents } from "./support/answers-runs.ts";

test("each step has its text, its calls with decision and rule, and the running sum", () => {
  const steps = buildSteps(RUN_EVENTS);
  expect(steps.map(({ number }) => number)).toEqual([1, 2, 3]);
  const [first, second, third] = steps;
  expect(first?.text).toContain("I look at the prices first.");
  expect(first?.calls).toMatchObject([
    { tool: "bash", decision: "approved", rule: "approved by grace", isError: false },
  ]);
  expect(second?.calls.map(({ tool, decision }) => [tool, decision])).toEqual([
    ["use_skill", "allow"],
    ["write_file", "deny"],
  ]);
  expect(third?.sum.tokens).toBe(7_620);
  expect(third?.sum.cost).toBeCloseTo(0.0278);
});

test("an approval has who answered it, and the time it waited is not time of the step", () => {
  const [first] = buildSteps(RUN_EVENTS);
  expect(first?.calls[0]?.approvals).toMatchObject([
    { status: "approved", by: "grace", rule: "tools.ask: Bash(curl *)" },
  ]);
  expect(first && workedMs(first)).toBeLessThan(10_000);
});

test("what a step holds besides calls stands in it: hooks, retries, capabilities, started runs", () => {
  const [first, second] = buildSteps(RUN_EVENTS);
  expect(first?.hooks).toMatchObject([{ hook: "PreToolUse", outcome: "allow" }]);
  expect(first?.retries).toMatchObject([{ attempt: 2, delayMs: 500 }]);
  expect(first?.capabilities).toMatchObject([{ name: "shop.prices.list", account: "work", outcome: "ok" }]);
  expect(second?.children).toEqual([{ id: "child1", skill: "summarize-text" }]);
});

test("problems are told in short: retries, denied and failed calls, hooks that did not allow", () => {
  const problems = buildSteps(RUN_EVENTS).map(problemsOf);
  expect(problems).toEqual([
    ["Model called again (attempt 2): 429 Too many requests"],
    ["write_file denied: outside of the work folder"],
    ["Hook Stop: fault The hook took longer than 5 s."],
  ]);
});

test("a step that goes on is there before its answer, and calls before anybody has decided", () => {
  const open = buildSteps(writeEvents("r", [[0, { type: "model-called", step: 1 }]]));
  expect(open).toMatchObject([{ number: 1, isAnswered: false, calls: [] }]);
  const parts = [text("x"), { type: "tool-call", callId: "a", tool: "bash", input: { command: "ls" } }];
  const asked = buildSteps(
    writeEvents("r", [[0, { type: "model-answered", step: 1, parts, usage: usage(1, 2) }]]),
  );
  expect(asked[0]?.calls).toMatchObject([{ tool: "bash", input: { command: "ls" } }]);
  expect(asked[0]?.calls[0]?.decision).toBeUndefined();
});

test("events of a newer server and broken ones are passed over", () => {
  const steps = buildSteps(
    writeEvents("r", [
      [0, { type: "something-new", step: 1, parts: 3 }],
      [0, { type: "model-answered", step: 1, parts: "no list", usage: null }],
      [0, { type: "tool-finished", step: 1 }],
    ]),
  );
  expect(steps).toHaveLength(1);
});
