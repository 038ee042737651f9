import type { Evaluation } from "@metier/evals";
import { expect, test } from "vitest";
import { evalText } from "../src/output/eval-text.ts";
import { styleFor } from "../src/output/style.ts";

const ZERO = { mean: 0, stddev: 0, min: 0, max: 0 };
const SUMMARY = { pass_rate: ZERO, time_seconds: ZERO, tokens: ZERO };

function run(more: object): Evaluation["benchmark"]["runs"][number] {
  const result = { passed: 0, failed: 0, total: 0, pass_rate: 0, time_seconds: 0, tokens: 0, tool_calls: 0 };
  const plain = { eval_id: 1, eval_name: "one", configuration: "with_skill" as const, run_number: 1 };
  return { ...plain, result: { ...result, errors: 1 }, expectations: [], notes: [], outputs: [], ...more };
}

test("[U7] a failed grading shows its own reason, apart from failed answers and failed runs", () => {
  const answered = run({
    result: { ...run({}).result, failed: 1, total: 1, ungraded: 1 },
    expectations: [
      { text: "It is polite", passed: false, evidence: "“Hey”" },
      { text: "It is short", passed: false, evidence: "The grader did not answer: 429", ungraded: true },
    ],
  });
  const failed = run({
    notes: ["The run failed: no network"],
    expectations: [{ text: "x", passed: false, evidence: "no network", ungraded: true }],
  });
  const benchmark = {
    metadata: { replayed: false },
    runs: [answered, failed],
    run_summary: { with_skill: SUMMARY, delta: { pass_rate: -0.001, time_seconds: -0.04, tokens: 0 } },
    notes: [],
  };
  const iteration = { path: "/w/iteration-1", number: 1 };
  const evaluation = {
    benchmark,
    iteration,
    diagnostics: [],
    errors: 2,
    cancelled: false,
  } as unknown as Evaluation;
  const text = evalText("greet", evaluation, undefined, styleFor(false));
  expect(text).toContain("1 run failed (not counted): The run failed: no network");
  expect(text).toContain("1 assertion not graded (not counted): The grader did not answer: 429");
  expect(text).not.toContain("Hey");
  expect(text).not.toMatch(/-0/);
});

test("[U7] a side on which nothing was graded has no rate", () => {
  const benchmark = {
    metadata: { replayed: false },
    runs: [run({})],
    run_summary: { with_skill: SUMMARY },
    notes: [],
  };
  const evaluation = { benchmark, iteration: { path: "/w", number: 1 } } as unknown as Evaluation;
  expect(evalText("greet", evaluation, undefined, styleFor(false))).toMatch(/with_skill +– /);
});
