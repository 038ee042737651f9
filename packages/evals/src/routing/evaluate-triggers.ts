/**
 * `metier eval triggers`: how often a model uses a skill for requests that are for it, and for requests that aren't.
 */

import { createHash } from "node:crypto";
import { mapBounded } from "@metier/base/turns";
import type { GivenModel } from "@metier/run/model";
import type { Skill } from "@metier/skills";
import type { TriggerQuery } from "@metier/skills/formats";
import { rate } from "../benchmark.ts";
import { openRecordings, type RecordingChoice, type Recordings, recordingName } from "../evaluation-files.ts";
import { inTemporaryFolder, type OpenMetier } from "../run-eval.ts";
import { createSpending, type Spending, type SpendingLimits, type Used } from "../spending.ts";
import { openRouter, type Routed } from "./router.ts";

interface TriggerOptions extends RecordingChoice, SpendingLimits {
  readonly skill: string;
  /** All skills a model may choose from, including this one. */
  readonly skills: readonly Skill[];
  readonly queries: readonly TriggerQuery[];
  /** Runs of each query. Default: 3, or as many as were recorded for a replay. */
  readonly runs?: number;
  /** Share of runs that must use the skill for a query to count as triggered. Default: 0.5. */
  readonly threshold?: number;
  /** Decides the split. Default: 0. */
  readonly seed?: number;
  readonly concurrency?: number;
  readonly model?: string | GivenModel;
  onProgress?(progress: { readonly done: number; readonly total: number; readonly query: string }): void;
}

export interface QueryResult {
  readonly query: string;
  readonly should_trigger: boolean;
  readonly set: QuerySet;
  readonly runs: number;
  readonly triggered: number;
  readonly trigger_rate: number;
  readonly passed: boolean;
  /** Which skills were used instead, and how often. */
  readonly instead: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
}

interface SetSummary {
  readonly passed: number;
  readonly total: number;
  readonly pass_rate: number;
}

export interface TriggerEvaluation {
  readonly skill_name: string;
  readonly model: string;
  readonly runs_per_query: number;
  readonly threshold: number;
  readonly seed: number;
  readonly replayed: boolean;
  readonly summary: Readonly<Record<QuerySet | "all", SetSummary>>;
  readonly queries: readonly QueryResult[];
  /** Over all runs. */
  readonly used: Used;
  readonly errors: number;
  readonly stopped?: string | undefined;
  readonly cancelled: boolean;
}

const DEFAULTS = { runs: 3, threshold: 0.5, seed: 0, concurrency: 2 } as const;

export async function evaluateTriggers(
  open: OpenMetier,
  options: TriggerOptions,
): Promise<TriggerEvaluation> {
  const { skill, threshold = DEFAULTS.threshold, seed = DEFAULTS.seed } = options;
  const recordings = openRecordings(options);
  const recorded = recordings.countRuns(["triggers", recordingName(options.queries[0]?.query ?? "")]);
  const runs = options.runs ?? (recorded || DEFAULTS.runs);
  const split = splitQueries(options.queries, seed);
  const spending = createSpending(options);
  try {
    const routed = await routeQueries(open, options, { runs, split, recordings, spending });
    const queries = split.map((query) => {
      const own = routed.filter((answer) => answer.query === query.query);
      return judgeQuery(query, own, skill, threshold);
    });
    return {
      skill_name: skill,
      model: routed[0]?.model ?? "",
      runs_per_query: runs,
      threshold,
      seed,
      replayed: recordings.isReplay,
      summary: summarise(queries),
      queries,
      used: spending.used(),
      errors: queries.reduce((sum, { errors }) => sum + errors.length, 0),
      cancelled: spending.isCancelled(),
      stopped: spending.reached(),
    };
  } finally {
    spending.end();
  }
}

interface RoutingPlan {
  readonly runs: number;
  readonly split: readonly SplitQuery[];
  readonly recordings: Recordings;
  readonly spending: Spending;
}

/** Every query once per run. Stopped runs are left out. */
async function routeQueries(
  open: OpenMetier,
  options: TriggerOptions,
  { runs, split, recordings, spending }: RoutingPlan,
): Promise<readonly (Routed & { readonly query: string })[]> {
  const { model, concurrency = DEFAULTS.concurrency } = options;
  const plan = split.flatMap(({ query }) =>
    Array.from({ length: runs }, (_, index) => ({ query, number: index + 1 })),
  );
  let done = 0;
  return inTemporaryFolder("metier-triggers-", async (folder) => {
    const skills = chooseParticipants(recordings, ["triggers"], options.skills);
    const wishes = { ...options, isReplay: recordings.isReplay };
    const router = await openRouter(open, skills, folder, wishes);
    const answers = await mapBounded(plan, concurrency, async ({ query, number }) => {
      if (spending.signal.aborted) return undefined;
      const name = ["triggers", recordingName(query), `run-${number}`];
      const routed = await router.route({
        ...recordings.requestFor(name, model),
        query,
        signal: spending.signal,
        onEvent: (event) => spending.note(event),
      });
      if (spending.signal.aborted && routed.skill === undefined) return undefined;
      done += 1;
      options.onProgress?.({ done, total: plan.length, query });
      return { query, ...routed, ...recordings.describe(name) };
    }).finally(() => router.close());
    return answers.filter((answer) => answer !== undefined);
  });
}

/** The skills that take part, sorted by name. */
export function chooseParticipants(
  recordings: Recordings,
  path: readonly string[],
  skills: readonly Skill[],
): readonly Skill[] {
  const names = recordings.chooseFrom(path, skills.map(({ name }) => name).sort());
  return names.flatMap((name) => skills.find((skill) => skill.name === name) ?? []);
}

/** A failed run says nothing, so it counts for neither side. */
function judgeQuery(
  { query, shouldTrigger, set }: TriggerQuery & { readonly set: QuerySet },
  routed: readonly Routed[],
  skill: string,
  threshold: number,
): QueryResult {
  const answered = routed.filter(({ fault }) => fault === undefined);
  const triggered = answered.filter((answer) => answer.skill === skill).length;
  const others = answered.flatMap((answer) => (answer.skill === skill ? [] : (answer.skill ?? [])));
  const share = rate(triggered, answered.length);
  return {
    query,
    should_trigger: shouldTrigger,
    set,
    runs: answered.length,
    triggered,
    trigger_rate: share,
    passed: answered.length > 0 && share >= threshold === shouldTrigger,
    instead: countNames(others),
    errors: routed.flatMap(({ fault }) => fault ?? []),
  };
}

function countNames(names: readonly string[]): Readonly<Record<string, number>> {
  const groups = [...Map.groupBy(names, (name) => name)];
  groups.sort(([a, one], [b, two]) => two.length - one.length || (a < b ? -1 : 1));
  return Object.fromEntries(groups.map(([name, group]) => [name, group.length]));
}

function summarise(queries: readonly QueryResult[]): TriggerEvaluation["summary"] {
  const of = (own: readonly QueryResult[]): SetSummary => {
    const passed = own.filter((query) => query.passed).length;
    return { passed, total: own.length, pass_rate: rate(passed, own.length) };
  };
  const inSet = (set: QuerySet): SetSummary => of(queries.filter((query) => query.set === set));
  return { train: inSet("train"), validation: inSet("validation"), all: of(queries) };
}

type QuerySet = "train" | "validation";

interface SplitQuery extends TriggerQuery {
  readonly set: QuerySet;
}

const TRAIN_SHARE = 0.6;

/**
 * One set to improve a description with, one to check that it got better for others too. Both kinds of queries are
 * split alike, and the same query always lands in the same set, no matter the order of the file.
 */
export function splitQueries(queries: readonly TriggerQuery[], seed: number): readonly SplitQuery[] {
  const train = new Set([true, false].flatMap((kind) => chooseTrain(queries, kind, seed)));
  return queries.map((query) => ({ ...query, set: train.has(query) ? "train" : "validation" }));
}

function chooseTrain(queries: readonly TriggerQuery[], kind: boolean, seed: number): readonly TriggerQuery[] {
  const own = queries.filter(({ shouldTrigger }) => shouldTrigger === kind);
  const drawn = own
    .map((query) => ({ query, lot: createHash("sha256").update(`${seed}\n${query.query}`).digest() }))
    .sort((a, b) => Buffer.compare(a.lot, b.lot));
  return drawn.slice(0, Math.round(own.length * TRAIN_SHARE)).map(({ query }) => query);
}
