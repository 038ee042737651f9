/**
 * `metier eval`: every eval of a skill, with the skill and without it (or with an older one), several times, graded, kept
 * and summed up. The order of steps; each step is a file of its own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Diagnostic } from "../foundation/diagnostic.ts";
import { realPathOr } from "../host/project-folders.ts";
import type { Skill } from "../skill/skill.ts";
import { identifyFolder } from "../trust/content-identity.ts";
import { type Arm, bareArm, type OpenMetier, skillArm } from "./arms.ts";
import { buildBenchmark, countErrors, countResults, type GradedRun } from "./benchmark.ts";
import { carryOutRun, gradingName, nameOf, type PlannedRun } from "./carry-out-run.ts";
import { chooseEvals } from "./choose-evals.ts";
import type { EvalCase } from "./eval-set.ts";
import type { Evaluation, EvaluationOptions } from "./evaluation.ts";
import { inParallel } from "./in-parallel.ts";
import { makeIteration, writeBenchmark, writeEval } from "./iteration-folder.ts";
import { requireModel } from "./model-choice.ts";
import { openRecordings, type Recordings } from "./recordings.ts";
import { renderEvalReport } from "./report/eval-report.ts";
import { createSpending } from "./spending.ts";

/** Throws `UsageError` when there is nothing to evaluate, and `MetierError` when there is no model. */
export async function evaluateSkill(open: OpenMetier, options: EvaluationOptions): Promise<Evaluation> {
  const { skill, baseline, workspace } = options;
  const { evals, diagnostics } = chooseEvals(options);
  const recordings = openRecordings(options);
  const temporary = realPathOr(mkdtempSync(join(tmpdir(), "metier-eval-")));
  const spending = createSpending(options);
  try {
    const tested = skillArm("with_skill", skill);
    const arms = [tested, baseline ? skillArm("old_skill", baseline) : bareArm(temporary, tested.trust)];
    const choice = await requireModel(open, arms, { ...options, isReplay: recordings.isReplay }, temporary);
    const runs = options.runs ?? recordedRuns(recordings, evals, tested);
    const plan = planRuns(evals, arms, runs);
    if (recordings.isReplay) for (const order of plan) recordings.requestFor(nameOf(order));
    const iteration = makeIteration(workspace);
    const progress = createProgress(options, plan.length);
    const work = {
      open,
      options,
      tested,
      runs,
      recordings,
      temporary,
      spending,
      choice,
      iteration,
      progress,
    };
    const answers = await inParallel(plan, options.concurrency ?? DEFAULT_CONCURRENCY, (order) =>
      spending.signal.aborted ? Promise.resolve(undefined) : carryOutRun(order, work),
    );
    const graded = answers.filter((answer) => answer !== undefined);
    for (const evalCase of evals) {
      writeEval(
        iteration,
        evalCase,
        graded.filter((run) => run.evalCase === evalCase),
      );
    }
    const digest = identifyFolder(skill.directory);
    const benchmark = buildBenchmark(
      {
        skill_name: skill.name,
        skill_path: skill.directory,
        ...(digest.ok && { skill_digest: digest.identity.digest }),
        executor_model: choice.model ?? graded[0]?.run.model ?? "",
        analyzer_model: choice.grader ?? recordedGrader(recordings, evals, tested),
        timestamp: new Date().toISOString(),
        evals_run: evals.map(({ id }) => id),
        runs_per_configuration: runs,
        replayed: recordings.isReplay,
      },
      arms.map(({ name }) => name),
      graded,
    );
    writeBenchmark(iteration, benchmark, renderEvalReport(benchmark, evals));
    const stopped = spending.reached();
    return {
      benchmark,
      iteration,
      diagnostics: [...diagnostics, ...reportDenied(graded, skill)],
      errors: graded.reduce((sum, run) => sum + countErrors(run), 0),
      cancelled: spending.isCancelled(),
      ...(stopped !== undefined && { stopped }),
    };
  } finally {
    spending.end();
    rmSync(temporary, { recursive: true, force: true });
  }
}

const DEFAULT_CONCURRENCY = 2;

function recordedRuns(recordings: Recordings, [first]: readonly EvalCase[], { name }: Arm): number {
  return recordings.countRuns([first?.folder ?? "", name]) || 1;
}

function recordedGrader(recordings: Recordings, evals: readonly EvalCase[], { name }: Arm): string {
  const names = evals.map(({ folder }) => gradingName([folder, name, "run-1"], 1));
  return names.map((path) => recordings.describe(path)?.model).find((model) => model !== undefined) ?? "";
}

/** Both sides of an eval next to each other: what is stopped early still compares. */
function planRuns(evals: readonly EvalCase[], arms: readonly Arm[], runs: number): readonly PlannedRun[] {
  return evals.flatMap((evalCase) =>
    Array.from({ length: runs }, (_, index) => index + 1).flatMap((number) =>
      arms.map((arm) => ({ evalCase, arm, number })),
    ),
  );
}

function createProgress({ onProgress }: EvaluationOptions, total: number): (graded: GradedRun) => void {
  let done = 0;
  return ({ evalCase, arm, number, run, graded }) => {
    done += 1;
    const { passed, total: assertions } = countResults(graded);
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
      ...(run.fault !== undefined && { fault: run.fault }),
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
      message: `${denied.length} tool calls were not allowed (${tools}), so the results may be worse than they could be.`,
      hint: "`--approve` answers yes to questions about tools; what the config denies stays denied.",
    },
  ];
}
