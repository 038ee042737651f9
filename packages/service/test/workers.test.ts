/** Workers on each store, and what is counted of runs. */
import type { RunEvent, RunEventBody } from "@metier/run/events";
import { describe, expect, test } from "vitest";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { createRunMetrics } from "../src/http/run-metrics.ts";
import { workerSuite } from "./suites/worker-suite.ts";
import { openService } from "./support/open-service.ts";
import { openPostgresStores } from "./support/postgres-stores.ts";

describe("on SQLite", () => workerSuite(openService));

describeWithPostgres("on Postgres", () =>
  workerSuite((options) => openService({ openStores: openPostgresStores, ...options })),
);

test("events of runs become step times, tokens, cost and ends", () => {
  const metrics = createRunMetrics();
  const take = (body: RunEventBody) =>
    metrics.take({ v: 1, runId: "run-1", seq: 1, at: "2026-11-17T08:00:00.000Z", ...body } as RunEvent);
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const answered = { type: "model-answered", step: 1, parts: [], finishReason: "stop", usage } as const;
  take({ ...answered, cost: 0.25, durationMs: 700 });
  take({ ...answered, durationMs: 90_000 });
  take({ type: "tool-finished", step: 1, callId: "a", tool: "x", text: "", isError: false, durationMs: 40 });
  take({ type: "run-finished", status: "completed", text: "", iterations: 1, usage, durationMs: 1 });
  const lines = metrics.lines();
  expect(lines).toEqual(
    expect.arrayContaining([
      'metier_step_seconds_bucket{kind="model",le="0.5"} 0',
      'metier_step_seconds_bucket{kind="model",le="1"} 1',
      'metier_step_seconds_count{kind="model"} 2',
      'metier_step_seconds_bucket{kind="tool",le="0.1"} 1',
      'metier_tokens_total{direction="input"} 20',
      'metier_tokens_total{direction="output"} 10',
      "metier_cost_total 0.25",
      'metier_runs_ended_total{status="completed"} 1',
      'metier_runs_ended_total{status="failed"} 0',
    ]),
  );
});
