/**
 * The vocabulary of evaluations: what is asked (tasks for a skill with what must be true afterwards, and requests for it),
 * how it is decided, and what comes of it (`benchmark.json`).
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { RunRequest } from "@metier/run";
import type { GivenModel } from "@metier/run/model";
import type { Skill } from "@metier/skills";
import type { EvalCase } from "@metier/skills/formats";
import type { IterationFolder, RecordingChoice } from "./evaluation-files.ts";
import type { GradedAssertion } from "./grade/check-assertion.ts";
import type { SpendingLimits } from "./spending.ts";

/** The sides that are compared. */
export type ArmName = "with_skill" | "without_skill" | "old_skill";

export interface EvaluationOptions
  extends RecordingChoice,
    SpendingLimits,
    Pick<RunRequest, "approve" | "caller"> {
  readonly skill: Skill;
  /** An older version to compare with, in place of no skill. */
  readonly baseline?: Skill;
  /** Ids or names; default: all. */
  readonly only?: readonly string[];
  /** Of each eval on each side. Default: 1, and for a replay as many as were recorded. */
  readonly runs?: number;
  /** How many runs at the same time. Default: 2. */
  readonly concurrency?: number;
  readonly model?: string | GivenModel;
  /** Default: the model that is evaluated. */
  readonly graderModel?: string | GivenModel;
  /** Steps of one run. Default: the config's. */
  readonly maxIterations?: number;
  /** Where iterations are kept: `<skill>-workspace`. */
  readonly workspace: string;
  onProgress?(progress: EvalProgress): void;
}

export interface EvalProgress {
  readonly eval: string;
  readonly arm: ArmName;
  readonly run: number;
  readonly done: number;
  readonly total: number;
  readonly passed: number;
  readonly assertions: number;
  readonly seconds: number;
  readonly tokens: number;
  /** Assertions that could not be graded. */
  readonly ungraded: number;
  /** The time is that of the recording. */
  readonly replayed: boolean;
  readonly cost?: number | undefined;
  readonly fault?: string | undefined;
}

export interface Evaluation {
  readonly benchmark: Benchmark;
  readonly iteration: IterationFolder;
  /** What was asked for. */
  readonly evals: readonly EvalCase[];
  readonly diagnostics: readonly Diagnostic[];
  /** Runs and gradings that did not work: they say nothing about the skill. */
  readonly errors: number;
  /** Which limit ended it early, as a sentence. */
  readonly stopped?: string | undefined;
  readonly cancelled: boolean;
}

export interface Spread {
  readonly mean: number;
  /** Of a sample, so that few runs do not look certain; 0 for one run. */
  readonly stddev: number;
  readonly min: number;
  readonly max: number;
}

export interface AssertionCounts {
  readonly passed: number;
  readonly failed: number;
  /** Those that were decided. */
  readonly total: number;
  readonly pass_rate: number;
  /** Assertions that could not be graded: they count neither way. Absent: none. */
  readonly ungraded?: number | undefined;
}

export interface ArmSummary {
  /** Over the runs that could be graded. */
  readonly pass_rate: Spread;
  readonly time_seconds: Spread;
  readonly tokens: Spread;
  /** Assertions that could not be graded. Absent: none. */
  readonly ungraded?: number | undefined;
  /** Absent: no price is known. */
  readonly cost?: Spread | undefined;
}

export interface ArmDifference {
  readonly pass_rate: number;
  readonly time_seconds: number;
  readonly tokens: number;
  readonly cost?: number | undefined;
}

export interface Benchmark {
  readonly metadata: BenchmarkMetadata;
  readonly runs: readonly BenchmarkRun[];
  /** By arm, and `delta`: the first arm less the second. */
  readonly run_summary: { readonly [arm in ArmName]?: ArmSummary } & {
    readonly delta?: ArmDifference | undefined;
  };
  readonly notes: readonly string[];
  /** Absent for the first iteration. */
  readonly previous?: IterationComparison | undefined;
}

/** The tested skill's results beside those of an earlier iteration, over the evals that both have. */
export interface IterationComparison {
  /** The earlier one. */
  readonly iteration: number;
  readonly timestamp: string;
  /** Byte for byte: then a difference is chance. */
  readonly same_skill: boolean;
  readonly same_model: boolean;
  readonly pass_rate: { readonly before: number; readonly after: number };
  readonly evals_compared: number;
  readonly changed: readonly {
    readonly eval_id: string;
    readonly eval_name: string;
    readonly before: number;
    readonly after: number;
  }[];
}

export interface BenchmarkMetadata {
  readonly skill_name: string;
  readonly skill_path: string;
  /** The content identity of the skill: what was evaluated, byte for byte. */
  readonly skill_digest?: string | undefined;
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
  readonly result: AssertionCounts & {
    readonly time_seconds: number;
    readonly tokens: number;
    /** Absent: no price is known. */
    readonly cost?: number | undefined;
    readonly tool_calls: number;
    readonly errors: number;
  };
  readonly expectations: readonly (Pick<GradedAssertion, "text" | "passed" | "evidence"> & {
    /** It could not be graded; `passed` says nothing then. */
    readonly ungraded?: true | undefined;
  })[];
  readonly notes: readonly string[];
  /** Paths below the iteration's folder: the answer, then the files that the run made. */
  readonly outputs: readonly string[];
}
