/**
 * `metier eval routing`: which skills of a whole catalog are mistaken for which. From their descriptions alone first; then,
 * where queries are known, by the search; then, where a model is asked, by what it uses.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunEvent } from "../../events/run-event.ts";
import { realPathOr } from "../../host/project-folders.ts";
import type { GivenModel } from "../../model/given-model.ts";
import type { Skill } from "../../skill/skill.ts";
import type { OpenMetier } from "../arms.ts";
import { inParallel } from "../in-parallel.ts";
import { openRecordings, type RecordingChoice, type Recordings, recordingName } from "../recordings.ts";
import { createSpending, type Spending, type SpendingLimits } from "../spending.ts";
import { rate } from "../statistics.ts";
import { chooseSkills } from "../triggers/evaluate-triggers.ts";
import { openRouter } from "../triggers/router.ts";
import {
  compareDescriptions,
  type DescriptionComparison,
  findByDescription,
} from "./compare-descriptions.ts";
import { generateQueries, QUERY_WRITER } from "./generate-queries.ts";
import type { RoutingQuery } from "./routing-query.ts";

export interface RoutingOptions extends RecordingChoice, SpendingLimits {
  /** What a model may choose from. */
  readonly skills: readonly Skill[];
  /** Without any, a model that is asked writes some first. */
  readonly queries: readonly RoutingQuery[];
  /** Whether a model is asked; by a replay, a recorded one. */
  readonly asksModel: boolean;
  readonly model?: string | GivenModel;
  readonly concurrency?: number;
  onProgress?(progress: { readonly done: number; readonly total: number; readonly query: string }): void;
}

export interface RoutedQuery {
  readonly query: string;
  /** `null`: none. Absent: any but `not`. */
  readonly expected?: string | null;
  readonly not?: string;
  /** `null`: none. */
  readonly chosen: string | null;
  readonly passed: boolean;
}

export interface Routing {
  readonly passed: number;
  readonly total: number;
  readonly pass_rate: number;
  /** How often which skill was chosen for queries of which: the wrong ones alone. */
  readonly confusions: readonly {
    readonly expected: string;
    readonly chosen: string;
    readonly count: number;
  }[];
  readonly queries: readonly RoutedQuery[];
}

export interface RoutingEvaluation {
  readonly skills: number;
  readonly descriptions: DescriptionComparison;
  /** By words alone. */
  readonly search?: Routing;
  /** By a model. */
  readonly model?: Routing & { readonly name: string; readonly generated: boolean };
  readonly errors: readonly string[];
  readonly stopped?: string;
  readonly cancelled: boolean;
}

const DEFAULT_CONCURRENCY = 2;

export async function evaluateRouting(open: OpenMetier, options: RoutingOptions): Promise<RoutingEvaluation> {
  const { skills, queries } = options;
  const descriptions = compareDescriptions(skills);
  const spending = createSpending(options);
  const folder = realPathOr(mkdtempSync(join(tmpdir(), "metier-routing-")));
  try {
    const asked = options.asksModel ? await askModel(open, options, spending, folder) : undefined;
    const known = asked?.queries ?? queries;
    const stopped = spending.reached();
    return {
      skills: skills.length,
      descriptions,
      ...(known.length > 0 && { search: routeBySearch(skills, known) }),
      ...(asked && {
        model: { name: asked.name, generated: queries.length === 0, ...summarise(asked.routed) },
      }),
      errors: asked?.errors ?? [],
      cancelled: spending.isCancelled(),
      ...(stopped !== undefined && { stopped }),
    };
  } finally {
    spending.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The search always answers something, so queries that no skill is for are left out. */
function routeBySearch(skills: readonly Skill[], queries: readonly RoutingQuery[]): Routing {
  const finder = findByDescription(skills);
  const asked = queries.filter(({ skill }) => skill !== null);
  return summarise(asked.map((query) => judge(query, finder.find(query.query, 1)[0]?.name ?? null)));
}

interface AskedModel {
  readonly name: string;
  readonly queries: readonly RoutingQuery[];
  readonly routed: readonly RoutedQuery[];
  readonly errors: readonly string[];
}

async function askModel(
  open: OpenMetier,
  options: RoutingOptions,
  spending: Spending,
  folder: string,
): Promise<AskedModel> {
  const recordings = openRecordings(options);
  const { model, concurrency = DEFAULT_CONCURRENCY } = options;
  const errors: string[] = [];
  const skills = chooseSkills(recordings, ["routing"], options.skills);
  const router = await openRouter(open, skills, folder, {
    ...options,
    isReplay: recordings.isReplay,
  });
  const onEvent = (event: RunEvent): void => spending.note(event, router.pricing);
  try {
    const queries =
      options.queries.length > 0
        ? options.queries
        : await writeQueries(open, {
            options: { ...options, skills },
            recordings,
            spending,
            folder,
            onEvent,
            errors,
          });
    let [done, name] = [0, ""];
    const routed = await inParallel(queries, concurrency, async (query) => {
      if (spending.signal.aborted) return undefined;
      const path = ["routing", recordingName(query.query)];
      const answer = await router.route({
        ...recordings.requestFor(path, model),
        query: query.query,
        signal: spending.signal,
        onEvent,
      });
      if (spending.signal.aborted && answer.skill === undefined) return undefined;
      done += 1;
      name ||= recordings.describe(path)?.model ?? answer.model;
      options.onProgress?.({ done, total: queries.length, query: query.query });
      if (answer.fault === undefined) return judge(query, answer.skill ?? null);
      errors.push(answer.fault);
      return undefined;
    });
    return { name, queries, routed: routed.filter((answer) => answer !== undefined), errors };
  } finally {
    await router.close();
  }
}

interface WritingOrder {
  readonly options: RoutingOptions;
  readonly recordings: Recordings;
  readonly spending: Spending;
  readonly folder: string;
  readonly errors: string[];
  onEvent(event: RunEvent): void;
}

async function writeQueries(open: OpenMetier, order: WritingOrder): Promise<readonly RoutingQuery[]> {
  const { options, recordings, spending, folder, errors, onEvent } = order;
  const metier = await open({
    cwd: folder,
    bundled: false,
    index: false,
    integrations: [QUERY_WRITER],
    config: { skills: { "auto-discover": false, paths: [], allow: [QUERY_WRITER.name] } },
  });
  try {
    const written = await inParallel(
      options.skills,
      options.concurrency ?? DEFAULT_CONCURRENCY,
      async (skill) => {
        if (spending.signal.aborted) return [];
        const request = recordings.requestFor(["routing", "queries", skill.name], options.model);
        const { queries, fault } = await generateQueries({
          ...request,
          metier,
          skill,
          signal: spending.signal,
          onEvent,
        });
        if (fault !== undefined) errors.push(fault);
        return queries;
      },
    );
    return written.flat();
  } finally {
    await metier.capabilities.close();
  }
}

function judge({ query, skill, not }: RoutingQuery, chosen: string | null): RoutedQuery {
  return {
    query,
    chosen,
    passed: skill === undefined ? chosen !== not : chosen === skill,
    ...(skill !== undefined && { expected: skill }),
    ...(not !== undefined && { not }),
  };
}

function summarise(queries: readonly RoutedQuery[]): Routing {
  const passed = queries.filter((query) => query.passed).length;
  const wrong = queries.filter((query) => !query.passed);
  const groups = Map.groupBy(wrong, ({ expected, not, chosen }) =>
    JSON.stringify([expected ?? (not === undefined ? "(none)" : `not ${not}`), chosen ?? "(none)"]),
  );
  const confusions = [...groups].map(([key, group]) => {
    const [expected, chosen] = JSON.parse(key) as [string, string];
    return { expected, chosen, count: group.length };
  });
  confusions.sort((a, b) => b.count - a.count || (a.expected + a.chosen < b.expected + b.chosen ? -1 : 1));
  return { passed, total: queries.length, pass_rate: rate(passed, queries.length), confusions, queries };
}
