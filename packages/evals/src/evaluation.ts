/**
 * The types of evaluations: tasks and requests for a skill with their assertions, how they are decided, and the
 * results (`benchmark.json`).
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { RunRequest } from "@metier/run";
import type { GivenModel } from "@metier/run/model";
import type { Skill } from "@metier/skills";
import type { EvalCase } from "@metier/skills/formats";
import type { IterationFolder, RecordingChoice } from "./evaluation-files.ts";
import type { GradedAssertion } from "./grade/check-assertion.ts";
import type { SpendingLimits } from "./spending.ts";

/** The arms to compare. */
export type ArmName = "with_skill" | "without_skill" | "old_skill";

export interface EvaluationOptions
  extends RecordingChoice,
    SpendingLimits,
    Pick<RunRequest, "approve" | "caller"> {
  readonly skill: Skill;
  /** An older version to compare with, instead of no skill. */
  readonly baseline?: Skill;
  /** Ids or names; default: all. */
  readonly only?: readonly string[];
  /** Runs of each eval in each arm. Default: 1, or as many as were recorded for a replay. */
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
  /** The time comes from the recording. */
  readonly replayed: boolean;
  readonly cost?: number | undefined;
  readonly fault?: string | undefined;
}

export interface Evaluation {
  readonly benchmark: Benchmark;
  readonly iteration: IterationFolder;
  /** The requested evals. */
  readonly evals: readonly EvalCase[];
  readonly diagnostics: readonly Diagnostic[];
  /** Failed runs and gradings: they say nothing about the skill. */
  readonly errors: number;
  /** Which limit ended it early, as a sentence. */
  readonly stopped?: string | undefined;
  readonly cancelled: boolean;
}

export interface Spread {
  readonly mean: number;
  /** Standard deviation of a sample, so that few runs don't look certain; 0 for one run. */
  readonly stddev: number;
  readonly min: number;
  readonly max: number;
}

export interface AssertionCounts {
  readonly passed: number;
  readonly failed: number;
  /** Assertions that were decided. */
  readonly total: number;
  readonly pass_rate: number;
  /** Assertions that could not be graded: they count neither way. Absent if none. */
  readonly ungraded?: number | undefined;
}

export interface ArmSummary {
  /** Over the runs that could be graded. */
  readonly pass_rate: Spread;
  readonly time_seconds: Spread;
  readonly tokens: Spread;
  /** Assertions that could not be graded. Absent if none. */
  readonly ungraded?: number | undefined;
  /** Absent if no price is known. */
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
  /** By arm, and `delta`: the first arm minus the second. */
  readonly run_summary: { readonly [arm in ArmName]?: ArmSummary } & {
    readonly delta?: ArmDifference | undefined;
  };
  readonly notes: readonly string[];
  /** Absent for the first iteration. */
  readonly previous?: IterationComparison | undefined;
}

/** The tested skill's results compared with an earlier iteration, over the evals that both have. */
export interface IterationComparison {
  /** The earlier one. */
  readonly iteration: number;
  readonly timestamp: string;
  /** Byte for byte the same, so a difference is chance. */
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
  /** The skill's content identity: exactly what was evaluated. */
  readonly skill_digest?: string | undefined;
  readonly executor_model: string;
  readonly analyzer_model: string;
  readonly timestamp: string;
  readonly evals_run: readonly string[];
  readonly runs_per_configuration: number;
  /** Recorded runs were replayed: times and tokens come from the recording. */
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
    /** Absent if no price is known. */
    readonly cost?: number | undefined;
    readonly tool_calls: number;
    readonly errors: number;
  };
  readonly expectations: readonly (Pick<GradedAssertion, "text" | "passed" | "evidence"> & {
    /** It could not be graded; ignore `passed`. */
    readonly ungraded?: true | undefined;
  })[];
  readonly notes: readonly string[];
  /** Paths relative to the iteration's folder: the answer, then the files that the run made. */
  readonly outputs: readonly string[];
}
