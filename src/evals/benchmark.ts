/**
 * What all runs of an evaluation say together, in the words other tools read (`benchmark.json`): each run, mean and spread
 * on each side, the difference, and what is worth knowing about the evals themselves. Pure.
 */
import type { ArmName } from "./arms.ts";
import type { EvalCase } from "./eval-set.ts";
import type { GradedAssertion } from "./grade/graded.ts";
import type { EvalRun } from "./run-eval.ts";
import { describeSpread, difference, rate, type Spread } from "./statistics.ts";

/** One run, graded. */
export interface GradedRun {
  readonly evalCase: EvalCase;
  readonly arm: ArmName;
  readonly number: number;
  readonly run: EvalRun;
  readonly graded: readonly GradedAssertion[];
}

export interface RunCounts {
  readonly passed: number;
  readonly failed: number;
  readonly total: number;
  readonly pass_rate: number;
}

export interface ArmSummary {
  readonly pass_rate: Spread;
  readonly time_seconds: Spread;
  readonly tokens: Spread;
}

export interface Difference {
  readonly pass_rate: number;
  readonly time_seconds: number;
  readonly tokens: number;
}

export interface Benchmark {
  readonly metadata: BenchmarkMetadata;
  readonly runs: readonly BenchmarkRun[];
  /** By arm, and `delta`: the first arm less the second. */
  readonly run_summary: { readonly [arm in ArmName]?: ArmSummary } & { readonly delta?: Difference };
  readonly notes: readonly string[];
}

export interface BenchmarkMetadata {
  readonly skill_name: string;
  readonly skill_path: string;
  /** The content identity of the skill: what was evaluated, byte for byte. */
  readonly skill_digest?: string;
  readonly executor_model: string;
  readonly analyzer_model: string;
  readonly timestamp: string;
  readonly evals_run: readonly string[];
  readonly runs_per_configuration: number;
  /** Recorded runs were replayed: times and tokens are those of the recording. */
  readonly replayed: boolean;
}

export interface BenchmarkRun {
  readonly eval_id: string | number;
  readonly eval_name: string;
  readonly configuration: ArmName;
  readonly run_number: number;
  readonly result: RunCounts & {
    readonly time_seconds: number;
    readonly tokens: number;
    readonly tool_calls: number;
    readonly errors: number;
  };
  readonly expectations: readonly Pick<GradedAssertion, "text" | "passed" | "evidence">[];
  readonly notes: readonly string[];
}

export function buildBenchmark(
  metadata: BenchmarkMetadata,
  arms: readonly ArmName[],
  runs: readonly GradedRun[],
): Benchmark {
  const summaries = arms.map((arm) => summariseArm(runs.filter((run) => run.arm === arm)));
  const [first, second] = summaries;
  const delta = first && second && describeDifference(first, second);
  return {
    metadata,
    runs: runs.map(describeRun),
    run_summary: {
      ...Object.fromEntries(arms.map((arm, index) => [arm, summaries[index]])),
      ...(delta && { delta }),
    },
    notes: describeEvals(arms, runs),
  };
}

export function countResults(graded: readonly GradedAssertion[]): RunCounts {
  const passed = graded.filter((result) => result.passed).length;
  const total = graded.length;
  return { passed, failed: total - passed, total, pass_rate: rate(passed, total) };
}

export function countErrors({ run, graded }: Pick<GradedRun, "run" | "graded">): number {
  return (run.fault === undefined ? 0 : 1) + graded.filter(({ isFault }) => isFault).length;
}

function summariseArm(runs: readonly GradedRun[]): ArmSummary {
  const graded = runs.filter((run) => run.graded.length > 0);
  return {
    pass_rate: describeSpread(graded.map((run) => countResults(run.graded).pass_rate)),
    time_seconds: describeSpread(runs.map(({ run }) => run.durationMs / 1000)),
    tokens: describeSpread(runs.map(({ run }) => run.tokens)),
  };
}

function describeDifference(first: ArmSummary, second: ArmSummary): Difference {
  return {
    pass_rate: difference(first.pass_rate, second.pass_rate),
    time_seconds: difference(first.time_seconds, second.time_seconds),
    tokens: difference(first.tokens, second.tokens),
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
      tool_calls: calls,
      errors: countErrors(graded),
    },
    expectations: graded.graded.map(({ text, passed, evidence }) => ({ text, passed, evidence })),
    notes: [
      ...(run.fault === undefined ? [] : [run.fault]),
      ...run.denied.map(({ tool, reason }) => `\`${tool}\` was not allowed: ${reason}.`),
    ],
  };
}

/** A spread from which on an eval says little by a single run. */
const LARGE_SPREAD = 0.3;

/** What someone who writes evals wants to hear: which of them tell nothing. */
function describeEvals(arms: readonly ArmName[], runs: readonly GradedRun[]): readonly string[] {
  const notes: string[] = [];
  for (const [evalCase, own] of Map.groupBy(runs, (run) => run.evalCase)) {
    if (own.some((run) => countErrors(run) > 0)) continue; // What failed is the news, and says nothing about the eval.
    for (const [index, { text }] of evalCase.assertions.entries()) {
      const results = own.flatMap(({ graded }) => graded[index] ?? []);
      const said = `${evalCase.name}: "${text}"`;
      if (arms.length > 1 && results.length > 1 && results.every(({ passed }) => passed)) {
        notes.push(`${said} holds on every side: it does not tell them apart.`);
      }
      if (results.length > 0 && results.every(({ passed }) => !passed)) {
        notes.push(`${said} never holds: it may ask for something that cannot be seen.`);
      }
    }
    for (const arm of arms) {
      const rates = own.filter((run) => run.arm === arm).map(({ graded }) => countResults(graded).pass_rate);
      const { mean, stddev } = describeSpread(rates);
      if (stddev >= LARGE_SPREAD) {
        notes.push(
          `${evalCase.name}: results of ${arm} vary much (${mean} ± ${stddev}); more runs say more.`,
        );
      }
    }
  }
  return notes;
}
