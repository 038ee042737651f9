/** Which runs are shown: reads the filter from the address and applies it. Pure. */
import type { ApiRunSummary } from "@metier/service/api";

export interface ListedRunFilter {
  readonly skill: string;
  readonly agent: string;
  /** One, or several separated by commas. */
  readonly status: string;
  readonly user: string;
  /** `today`, `7d`, `30d`, `between`; empty for all. */
  readonly time: string;
  /** The days of `between`. */
  readonly from: string;
  readonly to: string;
  /** Minimum, in dollars. */
  readonly cost: string;
  /** Words that must all occur. */
  readonly q: string;
}

export const FILTER_NAMES = [
  "skill",
  "agent",
  "status",
  "user",
  "time",
  "from",
  "to",
  "cost",
  "q",
] as const satisfies readonly (keyof ListedRunFilter)[];

export function readFilter(query: ReadonlyMap<string, string>): ListedRunFilter {
  return Object.fromEntries(
    FILTER_NAMES.map((name) => [name, query.get(name) ?? ""]),
  ) as unknown as ListedRunFilter;
}

export function isNarrowed(filter: ListedRunFilter): boolean {
  return FILTER_NAMES.some((name) => filter[name] !== "");
}

/** The searched text, made once per run: typing must not build it again. */
interface Searchable {
  readonly text: string;
  readonly at: number;
}

const searchable = new WeakMap<ApiRunSummary, Searchable>();

function prepare(run: ApiRunSummary): Searchable {
  const known = searchable.get(run);
  if (known) return known;
  const { id, skill = "", agent = "", userId = "", model = "", status } = run;
  const made = {
    text: [id, skill, agent, userId, model, status].join("\n").toLowerCase(),
    at: Date.parse(run.createdAt),
  };
  searchable.set(run, made);
  return made;
}

const DAY_MS = 86_400_000;

export function filterRuns(
  runs: readonly ApiRunSummary[],
  filter: ListedRunFilter,
  now: number,
): readonly ApiRunSummary[] {
  if (!isNarrowed(filter)) return runs;
  const [from, until] = timeRange(filter, now);
  const statuses = filter.status === "" ? undefined : new Set(filter.status.split(","));
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
  const least = Number(filter.cost);
  const { skill, agent, user } = filter;
  return runs.filter((run) => {
    if (skill !== "" && run.skill !== skill) return false;
    if (agent !== "" && run.agent !== agent) return false;
    if (user !== "" && run.userId !== user) return false;
    if (statuses && !statuses.has(run.status)) return false;
    if (least > 0 && (run.cost ?? 0) < least) return false;
    const { text, at } = prepare(run);
    return at >= from && at < until && words.every((word) => text.includes(word));
  });
}

function timeRange({ time, from, to }: ListedRunFilter, now: number): readonly [number, number] {
  const all = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY] as const;
  if (time === "today") return [new Date(now).setHours(0, 0, 0, 0), all[1]];
  if (time === "7d" || time === "30d") return [now - Number.parseInt(time, 10) * DAY_MS, all[1]];
  if (time !== "between") return all;
  const [begin, end] = [dayStart(from), dayStart(to)];
  return [begin ?? all[0], end === undefined ? all[1] : nextDay(end)];
}

/** A day starts at the reader's midnight. */
function dayStart(day: string): number | undefined {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00`) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

function nextDay(start: number): number {
  const date = new Date(start);
  return date.setDate(date.getDate() + 1);
}

/** The options to choose from, sorted. */
export function valuesOf(
  runs: readonly ApiRunSummary[],
  name: "skill" | "agent" | "userId",
): readonly string[] {
  const values = new Set<string>();
  for (const run of runs) {
    const value = run[name];
    if (value !== undefined) values.add(value);
  }
  return [...values].sort();
}
