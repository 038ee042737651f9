/** What runs say together has the form that other tools read. */
import type { EvalCase } from "@metier/skills/formats";
import { expect, test } from "vitest";
import { buildBenchmark, type GradedRun } from "../src/benchmark.ts";
import type { BenchmarkMetadata } from "../src/evaluation.ts";

const METADATA: BenchmarkMetadata = {
  skill_name: "greet",
  skill_path: "greet",
  executor_model: "greet",
  analyzer_model: "greet",
  timestamp: "2026-01-01T00:00:00.000Z",
  evals_run: ["1"],
  runs_per_configuration: 1,
  replayed: false,
};

const CASE: EvalCase = {
  id: "greet",
  name: "greet",
  folder: "eval-1",
  prompt: "greet",
  expectedOutput: "greet",
  files: [],
  assertions: [{ text: "greet", check: { kind: "model" } }],
};

function run(arm: GradedRun["arm"], passed: boolean): GradedRun {
  return {
    evalCase: CASE,
    arm,
    number: 1,
    run: {
      answer: "greet",
      files: [],
      model: "greet",
      tokens: 100,
      durationMs: 1500,
      toolCalls: { greet: 2 },
      denied: [{ tool: "greet", reason: "greet" }],
      isStopped: false,
    },
    graded: [{ text: "greet", passed, evidence: "greet" }],
    outputs: [`eval-1/${arm}/outputs/answer.md`, `eval-1/${arm}/outputs/${"greet"}`],
  };
}

const BENCHMARK = buildBenchmark(
  METADATA,
  ["with_skill", "without_skill"],
  [run("with_skill", true), run("without_skill", false)],
);

test("a benchmark has the form that other tools read", () => {
  expect(BENCHMARK.run_summary).toEqual({
    with_skill: {
      pass_rate: { mean: 1, stddev: 0, min: 1, max: 1 },
      time_seconds: { mean: 1.5, stddev: 0, min: 1.5, max: 1.5 },
      tokens: { mean: 100, stddev: 0, min: 100, max: 100 },
    },
    without_skill: {
      pass_rate: { mean: 0, stddev: 0, min: 0, max: 0 },
      time_seconds: { mean: 1.5, stddev: 0, min: 1.5, max: 1.5 },
      tokens: { mean: 100, stddev: 0, min: 100, max: 100 },
    },
    delta: { pass_rate: 1, time_seconds: 0, tokens: 0 },
  });
  expect(BENCHMARK.runs[0]).toMatchObject({
    configuration: "with_skill",
    run_number: 1,
    result: {
      pass_rate: 1,
      passed: 1,
      failed: 0,
      total: 1,
      time_seconds: 1.5,
      tokens: 100,
      tool_calls: 2,
      errors: 0,
    },
  });
});
