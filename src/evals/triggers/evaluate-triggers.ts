/** `metier eval triggers`: how often a model uses a skill for requests that are for it, and for those that are not. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realPathOr } from "../../host/project-folders.ts";
import type { GivenModel } from "../../model/given-model.ts";
import type { Skill } from "../../skill/skill.ts";
import type { OpenMetier } from "../arms.ts";
import type { TriggerQuery } from "../eval-set.ts";
import { inParallel } from "../in-parallel.ts";
import { openRecordings, type RecordingChoice, type Recordings, recordingName } from "../recordings.ts";
import { createSpending, type SpendingLimits } from "../spending.ts";
import { rate } from "../statistics.ts";
import { openRouter, type Routed } from "./router.ts";
import { type QuerySet, splitQueries } from "./split-queries.ts";

export interface TriggerOptions extends RecordingChoice, SpendingLimits {
  readonly skill: string;
  /** All a model may choose from, the skill among them. */
  readonly skills: readonly Skill[];
  readonly queries: readonly TriggerQuery[];
  /** Of each query. Default: 3, and for a replay as many as were recorded. */
  readonly runs?: number;
  /** From which share of its runs on a query has triggered. Default: 0.5. */
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

export interface SetSummary {
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
  readonly errors: number;
  readonly stopped?: string;
  readonly cancelled: boolean;
}

const DEFAULTS = { runs: 3, threshold: 0.5, seed: 0, concurrency: 2 } as const;

export async function evaluateTriggers(
  open: OpenMetier,
  options: TriggerOptions,
): Promise<TriggerEvaluation> {
  const { skill, threshold = DEFAULTS.threshold, seed = DEFAULTS.seed, model: asked } = options;
  const recordings = openRecordings(options);
  const recorded = recordings.countRuns(["triggers", recordingName(options.queries[0]?.query ?? "")]);
  const runs = options.runs ?? (recorded || DEFAULTS.runs);
  const split = splitQueries(options.queries, seed);
  const plan = split.flatMap(({ query }) =>
    Array.from({ length: runs }, (_, index) => ({ query, number: index + 1 })),
  );
  const folder = realPathOr(mkdtempSync(join(tmpdir(), "metier-triggers-")));
  const spending = createSpending(options);
  let done = 0;
  try {
    const skills = chooseSkills(recordings, ["triggers"], options.skills);
    const router = await openRouter(open, skills, folder, {
      ...options,
      isReplay: recordings.isReplay,
    });
    const answers = await inParallel(plan, options.concurrency ?? DEFAULTS.concurrency, async (order) => {
      if (spending.signal.aborted) return undefined;
      const name = ["triggers", recordingName(order.query), `run-${order.number}`];
      const routed = await router.route({
        ...recordings.requestFor(name, asked),
        query: order.query,
        signal: spending.signal,
        onEvent: (event) => spending.note(event, router.pricing),
      });
      if (spending.signal.aborted && routed.skill === undefined) return undefined;
      done += 1;
      options.onProgress?.({ done, total: plan.length, query: order.query });
      return { query: order.query, ...routed, ...recordings.describe(name) };
    }).finally(() => router.close());
    const routed = answers.filter((answer) => answer !== undefined);
    const queries = split.map((query) =>
      judgeQuery(
        query,
        routed.filter((answer) => answer.query === query.query),
        skill,
        threshold,
      ),
    );
    const stopped = spending.reached();
    return {
      skill_name: skill,
      model: routed[0]?.model ?? "",
      runs_per_query: runs,
      threshold,
      seed,
      replayed: recordings.isReplay,
      summary: summarise(queries),
      queries,
      errors: queries.reduce((sum, { errors }) => sum + errors.length, 0),
      cancelled: spending.isCancelled(),
      ...(stopped !== undefined && { stopped }),
    };
  } finally {
    spending.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Those that take part, in the order of their names. */
export function chooseSkills(
  recordings: Recordings,
  path: readonly string[],
  skills: readonly Skill[],
): readonly Skill[] {
  const names = recordings.chooseFrom(path, skills.map(({ name }) => name).sort());
  return names.flatMap((name) => skills.find((skill) => skill.name === name) ?? []);
}

/** A run that failed says nothing, so it counts for neither side. */
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

export function countNames(names: readonly string[]): Readonly<Record<string, number>> {
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
