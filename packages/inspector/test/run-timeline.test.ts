/** A run's events become spans for the waterfall, and moments become places. */
import { expect, test } from "vitest";
import { buildScale } from "../src/page/run/time-scale.ts";
import { buildTimeline, measure, type TimelineSpan } from "../src/page/run/timeline.ts";
import { CHILD_EVENTS, longRun, RUN_EVENTS, writeEvents } from "./support/answers-runs.ts";

const HOUR_MS = 3_600_000;

function lengths(spans: readonly TimelineSpan[]): readonly (readonly [string, string, number])[] {
  return spans.map(({ kind, label, begin, end = Number.NaN }) => [kind, label, end - begin]);
}

test("model calls, tools, waits, hooks and capability calls have a begin and an end", () => {
  const spans = lengths(buildTimeline(RUN_EVENTS));
  expect(spans).toContainEqual(["model", "Model", 3_000]);
  expect(spans).toContainEqual(["tool", "bash", 1_000]);
  expect(spans).toContainEqual(["approval", "Approval of bash", HOUR_MS + 4]);
  expect(spans).toContainEqual(["hook", "PreToolUse", 4]);
  expect(spans).toContainEqual(["capability", "shop.prices.list", 210]);
});

test("what a child did stands below it, and the child ends with its own last event", () => {
  const spans = buildTimeline(RUN_EVENTS, new Map([["child1", CHILD_EVENTS]]));
  const at = spans.findIndex(({ kind }) => kind === "child");
  expect(spans[at]).toMatchObject({
    label: "summarize-text",
    depth: 0,
    end: Date.parse(CHILD_EVENTS.at(-1)?.at ?? ""),
  });
  expect(spans[at + 1]).toMatchObject({ kind: "model", runId: "child1", depth: 2 });
});

test("a child that names itself as its child ends nothing", () => {
  const loop = writeEvents("loop", [[0, { type: "child-started", childRunId: "loop", skill: "x" }]]);
  expect(buildTimeline(loop, new Map([["loop", loop]])).length).toBeLessThan(5);
});

test("what goes on has no end, and the end of a run ends everything", () => {
  const begun = writeEvents("r", [
    [0, { type: "model-called", step: 1 }],
    [10, { type: "child-started", childRunId: "c", skill: "x" }],
  ]);
  expect(buildTimeline(begun).map(({ end }) => end)).toEqual([undefined, undefined]);
  const ended = writeEvents("r", [
    [0, { type: "model-called", step: 1 }],
    [50, { type: "run-finished", status: "cancelled" }],
  ]);
  expect(lengths(buildTimeline(ended))).toEqual([["model", "Model", 50]]);
});

test("nobody at work is a span of its own, unless a person was waited for", () => {
  const parked = writeEvents("r", [
    [0, { type: "model-called", step: 1 }],
    [20, { type: "model-retried", step: 1 }],
    [5_000, { type: "run-resumed" }],
    [10, { type: "model-called", step: 1 }],
    [30, { type: "model-answered", step: 1 }],
  ]);
  expect(lengths(buildTimeline(parked))).toEqual([
    ["model", "Model", 20],
    ["parked", "Parked", 5_000],
    ["model", "Model", 30],
  ]);
  expect(buildTimeline(RUN_EVENTS).some(({ kind }) => kind === "parked")).toBe(false);
});

test("waiting time is counted once, however many questions wait", () => {
  const spans = buildTimeline(
    writeEvents("r", [
      [0, { type: "approval-asked", step: 1, callId: "a", questionId: "1" }],
      [10, { type: "approval-asked", step: 1, callId: "b", questionId: "2" }],
      [90, { type: "approval-answered", step: 1, callId: "a", questionId: "1", status: "approved" }],
    ]),
  );
  const from = spans[0]?.begin ?? 0;
  expect(measure(spans, from + 150).waitedMs).toBe(150);
});

test("a wait of an hour leaves room for the seconds beside it, and is marked", () => {
  const spans = buildTimeline(RUN_EVENTS);
  const range = measure(spans, 0);
  const scale = buildScale(spans, range, 0, false);
  expect(scale.cuts).toHaveLength(1);
  const model = spans[0];
  expect(scale.place(model?.end ?? 0) - scale.place(model?.begin ?? 0)).toBeGreaterThan(0.2);
  expect(scale.place(range.from)).toBe(0);
  expect(scale.place(range.to)).toBeCloseTo(1);
  const whole = buildScale(spans, range, 0, true);
  expect(whole.cuts).toEqual([]);
  expect(whole.place(model?.end ?? 0)).toBeLessThan(0.01);
});

test("places never go back in time, and are found for moments outside", () => {
  const { events } = longRun(40);
  const spans = buildTimeline(events);
  const now = (spans.at(-1)?.begin ?? 0) + 1_000;
  const scale = buildScale(spans, measure(spans, now), now, false);
  const places = spans.map(({ begin }) => scale.place(begin));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(scale.place(0)).toBe(0);
  expect(scale.place(now + HOUR_MS)).toBeCloseTo(1);
});
