/**
 * `metier eval`: runs every eval of a skill with the skill and without it (or with an older one), several times, then
 * grades, keeps and sums up the results.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { presentFields } from "@metier/base/json";
import { realPathOr } from "@metier/base/places";
import { mapBounded } from "@metier/base/turns";
import type { Skill } from "@metier/skills";
import { chooseEvals, type EvalCase } from "@metier/skills/formats";
import { identifyFolder } from "@metier/skills/trust";
import { buildBenchmark, countErrors, countResults, type GradedRun } from "./benchmark.ts";
import { compareWithEarlier } from "./compare-iterations.ts";
import type { Benchmark, Evaluation, EvaluationOptions } from "./evaluation.ts";
import {
  type IterationFolder,
  makeIteration,
  openRecordings,
  type Recordings,
  writeEval,
  writeJson,
  writeRun,
} from "./evaluation-files.ts";
import { gradeRun } from "./grade/grade-run.ts";
import { type Arm, bareArm, type OpenMetier, runEval, skillArm } from "./run-eval.ts";
import { createSpending, type EvalModels, requireModel, type Spending } from "./spending.ts";

/** What the runs of one evaluation share. */
interface Evaluating {
  readonly open: OpenMetier;
  readonly options: EvaluationOptions;
  readonly evals: readonly EvalCase[];
  /** The skill under test first. */
  readonly arms: readonly [Arm, Arm];
  readonly runs: number;
  readonly recordings: Recordings;
  readonly temporary: string;
  readonly spending: Spending;
  readonly models: EvalModels;
  readonly iteration: IterationFolder;
}

const DEFAULT_CONCURRENCY = 2;

/** Throws `UsageError` if there is nothing to evaluate, and `MetierError` if there is no model. */
export async function evaluateSkill(open: OpenMetier, options: EvaluationOptions): Promise<Evaluation> {
  const { skill, baseline, concurrency = DEFAULT_CONCURRENCY } = options;
  const { evals, diagnostics } = chooseEvals(options);
  const recordings = openRecordings(options);
  const temporary = realPathOr(mkdtempSync(join(tmpdir(), "metier-eval-")));
  const spending = createSpending(options);
  try {
    const tested = skillArm("with_skill", skill);
    const other = baseline ? skillArm("old_skill", baseline) : bareArm(temporary, tested.trust);
    const arms = [tested, other] as const;
    const wishes = { ...options, isReplay: recordings.isReplay };
    const models = await requireModel(open, arms, wishes, temporary);
    const recorded = recordings.countRuns([evals[0]?.folder ?? "", tested.name]);
    const runs = options.runs ?? (recorded || 1);
    const plan = planRuns(evals, arms, runs);
    if (recordings.isReplay) for (const order of plan) recordings.requestFor(nameOf(order));
    const iteration = makeIteration(options.workspace);
    const work = { open, options, evals, arms, runs, recordings, temporary, spending, models, iteration };
    const tell = createProgress(options, plan.length, recordings.isReplay);
    const answers = await mapBounded(plan, concurrency, async (order) => {
      const graded = spending.signal.aborted ? undefined : await carryOutRun(order, work);
      if (graded) tell(graded);
      return graded;
    });
    const graded = answers.filter((answer) => answer !== undefined);
    return {
      benchmark: keepResults(work, graded),
      iteration,
      evals,
      diagnostics: [...diagnostics, ...reportDenied(graded, skill)],
      errors: graded.reduce((sum, run) => sum + countErrors(run), 0),
      cancelled: spending.isCancelled(),
      stopped: spending.reached(),
    };
  } finally {
    spending.end();
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Sums up the runs, and writes the summary next to them. */
function keepResults(work: Evaluating, graded: readonly GradedRun[]): Benchmark {
  const { options, evals, arms, runs, recordings, models, iteration } = work;
  for (const evalCase of evals) {
    writeEval(
      iteration,
      evalCase,
      graded.filter((run) => run.evalCase === evalCase),
      recordings.isReplay,
    );
  }
  const { name, directory } = options.skill;
  const digest = identifyFolder(directory);
  const built = buildBenchmark(
    {
      skill_name: name,
      skill_path: directory,
      skill_digest: digest.ok ? digest.value.digest : undefined,
      executor_model: models.model ?? graded[0]?.run.model ?? "",
      analyzer_model: models.grader ?? recordedGrader(recordings, evals, arms[0]),
      timestamp: new Date().toISOString(),
      evals_run: evals.map(({ id }) => id),
      runs_per_configuration: runs,
      replayed: recordings.isReplay,
    },
    arms.map((arm) => arm.name),
    graded,
  );
  const benchmark = { ...built, previous: compareWithEarlier(iteration, built) };
  writeJson(join(iteration.path, "benchmark.json"), benchmark);
  return benchmark;
}

function recordedGrader(recordings: Recordings, evals: readonly EvalCase[], { name }: Arm): string {
  const names = evals.map(({ folder }) => gradingName([folder, name, "run-1"], 1));
  return names.map((path) => recordings.describe(path)?.model).find((model) => model !== undefined) ?? "";
}

/** Both arms of an eval run next to each other, so an evaluation that is stopped early can still be compared. */
function planRuns(evals: readonly EvalCase[], arms: readonly Arm[], runs: number): readonly PlannedEvalRun[] {
  return evals.flatMap((evalCase) =>
    Array.from({ length: runs }, (_, index) => index + 1).flatMap((number) =>
      arms.map((arm) => ({ evalCase, arm, number })),
    ),
  );
}

function createProgress(
  { onProgress }: EvaluationOptions,
  total: number,
  replayed: boolean,
): (graded: GradedRun) => void {
  let done = 0;
  return ({ evalCase, arm, number, run, graded }) => {
    done += 1;
    const { passed, total: assertions, ungraded = 0 } = countResults(graded);
    onProgress?.({
      eval: evalCase.name,
      arm,
      run: number,
      done,
      total,
      passed,
      assertions,
      seconds: run.durationMs / 1000,
      tokens: run.tokens,
      ungraded,
      replayed,
      cost: run.cost,
      fault: run.fault,
    });
  };
}

function reportDenied(runs: readonly GradedRun[], { location }: Skill): readonly Diagnostic[] {
  const denied = runs.flatMap(({ run }) => run.denied);
  if (denied.length === 0) return [];
  const tools = [...new Set(denied.map(({ tool }) => `\`${tool}\``))].sort().join(", ");
  return [
    {
      code: "eval.calls-denied",
      severity: "warning",
      path: location,
      message: `${denied.length} tool calls were denied (${tools}), so results may be worse than they could be.`,
      hint: "Pass `--approve` to answer yes to tool questions; what the config denies stays denied.",
    },
  ];
}

type PlannedEvalRun = Pick<GradedRun, "evalCase" | "number"> & { readonly arm: Arm };

/** The name of its recording and its folder. */
function nameOf({ evalCase, arm, number }: PlannedEvalRun): readonly string[] {
  return [evalCase.folder, arm.name, `run-${number}`];
}

/** The name of the grader's recording. */
function gradingName(name: readonly string[], attempt: number): readonly string[] {
  const last = `${name.at(-1)}.grading${attempt === 1 ? "" : `-${attempt}`}`;
  return [...name.slice(0, -1), last];
}

/** `undefined` for a run that was stopped: half a run says nothing about a skill. */
async function carryOutRun(
  { evalCase, arm, number }: PlannedEvalRun,
  work: Evaluating,
): Promise<GradedRun | undefined> {
  const { open, options, arms, recordings, spending } = work;
  const [tested] = arms;
  const name = nameOf({ evalCase, arm, number });
  const folder = join(work.temporary, ...name);
  const { approve, caller, maxIterations, model, graderModel = model } = options;
  const run = await runEval({
    open,
    arm,
    evalCase,
    skillDirectory: tested.directory,
    folder,
    request: presentFields({
      ...recordings.requestFor(name, model),
      approve,
      caller,
      limits: maxIterations === undefined ? undefined : { maxIterations },
      signal: spending.signal,
    }),
    onEvent: (event) => spending.note(event),
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
    onEvent: (event) => spending.note(event),
  });
  if (spending.signal.aborted) return undefined;
  const told = { ...run, ...recordings.describe(name) }; // A replay takes no time, so the recorded time counts.
  const kept = { runs: work.runs, isReplay: recordings.isReplay };
  const result = writeRun(work.iteration, { evalCase, arm: arm.name, number, run: told, graded }, kept);
  rmSync(folder, { recursive: true, force: true });
  return result;
}
