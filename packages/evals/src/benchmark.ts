/**
 * Sums up all runs of an evaluation in the format other tools read (`benchmark.json`): each run, mean and spread per
 * arm, the difference, and notes on the evals themselves. Pure.
 */
import type { EvalCase } from "@metier/skills/formats";
import type {
  ArmDifference,
  ArmName,
  ArmSummary,
  AssertionCounts,
  Benchmark,
  BenchmarkMetadata,
  BenchmarkRun,
  Spread,
} from "./evaluation.ts";
import type { GradedAssertion } from "./grade/check-assertion.ts";
import type { EvalRun } from "./run-eval.ts";

/** One graded run. */
export interface GradedRun {
  readonly evalCase: EvalCase;
  readonly arm: ArmName;
  readonly number: number;
  readonly run: EvalRun;
  readonly graded: readonly GradedAssertion[];
  /** Where its answer and files are kept, relative to the iteration's folder. */
  readonly outputs: readonly string[];
}

export function buildBenchmark(
  metadata: BenchmarkMetadata,
  arms: readonly ArmName[],
  runs: readonly GradedRun[],
): Benchmark {
  const summaries = arms.map((arm) => summariseArm(runs.filter((run) => run.arm === arm)));
  const [first, second] = summaries;
  const delta =
    first && second && isComparable(first, second) ? describeDifference(first, second) : undefined;
  return {
    metadata,
    runs: runs.map(describeRun),
    run_summary: { ...Object.fromEntries(arms.map((arm, index) => [arm, summaries[index]])), delta },
    notes: describeEvals(arms, runs),
  };
}

/** What couldn't be graded counts neither for nor against the skill. */
export function countResults(graded: readonly GradedAssertion[]): AssertionCounts {
  const decided = graded.filter(({ isFault }) => !isFault);
  const passed = decided.filter((result) => result.passed).length;
  const total = decided.length;
  const ungraded = graded.length - total || undefined;
  return { passed, failed: total - passed, total, pass_rate: rate(passed, total), ungraded };
}

/** A failed run is one error, no matter how many assertions it has. */
export function countErrors({ run, graded }: Pick<GradedRun, "run" | "graded">): number {
  return run.fault === undefined ? graded.filter(({ isFault }) => isFault).length : 1;
}

function summariseArm(runs: readonly GradedRun[]): ArmSummary {
  const counts = runs.map(({ graded }) => countResults(graded));
  const ungraded = runs.map(({ run, graded }) =>
    run.fault === undefined ? countResults(graded).ungraded : 0,
  );
  return {
    pass_rate: describeSpread(counts.filter(({ total }) => total > 0).map(({ pass_rate }) => pass_rate)),
    time_seconds: describeSpread(runs.map(({ run }) => run.durationMs / 1000)),
    tokens: describeSpread(runs.map(({ run }) => run.tokens)),
    ungraded: sum(ungraded.map((number = 0) => number)) || undefined,
    cost: spreadOfCost(runs),
  };
}

function spreadOfCost(runs: readonly GradedRun[]): Spread | undefined {
  const costs = runs.flatMap(({ run }) => run.cost ?? []);
  return costs.length === 0 ? undefined : describeSpread(costs);
}

/** An arm where nothing could be graded has no pass rate to compare. */
function isComparable(...sides: readonly ArmSummary[]): boolean {
  const graded = sides.filter(({ pass_rate }) => pass_rate !== NOTHING).length;
  return graded === 0 || graded === sides.length;
}

function describeDifference(first: ArmSummary, second: ArmSummary): ArmDifference {
  return {
    pass_rate: difference(first.pass_rate, second.pass_rate),
    time_seconds: difference(first.time_seconds, second.time_seconds),
    tokens: difference(first.tokens, second.tokens),
    cost: first.cost && second.cost && difference(first.cost, second.cost),
  };
}

function describeRun(graded: GradedRun): BenchmarkRun {
  const { evalCase, arm, number, run } = graded;
  const calls = Object.values(run.toolCalls).reduce((sum, count) => sum + count, 0);
  return {
    eval_id: /^\d{1,9}$/.test(evalCase.id) ? Number(evalCase.id) : evalCase.id,
    eval_name: evalCase.name,
    configuration: arm,
    run_number: number,
    result: {
      ...countResults(graded.graded),
      time_seconds: run.durationMs / 1000,
      tokens: run.tokens,
      cost: run.cost,
      tool_calls: calls,
      errors: countErrors(graded),
    },
    expectations: graded.graded.map(({ text, passed, evidence, isFault }) => ({
      text,
      passed,
      evidence,
      ungraded: isFault || undefined,
    })),
    notes: [
      ...(run.fault === undefined ? [] : [run.fault]),
      ...run.denied.map(({ tool, reason }) => `\`${tool}\` was denied: ${reason}.`),
    ],
    outputs: graded.outputs,
  };
}

/** At this spread, a single run of an eval says little. */
const LARGE_SPREAD = 0.3;

const BOTH: Readonly<Record<ArmName, string>> = {
  with_skill: "on both sides",
  without_skill: "with and without the skill",
  old_skill: "with the old skill and the new one",
};

/** Notes for eval authors: which evals measure nothing. */
function describeEvals(arms: readonly ArmName[], runs: readonly GradedRun[]): readonly string[] {
  const notes: string[] = [];
  for (const [evalCase, own] of Map.groupBy(runs, (run) => run.evalCase)) {
    if (own.some((run) => countErrors(run) > 0)) continue; // A failure is reported as such, and says nothing about the eval.
    for (const [index, { text }] of evalCase.assertions.entries()) {
      const results = own.flatMap(({ graded }) => graded[index] ?? []);
      const said = `${evalCase.name}: "${text}"`;
      if (arms.length > 1 && results.length > 1 && results.every(({ passed }) => passed)) {
        notes.push(`${said} passes ${BOTH[arms[1] ?? "without_skill"]}, so it measures nothing.`);
      }
      if (results.length > 0 && results.every(({ passed }) => !passed)) {
        notes.push(`${said} never passes. Check that the answer or a file can show it.`);
      }
    }
    for (const arm of arms) {
      const rates = own.filter((run) => run.arm === arm).map(({ graded }) => countResults(graded).pass_rate);
      const { mean, stddev } = describeSpread(rates);
      if (stddev >= LARGE_SPREAD) {
        notes.push(`${evalCase.name}: results ${arm} vary (${mean} ± ${stddev}). Use more runs: \`--runs\`.`);
      }
    }
  }
  return notes;
}

// Mean, spread and difference of measurements.

const NOTHING: Spread = { mean: 0, stddev: 0, min: 0, max: 0 };

export function describeSpread(values: readonly number[]): Spread {
  if (values.length === 0) return NOTHING;
  const mean = sum(values) / values.length;
  const squares = sum(values.map((value) => (value - mean) ** 2));
  return {
    mean: round(mean),
    stddev: round(values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1))),
    min: round(Math.min(...values)),
    max: round(Math.max(...values)),
  };
}

export function difference(a: Spread, b: Spread): number {
  return round(a.mean - b.mean);
}

/** Parts of a whole; 0 if the whole is 0. */
export function rate(part: number, whole: number): number {
  return whole === 0 ? 0 : round(part / whole);
}

/** To four places: the rest is noise, and would make equal results look different. */
function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
