import { mkdirSync, writeFileSync } from "node:fs";
import { metierPlaces, type Places } from "@metier/base/places";
import { describe, expect, test } from "vitest";
import { FINISHED, SAMPLE_RUN, STARTED, stamped } from "../../../../test/support/sample-run.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import {
  countRuns,
  listRuns,
  type RunSummary,
  removeOldRuns,
  removeRuns,
  tidyRuns,
} from "../../src/events/kept-runs.ts";
import { createRunId, openRunLog, runFolder } from "../../src/events/run-log.ts";
import { addToView, EMPTY_RUN_VIEW, viewRun } from "../../src/events/run-view.ts";

describe("the view of a run", () => {
  test("is made from its events", () => {
    expect(viewRun(stamped(SAMPLE_RUN))).toMatchObject({
      skill: "research",
      state: "completed",
      startedAt: "2026-01-01T00:00:00.000Z",
      iterations: 2,
      usage: { totalTokens: 30 },
      text: "All done.",
      steps: [
        {
          step: 1,
          text: "Let me look.",
          calls: [{ tool: "bash", input: { command: "ls" }, state: "done", text: "a\nb", durationMs: 20 }],
        },
        { step: 2, text: "All done.", calls: [] },
      ],
    });
  });

  test("is the same from a log as it was live", () => {
    const live = stamped(SAMPLE_RUN);
    const stored = live.filter(({ type }) => type !== "text-delta");
    expect(viewRun(stored)).toEqual(viewRun(live));
  });

  test("shows a step while it is written, and forgets what a failed attempt wrote", () => {
    const bodies = SAMPLE_RUN.slice(0, 4);
    const half = viewRun(stamped(bodies));
    expect(half).toMatchObject({ state: "unfinished", steps: [{ text: "Let me look." }] });
    const retried = { type: "model-retried", step: 1, attempt: 1, delayMs: 5, reason: "429" } as const;
    const [event] = stamped([retried]);
    if (!event) throw new Error("no event");
    expect(addToView(half, event).steps).toMatchObject([
      { text: "", retries: [{ attempt: 1, reason: "429" }] },
    ]);
    expect(half.steps).toMatchObject([{ text: "Let me look.", retries: [] }]);
  });

  test("tells denied, failed and running calls apart", () => {
    const call = (callId: string, decision: "allow" | "deny") =>
      ({ type: "tool-called", step: 1, callId, tool: "bash", input: {}, decision, rule: "r" }) as const;
    const end = (callId: string) =>
      ({
        type: "tool-finished",
        step: 1,
        callId,
        tool: "bash",
        text: "no",
        isError: true,
        durationMs: 1,
      }) as const;
    const view = viewRun(
      stamped([call("a", "deny"), end("a"), call("b", "allow"), end("b"), call("c", "allow")]),
    );
    expect(view.steps[0]?.calls.map(({ state }) => state)).toEqual(["denied", "failed", "running"]);
  });

  test("keeps notes, children, the limit and the fault", () => {
    const view = viewRun(
      stamped([
        { type: "child-started", childRunId: "b", skill: "inner" },
        { type: "diagnostic", code: "x", message: "y" },
        { type: "limit-reached", limit: "tokens", message: "1000 of 1000 tokens" },
        { ...FINISHED, status: "limited", limit: "tokens", error: { code: "z", message: "zz" } },
      ]),
    );
    expect(view).toMatchObject({
      state: "limited",
      children: [{ runId: "b", skill: "inner" }],
      diagnostics: [{ code: "x", message: "y" }],
      limit: { limit: "tokens", message: "1000 of 1000 tokens" },
      error: { code: "z" },
    });
  });
});

/** Writes a run that began then. */
function keepRun(places: Places, at: number, bodies: Parameters<typeof stamped>[0]): string {
  const runId = createRunId(at);
  const log = openRunLog(places, runId);
  for (const event of stamped(bodies, runId)) log.write(event);
  log.close?.();
  return runId;
}

describe("the runs that are kept", () => {
  test("are listed newest first, also those that did not end or cannot be read", () => {
    const places = metierPlaces(temporaryFolder());
    expect(listRuns(places)).toEqual([]);
    const done = keepRun(places, 1000, SAMPLE_RUN);
    const cut = keepRun(places, 2000, [STARTED]);
    const empty = createRunId(3000);
    mkdirSync(runFolder(places, empty).folder);
    mkdirSync(`${places.runs}/not a run`);
    const runs = listRuns(places);
    expect(runs.map(({ runId }) => runId)).toEqual([empty, cut, done]);
    expect(runs.map(({ state }) => state)).toEqual(["unreadable", "unfinished", "completed"]);
    expect(runs[2]).toMatchObject({
      skill: "research",
      model: "scripted/test",
      iterations: 2,
      usage: { totalTokens: 30 },
      durationMs: 1500,
    });
    expect(runs[0]?.startedAt).toBe("1970-01-01T00:00:03.000Z");
  });

  test("are removed after thirty days, with their work folder", () => {
    const places = metierPlaces(temporaryFolder());
    const day = 86_400_000;
    const now = Date.UTC(2026, 5, 1);
    const old = keepRun(places, now - 31 * day, SAMPLE_RUN);
    const young = keepRun(places, now - 29 * day, SAMPLE_RUN);
    const { work } = runFolder(places, old);
    mkdirSync(work);
    writeFileSync(`${work}/file`, "x");
    expect(removeOldRuns(places, undefined, now)).toEqual({ removed: [old], diagnostics: [] });
    expect(listRuns(places).map(({ runId }) => runId)).toEqual([young]);
    expect(removeRuns(places, [young]).removed).toEqual([young]);
    expect(listRuns(places)).toEqual([]);
  });

  test("are looked through for old ones once an hour, whoever starts a run", () => {
    const places = metierPlaces(temporaryFolder());
    const hour = 3_600_000;
    const now = Date.UTC(2026, 5, 1);
    const left = (): readonly string[] => listRuns(places).map(({ runId }) => runId);
    keepRun(places, 1000, SAMPLE_RUN);
    tidyRuns(places, now);
    expect(left()).toEqual([]);
    const old = keepRun(places, 2000, SAMPLE_RUN);
    tidyRuns(places, now + hour - 1);
    expect(left()).toEqual([old]);
    tidyRuns(places, now + hour);
    expect(left()).toEqual([]);
  });

  verifies(204, "are counted by skill, with states, tokens and durations", () => {
    const summary = (skill: string, state: RunSummary["state"], durationMs?: number): RunSummary => ({
      runId: createRunId(),
      skill,
      state,
      startedAt: `2026-01-0${(durationMs ?? 0) % 9}`,
      iterations: 2,
      usage: { inputTokens: 3, outputTokens: 1, totalTokens: 4 },
      ...(durationMs !== undefined && { durationMs }),
    });
    const states = ["limited", "failed", "refused", "cancelled", "unfinished"] as const;
    const stats = countRuns([
      ...Array.from({ length: 20 }, (_, index) => summary("a", "completed", index + 1)),
      ...states.map((state) => summary("b", state)),
      summary("", "unreadable"),
    ]);
    expect(stats).toEqual([
      {
        ...{
          skill: "a",
          runs: 20,
          completed: 20,
          limited: 0,
          failed: 0,
          refused: 0,
          cancelled: 0,
          unfinished: 0,
        },
        iterations: 40,
        usage: { inputTokens: 60, outputTokens: 20, totalTokens: 80 },
        durationMs: { median: 10, p95: 19 },
        lastStartedAt: "2026-01-08",
      },
      {
        ...{
          skill: "b",
          runs: 5,
          completed: 0,
          limited: 1,
          failed: 1,
          refused: 1,
          cancelled: 1,
          unfinished: 1,
        },
        iterations: 10,
        usage: { inputTokens: 15, outputTokens: 5, totalTokens: 20 },
        lastStartedAt: "2026-01-00",
      },
    ]);
  });
});

test("nothing has happened before the first event", () => {
  expect(viewRun([])).toBe(EMPTY_RUN_VIEW);
});
