/** Capabilities in the product's memory: read back, shown, redacted, counted. */
import { createProgress, runText, statsText, styleFor } from "@metier/cli";
import {
  countRuns,
  parseEventLines,
  type RunEvent,
  type RunEventBody,
  redactEvent,
  viewRun,
} from "@metier/run/events";
import { createRedactor } from "@metier/sandbox/secrets";
import { expect, test } from "vitest";

type Of<Type extends RunEventBody["type"]> = Extract<RunEventBody, { type: Type }>;

const CALLED: Of<"capability-called"> = {
  type: "capability-called",
  step: 2,
  capability: "memo.notes",
  operation: "add",
  account: "acc-1",
  mutating: true,
  outcome: "capability_mutation_not_confirmed",
  requestId: "cap_0123456789abcdef",
  durationMs: 12,
};

const FINISHED: Of<"run-finished"> = {
  type: "run-finished",
  status: "completed",
  text: "Done.",
  iterations: 2,
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  durationMs: 20,
  capabilities: [{ capability: "memo.notes", operation: "add", calls: 3, failed: 1 }],
};

const PLAIN = styleFor(false);

function event(body: RunEventBody, seq: number): RunEvent {
  return { v: 1, runId: "r1", seq, at: "2025-01-02T03:04:05.000Z", ...body };
}

test("a call is part of its step, and all of them part of the run", () => {
  const lines = [event(CALLED, 1), event(FINISHED, 2)].map((line) => `${JSON.stringify(line)}\n`).join("");
  const { events, broken, unknown } = parseEventLines(lines);
  expect({ broken, unknown }).toEqual({ broken: 0, unknown: 0 });
  const view = viewRun(events);
  const { type: _, step: __, ...shown } = CALLED;
  expect(view.steps).toMatchObject([{ step: 2, capabilities: [shown] }]);
  expect(view.capabilities).toEqual(FINISHED.capabilities);
});

test("a call that is not whole is no event", () => {
  const { requestId: _, ...rest } = event(CALLED, 1) as Extract<RunEvent, { type: "capability-called" }>;
  expect(parseEventLines(`${JSON.stringify(rest)}\n`)).toMatchObject({ events: [], broken: 1 });
});

test("what a provider named passes the redaction gate, the outcome stays readable", () => {
  const redactor = createRedactor([{ name: "KEY", value: "acc-12345678" }]);
  const redacted = redactEvent({ ...CALLED, account: "acc-12345678" }, redactor);
  expect(redacted).toMatchObject({ account: "[redacted:KEY]", outcome: CALLED.outcome });
});

test("people see it while it runs and afterwards, on a line of its own", () => {
  const line = "memo.notes add as acc-1 (changes something): capability_mutation_not_confirmed";
  const lines: string[] = [];
  createProgress((text) => void lines.push(text), PLAIN)(event(CALLED, 1));
  expect(lines).toEqual([`  ${line}`]);
  const shown = runText(viewRun([event(CALLED, 1), event(FINISHED, 2)]), PLAIN);
  expect(shown).toContain(`  ${line}  12 ms`);
  expect(shown).toContain("memo.notes add 3× (1 not performed)");
});

test("statistics say how often a skill asked the host", () => {
  const run = {
    runId: "r1",
    skill: "mail",
    state: "completed",
    startedAt: "2025-01-02T03:04:05.000Z",
    iterations: 1,
    usage: FINISHED.usage,
    durationMs: 5,
  } as const;
  const stats = countRuns([{ ...run, capabilityCalls: 2 }, run, { ...run, capabilityCalls: 1 }]);
  expect(stats).toMatchObject([{ skill: "mail", capabilityCalls: 3 }]);
  expect(statsText(stats, PLAIN)).toMatch(/ {2}3 capability calls$/);
  expect(countRuns([run])[0]).not.toHaveProperty("capabilityCalls");
});
