/**
 * Where the runs of an evaluation are recorded, one file each, and replayed from: `DIR/<eval>/<arm>/run-1.jsonl`. A
 * replay needs no model, so a recorded evaluation runs anywhere.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "@metier/base/errors";
import { writeAtomic } from "@metier/base/files";
import { presentFields } from "@metier/base/json";
import { fitShape, listShape, textShape } from "@metier/base/shape";
import { showNames } from "@metier/base/text";
import { copyWorkFiles } from "@metier/run";
import { readRecording } from "@metier/run/events";
import type { GivenModel } from "@metier/run/model";
import { type EvalCase, readJsonFile } from "@metier/skills/formats";
import { countErrors, countResults, type GradedRun } from "./benchmark.ts";

export interface RecordingChoice {
  /** A folder for recordings; created if missing. */
  readonly record?: string;
  /** A folder of recordings that replace a model. */
  readonly replay?: string;
}

/** A run's options for its model and recording. */
export interface RecordingRequest {
  readonly model?: string | GivenModel;
  readonly record?: string;
}

interface RecordedFacts {
  /** The model that answered. */
  readonly model: string;
  readonly durationMs: number;
}

export interface Recordings {
  readonly isReplay: boolean;
  /** `path` is the file without its extension. Throws `UsageError` if a recording to replay is missing. */
  requestFor(path: readonly string[], model?: string | GivenModel): RecordingRequest;
  /** The recorded run; `undefined` if nothing is replayed. */
  describe(path: readonly string[]): RecordedFacts | undefined;
  /** How many `run-N` are recorded in `path`. */
  countRuns(path: readonly string[]): number;
  /** The skills to choose from: recorded, so that a replay offers the same ones even if others exist. */
  chooseFrom(path: readonly string[], names: readonly string[]): readonly string[];
}

export function openRecordings({ record, replay }: RecordingChoice): Recordings {
  if (record !== undefined && replay !== undefined) {
    throw new UsageError("`record` and `replay` can't be used together.", {
      hint: "Record with a model first, then replay the recording.",
    });
  }
  if (replay !== undefined) return openReplays(resolve(replay));
  const fileOf = (path: readonly string[]): string => join(resolve(record ?? ""), ...path);
  return {
    isReplay: false,
    requestFor(path, model) {
      if (record === undefined) return presentFields({ model });
      const file = `${fileOf(path)}.jsonl`;
      mkdirSync(dirname(file), { recursive: true });
      return presentFields({ model, record: file });
    },
    describe: () => undefined,
    countRuns: () => 0,
    chooseFrom(path, names) {
      if (record !== undefined) writeAtomic(join(fileOf(path), NAMES_FILE), `${JSON.stringify(names)}\n`);
      return names;
    },
  };
}

function openReplays(folder: string): Recordings {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`No recordings at \`${folder}\`: it is not a folder.`, {
      hint: RECORD_FIRST,
    });
  }
  const fileOf = (path: readonly string[]): string => `${join(folder, ...path)}.jsonl`;
  return {
    isReplay: true,
    requestFor(path) {
      const file = fileOf(path);
      if (!existsSync(file)) {
        throw new UsageError(`\`${file}\` does not exist: this run was not recorded.`, {
          hint: RECORD_FIRST,
        });
      }
      return { model: `replay:${file}` };
    },
    describe: (path) => readFacts(fileOf(path)),
    countRuns(path) {
      const parent = join(folder, ...path);
      if (!existsSync(parent)) return 0;
      return readdirSync(parent).filter((name) => /^run-\d+\.jsonl$/.test(name)).length;
    },
    chooseFrom(path, names) {
      const recorded = readNames(join(folder, ...path, NAMES_FILE)) ?? names;
      const missing = recorded.filter((name) => !names.includes(name));
      if (missing.length === 0) return recorded;
      throw new UsageError(`The recording used the skill ${showNames(missing)}, which is missing now.`, {
        hint: "Make it usable, or record again.",
      });
    },
  };
}

/** Next to the recordings of the choices. */
const NAMES_FILE = "skills.json";

function readNames(file: string): readonly string[] | undefined {
  if (!existsSync(file)) return undefined;
  const read = readJsonFile(file);
  const names = read.ok ? fitShape(listShape(textShape), read.value.value) : undefined;
  if (names !== undefined) return names;
  throw new UsageError(`\`${file}\` is not a list of names.`, { hint: RECORD_FIRST });
}

function readFacts(file: string): RecordedFacts | undefined {
  const recording = readRecording(file);
  const [start] = recording.ok ? recording.events : [];
  if (!recording.ok || start?.type !== "run-started") return undefined;
  const end = recording.events.find((event) => event.type === "run-finished" && event.runId === start.runId);
  return { model: start.model, durationMs: end?.type === "run-finished" ? end.durationMs : 0 };
}

const RECORD_FIRST =
  "Record them with a model: the same command with `--record <folder>` instead of `--replay`.";

/** Turns a text into a recording's name: readable, and different for each text. */
export function recordingName(text: string): string {
  const words = text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 8);
  return `${words.replace(/^-+/, "").slice(0, 40)}-${digest}`.replace(/-+/g, "-");
}

// Where results are kept: `<skill>-workspace/iteration-N/<eval>/<arm>/{outputs/,timing.json,grading.json}`. With
// several runs, each has a folder `run-N`, and the files of the arm sum them up.

export interface IterationFolder {
  readonly path: string;
  readonly number: number;
}

/** The next iteration; existing ones stay as they are. */
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

/** What one run left, copied while its workspace still exists; with its new location. */
export function writeRun(
  iteration: IterationFolder,
  run: Omit<GradedRun, "outputs">,
  { runs, isReplay }: { readonly runs: number; readonly isReplay: boolean },
): GradedRun {
  const { evalCase, arm, number } = run;
  const { workspace, files, answer } = run.run;
  const place = [evalCase.folder, arm, ...(runs === 1 ? [] : [`run-${number}`])];
  const outputs = join(iteration.path, ...place, "outputs");
  const paths = files.map(({ path }) => path);
  const answerName = chooseAnswerName(paths);
  mkdirSync(outputs, { recursive: true });
  if (workspace) copyWorkFiles(workspace.folder, outputs, files);
  writeFileSync(join(outputs, answerName), `${answer}\n`);
  const graded = {
    ...run,
    outputs: [answerName, ...paths].map((path) => [...place, "outputs", path].join("/")),
  };
  writeJson(join(outputs, "..", "timing.json"), timingOf([graded], isReplay));
  writeJson(join(outputs, "..", "grading.json"), gradingOf([graded]));
  return graded;
}

/** Sums up the runs of one eval after all have ended. */
export function writeEval(
  iteration: IterationFolder,
  evalCase: EvalCase,
  runs: readonly GradedRun[],
  isReplay: boolean,
): void {
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
    writeJson(join(folder, arm, "timing.json"), timingOf(own, isReplay));
    writeJson(join(folder, arm, "grading.json"), gradingOf(own));
  }
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

/** For several runs, the mean. */
function timingOf(runs: readonly GradedRun[], isReplay: boolean): object {
  const mean = (values: readonly number[]): number =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
  const duration = mean(runs.map(({ run }) => run.durationMs));
  return {
    total_tokens: mean(runs.map(({ run }) => run.tokens)),
    duration_ms: duration,
    total_duration_seconds: duration / 1000,
    runs: runs.length > 1 ? runs.length : undefined,
    replayed: isReplay || undefined,
  };
}

/**
 * Under both names that tools read. With several runs, an assertion passes if it passes in each run that could be
 * graded.
 */
function gradingOf(runs: readonly GradedRun[]): object {
  const [first] = runs;
  const results = (first?.evalCase.assertions ?? []).map(({ text }, index) => {
    const all = runs.flatMap(({ graded }) => graded[index] ?? []);
    const each = all.filter(({ isFault }) => !isFault);
    const passed = each.filter((result) => result.passed).length;
    const evidence =
      runs.length === 1 ? (all[0]?.evidence ?? "") : `Passed in ${passed} of ${each.length} runs.`;
    const ungraded = (all.length > 0 && each.length === 0) || undefined;
    return { text, passed: each.length > 0 && passed === each.length, evidence, ungraded };
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
