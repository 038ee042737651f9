/**
 * Where an evaluation is kept: `<skill>-workspace/iteration-N/<eval>/<arm>/{outputs/,timing.json,grading.json}`. With
 * several runs each has a folder `run-N`, and the files of the arm sum them up.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeAtomic } from "../host/write-atomic.ts";
import { copyWorkFiles } from "../run/copy-work-files.ts";
import { type Benchmark, countErrors, countResults, type GradedRun } from "./benchmark.ts";
import type { EvalCase } from "./eval-set.ts";

export interface IterationFolder {
  readonly path: string;
  readonly number: number;
}

/** The next one: those that are there stay as they are. */
export function makeIteration(workspace: string): IterationFolder {
  mkdirSync(workspace, { recursive: true });
  const numbers = readdirSync(workspace).map((name) => Number(/^iteration-(\d{1,6})$/.exec(name)?.[1] ?? 0));
  for (let number = Math.max(0, ...numbers) + 1; ; number++) {
    const path = join(workspace, `iteration-${number}`);
    try {
      mkdirSync(path);
      return { path, number };
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== "EEXIST") throw fault; // Another evaluation was faster.
    }
  }
}

/** What one run left, while its workspace is still there. */
export function writeRun(iteration: IterationFolder, graded: GradedRun, runs: number): void {
  const { evalCase, arm, number, run } = graded;
  const armFolder = join(iteration.path, evalCase.folder, arm);
  const folder = runs === 1 ? armFolder : join(armFolder, `run-${number}`);
  const outputs = join(folder, "outputs");
  mkdirSync(outputs, { recursive: true });
  if (run.workspace) copyWorkFiles(run.workspace.folder, outputs, run.files);
  writeFileSync(join(outputs, chooseAnswerName(run.files.map(({ path }) => path))), `${run.answer}\n`);
  writeJson(join(folder, "timing.json"), timingOf([graded]));
  writeJson(join(folder, "grading.json"), gradingOf([graded]));
}

/** What the runs of one eval say together, once all have ended. */
export function writeEval(iteration: IterationFolder, evalCase: EvalCase, runs: readonly GradedRun[]): void {
  const folder = join(iteration.path, evalCase.folder);
  mkdirSync(folder, { recursive: true });
  writeJson(join(folder, "eval_metadata.json"), {
    eval_id: evalCase.id,
    eval_name: evalCase.name,
    prompt: evalCase.prompt,
    assertions: evalCase.assertions.map(({ text }) => text),
  });
  for (const [arm, own] of Map.groupBy(runs, (run) => run.arm)) {
    if (own.length < 2) continue;
    writeJson(join(folder, arm, "timing.json"), timingOf(own));
    writeJson(join(folder, arm, "grading.json"), gradingOf(own));
  }
}

export function writeBenchmark(iteration: IterationFolder, benchmark: Benchmark, page: string): void {
  writeJson(join(iteration.path, "benchmark.json"), benchmark);
  writeAtomic(join(iteration.path, "report.html"), page, { mode: 0o644 });
}

export function writeJson(file: string, value: unknown): void {
  writeAtomic(file, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o644 });
}

/** The answer is an output like the files; a file of the run keeps its name. */
function chooseAnswerName(taken: readonly string[]): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? "answer.md" : `answer-${number}.md`;
    if (!taken.includes(name)) return name;
  }
}

/** Of several runs the mean. */
function timingOf(runs: readonly GradedRun[]): object {
  const mean = (values: readonly number[]): number =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
  const duration = mean(runs.map(({ run }) => run.durationMs));
  return {
    total_tokens: mean(runs.map(({ run }) => run.tokens)),
    duration_ms: duration,
    total_duration_seconds: duration / 1000,
    ...(runs.length > 1 && { runs: runs.length }),
  };
}

/** Under both names that tools read. Of several runs an assertion holds when it holds in each. */
function gradingOf(runs: readonly GradedRun[]): object {
  const [first] = runs;
  const results = (first?.evalCase.assertions ?? []).map(({ text }, index) => {
    const each = runs.flatMap(({ graded }) => graded[index] ?? []);
    const passed = each.filter((result) => result.passed).length;
    const evidence =
      runs.length === 1 ? (each[0]?.evidence ?? "") : `It held in ${passed} of ${each.length} runs.`;
    return { text, passed: each.length > 0 && passed === each.length, evidence };
  });
  const toolCalls: Record<string, number> = {};
  for (const { run } of runs) {
    for (const [tool, count] of Object.entries(run.toolCalls)) {
      toolCalls[tool] = (toolCalls[tool] ?? 0) + count;
    }
  }
  return {
    assertion_results: results,
    expectations: results,
    summary: countResults(runs.flatMap(({ graded }) => graded)),
    execution_metrics: {
      tool_calls: toolCalls,
      total_tool_calls: Object.values(toolCalls).reduce((sum, count) => sum + count, 0),
      errors_encountered: runs.reduce((sum, run) => sum + countErrors(run), 0),
      output_chars: runs.reduce((sum, { run }) => sum + run.answer.length, 0),
    },
  };
}
