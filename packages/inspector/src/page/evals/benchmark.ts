/** Reads a `benchmark.json`; parts that don't fit are left out, since anyone may have edited the file. Pure. */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";

interface Spread {
  readonly mean: number;
  readonly stddev: number;
}

interface EvalArm {
  readonly name: string;
  readonly passRate: Spread;
  readonly seconds: Spread;
  readonly tokens: Spread;
  readonly cost?: Spread | undefined;
  readonly ungraded: number;
}

export interface EvalExpectation {
  readonly text: string;
  readonly evidence: string;
  /** `ungraded`: undecided, and counts neither way. */
  readonly verdict: "passed" | "failed" | "ungraded";
}

export interface EvalResult {
  readonly id: string;
  readonly name: string;
  readonly arm: string;
  readonly number: number;
  readonly passed: number;
  readonly total: number;
  readonly seconds: number;
  readonly tokens: number;
  readonly toolCalls: number;
  readonly cost?: number | undefined;
  readonly errors: number;
  readonly expectations: readonly EvalExpectation[];
  readonly notes: readonly string[];
  /** Relative to the iteration's folder: the answer first. */
  readonly outputs: readonly string[];
}

export interface EvalBenchmark {
  readonly model: string;
  readonly grader: string;
  readonly at: string;
  readonly digest?: string | undefined;
  readonly isReplayed: boolean;
  readonly arms: readonly EvalArm[];
  readonly delta?:
    | { readonly passRate: number; readonly seconds: number; readonly tokens: number }
    | undefined;
  readonly results: readonly EvalResult[];
  readonly notes: readonly string[];
  readonly previous?: EvalComparison | undefined;
}

/** Compared with an earlier iteration, over the evals that both have. */
export interface EvalComparison {
  readonly iteration: number;
  readonly before: number;
  readonly after: number;
  readonly compared: number;
  readonly isSameSkill: boolean;
  readonly isSameModel: boolean;
  readonly changed: readonly { readonly name: string; readonly before: number; readonly after: number }[];
}

const ARMS = ["with_skill", "without_skill", "old_skill"] as const;

export const ARM_NAMES: Readonly<Record<string, string>> = {
  with_skill: "with the skill",
  without_skill: "without it",
  old_skill: "with the old skill",
};

export function readBenchmark(value: Json): EvalBenchmark | undefined {
  if (!isJsonObject(value)) return undefined;
  const { metadata, runs, run_summary: summary, notes } = value;
  if (!isJsonObject(metadata) || !Array.isArray(runs) || !isJsonObject(summary)) return undefined;
  const { delta } = summary;
  return {
    model: text(metadata.executor_model),
    grader: text(metadata.analyzer_model),
    at: text(metadata.timestamp),
    digest: typeof metadata.skill_digest === "string" ? metadata.skill_digest : undefined,
    isReplayed: metadata.replayed === true,
    arms: ARMS.flatMap((name) => readArm(name, summary[name])),
    delta: isJsonObject(delta)
      ? {
          passRate: number(delta.pass_rate),
          seconds: number(delta.time_seconds),
          tokens: number(delta.tokens),
        }
      : undefined,
    results: objectsIn(runs).map(readResult),
    notes: texts(notes),
    previous: readComparison(value.previous),
  };
}

function readComparison(value: Json | undefined): EvalComparison | undefined {
  if (!isJsonObject(value)) return undefined;
  const rates = isJsonObject(value.pass_rate) ? value.pass_rate : {};
  return {
    iteration: number(value.iteration),
    before: number(rates.before),
    after: number(rates.after),
    compared: number(value.evals_compared),
    isSameSkill: value.same_skill === true,
    isSameModel: value.same_model === true,
    changed: objectsIn(value.changed).map((one) => ({
      name: text(one.eval_name),
      before: number(one.before),
      after: number(one.after),
    })),
  };
}

function readArm(name: string, value: Json | undefined): readonly EvalArm[] {
  if (!isJsonObject(value)) return [];
  return [
    {
      name,
      passRate: spread(value.pass_rate),
      seconds: spread(value.time_seconds),
      tokens: spread(value.tokens),
      cost: isJsonObject(value.cost) ? spread(value.cost) : undefined,
      ungraded: number(value.ungraded),
    },
  ];
}

function readResult(run: JsonObject): EvalResult {
  const result = isJsonObject(run.result) ? run.result : {};
  const expectations = objectsIn(run.expectations);
  return {
    id: String(run.eval_id ?? ""),
    name: text(run.eval_name),
    arm: text(run.configuration),
    number: number(run.run_number),
    passed: number(result.passed),
    total: number(result.total),
    seconds: number(result.time_seconds),
    tokens: number(result.tokens),
    toolCalls: number(result.tool_calls),
    cost: typeof result.cost === "number" ? result.cost : undefined,
    errors: number(result.errors),
    expectations: expectations.map((one) => ({
      text: text(one.text),
      evidence: text(one.evidence),
      verdict: one.ungraded === true ? "ungraded" : one.passed === true ? "passed" : "failed",
    })),
    notes: texts(run.notes),
    outputs: texts(run.outputs),
  };
}

/** Whether a difference is larger than chance: the two spreads don't touch. */
export function isClear(a: Spread, b: Spread): boolean {
  return Math.abs(a.mean - b.mean) > a.stddev + b.stddev;
}

function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.flatMap((item: Json) => (isJsonObject(item) ? [item] : [])) : [];
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function number(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

function spread(value: Json | undefined): Spread {
  return isJsonObject(value)
    ? { mean: number(value.mean), stddev: number(value.stddev) }
    : { mean: 0, stddev: 0 };
}
