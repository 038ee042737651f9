/**
 * `metier eval routing`: finds skills in a whole catalog that get mistaken for each other. First by their descriptions
 * alone; then by search, if there are queries; then by what a model uses, if one is asked.
 */

import { mapBounded } from "@metier/base/turns";
import type { RunEvent } from "@metier/run/events";
import type { GivenModel } from "@metier/run/model";
import type { Skill } from "@metier/skills";
import type { RoutingQuery } from "@metier/skills/formats";
import { rate } from "../benchmark.ts";
import { openRecordings, type RecordingChoice, recordingName } from "../evaluation-files.ts";
import { inTemporaryFolder, type OpenMetier } from "../run-eval.ts";
import { createSpending, type Spending, type SpendingLimits, type Used } from "../spending.ts";
import {
  compareDescriptions,
  type DescriptionComparison,
  findByDescription,
} from "./compare-descriptions.ts";
import { chooseParticipants } from "./evaluate-triggers.ts";
import { openRouter, writeQueries } from "./router.ts";

interface RoutingOptions extends RecordingChoice, SpendingLimits {
  /** What a model may choose from. */
  readonly skills: readonly Skill[];
  /** If there are none, a model that is asked writes some first. */
  readonly queries: readonly RoutingQuery[];
  /** Whether to ask a model; in a replay, the recorded one. */
  readonly asksModel: boolean;
  readonly model?: string | GivenModel;
  readonly concurrency?: number;
  /** Skills whose descriptions were compared with all others. */
  onCompared?(done: number, total: number): void;
  onProgress?(progress: { readonly done: number; readonly total: number; readonly query: string }): void;
}

interface RoutedQuery {
  readonly query: string;
  /** `null` for none. Absent: any but `not`. */
  readonly expected?: string | null | undefined;
  readonly not?: string | undefined;
  /** `null` for none. */
  readonly chosen: string | null;
  readonly passed: boolean;
}

export interface Routing {
  readonly passed: number;
  readonly total: number;
  readonly pass_rate: number;
  /** How often which skill was chosen for which skill's queries; only wrong choices. */
  readonly confusions: readonly {
    readonly expected: string;
    readonly chosen: string;
    readonly count: number;
  }[];
  readonly queries: readonly RoutedQuery[];
}

interface ModelRouting extends Routing {
  readonly name: string;
  /** The model also wrote the queries. */
  readonly generated: boolean;
  /** Over all its runs. */
  readonly used: Used;
}

export interface RoutingEvaluation {
  readonly skills: number;
  readonly descriptions: DescriptionComparison;
  /** By words alone. */
  readonly search?: Routing | undefined;
  /** By a model. */
  readonly model?: ModelRouting | undefined;
  readonly errors: readonly string[];
  readonly stopped?: string | undefined;
  readonly cancelled: boolean;
}

const DEFAULT_CONCURRENCY = 2;

export async function evaluateRouting(open: OpenMetier, options: RoutingOptions): Promise<RoutingEvaluation> {
  const { skills, queries } = options;
  const spending = createSpending(options);
  try {
    const { signal } = spending;
    const descriptions = await compareDescriptions(skills, { signal, onProgress: options.onCompared });
    const asked = options.asksModel
      ? await inTemporaryFolder("metier-routing-", (folder) => askModel(open, options, spending, folder))
      : undefined;
    const known = asked?.queries ?? queries;
    return {
      skills: skills.length,
      descriptions,
      search: known.length > 0 ? routeBySearch(skills, known) : undefined,
      model: asked && {
        name: asked.name,
        generated: queries.length === 0,
        used: spending.used(),
        ...summarise(asked.routed),
      },
      errors: asked?.errors ?? [],
      cancelled: spending.isCancelled(),
      stopped: spending.reached(),
    };
  } finally {
    spending.end();
  }
}

/** Search always returns something, so queries that no skill is for are left out. */
function routeBySearch(skills: readonly Skill[], queries: readonly RoutingQuery[]): Routing {
  const finder = findByDescription(skills);
  const asked = queries.filter(({ skill }) => skill !== null);
  return summarise(asked.map((query) => judge(query, finder.find(query.query, 1)[0]?.name ?? null)));
}

async function askModel(open: OpenMetier, options: RoutingOptions, spending: Spending, folder: string) {
  const recordings = openRecordings(options);
  const { model, concurrency = DEFAULT_CONCURRENCY } = options;
  const skills = chooseParticipants(recordings, ["routing"], options.skills);
  const wishes = { ...options, isReplay: recordings.isReplay };
  const router = await openRouter(open, skills, folder, wishes);
  const onEvent = (event: RunEvent): void => spending.note(event);
  try {
    const isKnown = options.queries.length > 0;
    const { signal } = spending;
    const order = { skills, model, concurrency, recordings, folder, signal, onEvent };
    const written = isKnown ? { queries: options.queries, errors: [] } : await writeQueries(open, order);
    const { queries } = written;
    const errors = [...written.errors];
    let [done, name] = [0, ""];
    const routed = await mapBounded(queries, concurrency, async (query) => {
      if (signal.aborted) return undefined;
      const path = ["routing", recordingName(query.query)];
      const answer = await router.route({
        ...recordings.requestFor(path, model),
        query: query.query,
        signal,
        onEvent,
      });
      if (signal.aborted && answer.skill === undefined) return undefined;
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

function judge({ query, skill, not }: RoutingQuery, chosen: string | null): RoutedQuery {
  return {
    query,
    chosen,
    passed: skill === undefined ? chosen !== not : chosen === skill,
    expected: skill,
    not,
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
