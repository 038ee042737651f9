/**
 * Kept evaluations: `<skill>-workspace/iteration-N/benchmark.json`, next to skills or where `metier eval` was started.
 * The files may have been written by anyone: they are bounded, and read through the path gate.
 */
import { readdirSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { openContained, withContained } from "@metier/base/files";
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { compareText } from "@metier/base/text";
import { isText } from "@metier/skills";
import type { ApiEvalSummary, ApiEvalTask, ApiFileText, ApiIteration, ApiSpread } from "../api.ts";
import { boundText, MOST_TEXT_BYTES } from "./bounds.ts";

const MOST_BENCHMARK_BYTES = 8 * 1024 * 1024;
const MOST_WORKSPACES = 1_000;
const MOST_ITERATIONS = 500;
const MOST_TASKS = 500;
const MOST_PROMPT = 20_000;
const WORKSPACE = /^(.+)-workspace$/;
const ITERATION = /^iteration-(\d{1,6})$/;

interface EvalIterations {
  list(): readonly ApiEvalSummary[];
  /** `undefined`: there is none, or its file cannot be read. */
  read(skill: string, number: number): ApiIteration | undefined;
  /** A file below the iteration's folder. */
  output(skill: string, number: number, path: string): ApiFileText | undefined;
}

/** `folders`: where workspaces are searched. If two have the same name, the first wins. */
export function openIterations(folders: readonly string[]): EvalIterations {
  return {
    list() {
      const workspaces = [...findWorkspaces(folders)].sort(([a], [b]) => compareText(a, b));
      return workspaces.map(([skill, place]) => ({ skill, iterations: summarizeAll(place) }));
    },
    read(skill, number) {
      const place = findWorkspaces(folders).get(skill);
      const benchmark = place === undefined ? undefined : readBenchmark(place, number);
      const triggers = place === undefined ? undefined : readResults(place, number, "triggers.json");
      if (place === undefined || (benchmark === undefined && triggers === undefined)) return undefined;
      return {
        skill,
        number,
        ...(benchmark && { benchmark: withoutSkillPath(benchmark), evals: listTasks(place, number) }),
        ...(triggers && { triggers }),
      };
    },
    output(skill, number, path) {
      const place = findWorkspaces(folders).get(skill);
      const file =
        place === undefined ? undefined : readText(place, `iteration-${number}/${path}`, MOST_TEXT_BYTES);
      return file && { ...file, path };
    },
  };
}

/** By skill, the real path of its workspace. */
function findWorkspaces(folders: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const folder of folders) {
    for (const name of listFolders(folder)) {
      const skill = WORKSPACE.exec(name)?.[1];
      if (skill === undefined || found.has(skill) || found.size >= MOST_WORKSPACES) continue;
      found.set(skill, join(realOf(folder), name));
    }
  }
  return found;
}

/** Empty if the folder doesn't exist or can't be listed. */
function listFolders(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch {
    return []; // Most skills have no evaluations beside them.
  }
}

function realOf(folder: string): string {
  return realpathSync.native(folder);
}

type IterationSummary = ApiEvalSummary["iterations"][number];

/** Oldest first. */
function summarizeAll(workspace: string): readonly IterationSummary[] {
  const numbers = listFolders(workspace).flatMap((name) => Number(ITERATION.exec(name)?.[1] ?? Number.NaN));
  return numbers
    .filter((number) => !Number.isNaN(number))
    .sort((a, b) => a - b)
    .slice(-MOST_ITERATIONS)
    .flatMap((number) => {
      const benchmark = readBenchmark(workspace, number);
      return benchmark === undefined ? [] : [summarize(number, benchmark)];
    });
}

function summarize(number: number, { metadata, run_summary: summary, runs }: JsonObject): IterationSummary {
  const about = asObject(metadata);
  const arms = asObject(summary);
  const list = Array.isArray(runs) ? runs : [];
  const costs = list.flatMap((run) => numbersOf(asObject(asObject(run).result).cost));
  const digest = textOf(about.skill_digest);
  const baseline = readSpread(arms.without_skill) ?? readSpread(arms.old_skill);
  const ungraded = Object.values(arms).flatMap((arm) => numbersOf(asObject(arm).ungraded));
  return {
    number,
    at: textOf(about.timestamp) ?? "",
    model: textOf(about.executor_model) ?? "",
    ...(digest !== undefined && { digest }),
    runs: list.length,
    passRate: readSpread(arms.with_skill) ?? { mean: 0, stddev: 0 },
    ...(baseline && { baseline }),
    ...(costs.length > 0 && { cost: sum(costs) }),
    ungraded: sum(ungraded),
  };
}

function readSpread(arm: Json | undefined): ApiSpread | undefined {
  const { mean, stddev } = asObject(asObject(arm).pass_rate);
  return typeof mean === "number" ? { mean, stddev: typeof stddev === "number" ? stddev : 0 } : undefined;
}

function readBenchmark(workspace: string, number: number): JsonObject | undefined {
  return readResults(workspace, number, "benchmark.json");
}

/** What each eval asked for. */
function listTasks(workspace: string, number: number): readonly ApiEvalTask[] {
  const folders = listFolders(join(workspace, `iteration-${number}`)).slice(0, MOST_TASKS);
  return folders.flatMap((folder) => {
    const about = readResults(workspace, number, `${folder}/eval_metadata.json`);
    const { eval_id: id, eval_name: name, prompt } = about ?? {};
    if (typeof prompt !== "string") return [];
    return [
      { id: String(id ?? folder), name: textOf(name) ?? folder, prompt: boundText(prompt, MOST_PROMPT) },
    ];
  });
}

/** `undefined`: it is not there, or no JSON object. */
function readResults(workspace: string, number: number, path: string): JsonObject | undefined {
  const text = readText(workspace, `iteration-${number}/${path}`, MOST_BENCHMARK_BYTES);
  if (text?.text === undefined || text.isCut) return undefined;
  try {
    const value: unknown = JSON.parse(text.text);
    return isJsonObject(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined; // Someone is writing it, or it never was one.
  }
}

/** The skill's location means nothing to viewers. */
function withoutSkillPath(benchmark: JsonObject): JsonObject {
  const { skill_path: _, ...metadata } = asObject(benchmark.metadata);
  return { ...benchmark, metadata };
}

/** The beginning of a file below a folder, whose path is real. */
function readText(folder: string, path: string, most: number): ApiFileText | undefined {
  const read = withContained(openContained(folder, path), ({ descriptor, stats }) => {
    const size = Number(stats.size);
    const bytes = Buffer.alloc(Math.min(size, most));
    const length = readSync(descriptor, bytes, 0, bytes.length, 0);
    const seen = bytes.subarray(0, length);
    const text = seen.includes(0) || !isText(seen.subarray(0, 1_024)) ? undefined : seen.toString("utf8");
    return { path, size, ...(text !== undefined && { text }), isCut: text !== undefined && size > most };
  });
  return "ok" in read ? undefined : read;
}

function asObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? (value as JsonObject) : {};
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value.slice(0, 500) : undefined;
}

function numbersOf(value: Json | undefined): readonly number[] {
  return typeof value === "number" ? [value] : [];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
