/** One run of a plan: run, graded, written down. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Arm, OpenMetier } from "./arms.ts";
import type { GradedRun } from "./benchmark.ts";
import type { EvalCase } from "./eval-set.ts";
import type { EvaluationOptions } from "./evaluation.ts";
import { gradeRun } from "./grade/grade-run.ts";
import { type IterationFolder, writeRun } from "./iteration-folder.ts";
import type { ModelChoice } from "./model-choice.ts";
import type { Recordings } from "./recordings.ts";
import { runEval } from "./run-eval.ts";
import type { Spending } from "./spending.ts";

export interface PlannedRun {
  readonly evalCase: EvalCase;
  readonly arm: Arm;
  readonly number: number;
}

/** Of its recording, and of its folder. */
export function nameOf({ evalCase, arm, number }: PlannedRun): readonly string[] {
  return [evalCase.folder, arm.name, `run-${number}`];
}

/** Of the recording of who grades it. */
export function gradingName(name: readonly string[], attempt: number): readonly string[] {
  const last = `${name.at(-1)}.grading${attempt === 1 ? "" : `-${attempt}`}`;
  return [...name.slice(0, -1), last];
}

/** What the runs of one evaluation share. */
export interface Evaluating {
  readonly open: OpenMetier;
  readonly options: EvaluationOptions;
  readonly tested: Arm;
  readonly runs: number;
  readonly recordings: Recordings;
  readonly temporary: string;
  readonly spending: Spending;
  readonly choice: ModelChoice;
  readonly iteration: IterationFolder;
  progress(graded: GradedRun): void;
}

/** `undefined` for a run that was stopped: half a run says nothing about a skill. */
export async function carryOutRun(
  { evalCase, arm, number }: PlannedRun,
  work: Evaluating,
): Promise<GradedRun | undefined> {
  const { open, options, tested, recordings, spending, choice } = work;
  const name = nameOf({ evalCase, arm, number });
  const folder = join(work.temporary, ...name);
  const { approve, caller, maxIterations, model, graderModel = model } = options;
  const run = await runEval({
    open,
    arm,
    evalCase,
    skillDirectory: tested.directory,
    folder,
    request: {
      ...recordings.requestFor(name, model),
      ...(approve && { approve }),
      ...(caller && { caller }),
      ...(maxIterations !== undefined && { limits: { maxIterations } }),
      signal: spending.signal,
    },
    onEvent: (event) => spending.note(event, choice.pricing(arm)),
  });
  if (run.isStopped) return undefined;
  const graded = await gradeRun({
    open,
    skill: tested,
    evalCase,
    run,
    folder,
    graderRequest: (attempt) => recordings.requestFor(gradingName(name, attempt), graderModel),
    signal: spending.signal,
    onEvent: (event) => spending.note(event, choice.graderPricing),
  });
  if (spending.signal.aborted) return undefined;
  const told = { ...run, ...recordings.describe(name) }; // A replay takes no time: what it took then counts.
  const result: GradedRun = { evalCase, arm: arm.name, number, run: told, graded };
  writeRun(work.iteration, result, work.runs);
  rmSync(folder, { recursive: true, force: true });
  work.progress(result);
  return result;
}
