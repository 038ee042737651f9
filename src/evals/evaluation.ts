/** What is asked of an evaluation, and what it answers. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { GivenModel } from "../model/given-model.ts";
import type { RunRequest } from "../run/run-request.ts";
import type { Skill } from "../skill/skill.ts";
import type { ArmName } from "./arms.ts";
import type { Benchmark } from "./benchmark.ts";
import type { IterationFolder } from "./iteration-folder.ts";
import type { RecordingChoice } from "./recordings.ts";
import type { SpendingLimits } from "./spending.ts";

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
  readonly fault?: string;
}

export interface Evaluation {
  readonly benchmark: Benchmark;
  readonly iteration: IterationFolder;
  readonly diagnostics: readonly Diagnostic[];
  /** Runs and gradings that did not work: they say nothing about the skill. */
  readonly errors: number;
  /** Which limit ended it early, as a sentence. */
  readonly stopped?: string;
  readonly cancelled: boolean;
}
