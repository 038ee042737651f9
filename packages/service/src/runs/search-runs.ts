/** Searches runs: with the filters that the journal has, and those that are applied here. */
import { isJsonObject } from "@metier/base/json";
import type { DurableRun, DurableRunFilter, JournalStore } from "@metier/durable";
import { pinnedOf } from "./project-run.ts";

export interface RunSearch
  extends Pick<DurableRunFilter, "status" | "skill" | "userId" | "before" | "limit"> {
  readonly tenant: string;
  /** `name`: in every version; `name@2`: in that one. */
  readonly agent?: string | undefined;
  /** Began at this time or later, in milliseconds. */
  readonly since?: number | undefined;
  /** Began before this time. */
  readonly until?: number | undefined;
  readonly minCost?: number | undefined;
}

interface FoundRuns {
  readonly runs: readonly DurableRun[];
  /** Runs before this one may match too. */
  readonly next?: string | undefined;
}

/** One response checks no more than these; it says where to continue. */
const MOST_LOOKED_AT = 20_000;
const PAGE = 500;

/** Root runs, newest first. */
export async function searchRuns(journal: Pick<JournalStore, "list">, search: RunSearch): Promise<FoundRuns> {
  const { agent, since = 0, until = Number.POSITIVE_INFINITY, minCost, limit, ...filter } = search;
  const runs: DurableRun[] = [];
  let looked = 0;
  const isNarrow = [agent, search.since, search.until, minCost].some((asked) => asked !== undefined);
  const size = isNarrow ? Math.max(PAGE, limit) : limit;
  for await (const page of pagesOf(journal, { ...filter, isRoot: true }, size)) {
    for (const run of page) {
      if (run.createdAt < since) return { runs };
      if (run.createdAt >= until || !hasAgent(run, agent) || !hasCost(run, minCost)) continue;
      runs.push(run);
      if (runs.length === limit) return { runs, next: run.id };
    }
    looked += page.length;
    if (looked >= MOST_LOOKED_AT) return { runs, next: page.at(-1)?.id };
  }
  return { runs };
}

/** Newest first. */
export async function* runsBetween(
  journal: Pick<JournalStore, "list">,
  filter: Omit<DurableRunFilter, "limit">,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<DurableRun, void> {
  for await (const page of pagesOf(journal, filter, PAGE)) {
    for (const run of page) if (run.createdAt >= from && run.createdAt < to) yield run;
    if ((page.at(-1)?.createdAt ?? 0) < from) return;
  }
}

async function* pagesOf(
  journal: Pick<JournalStore, "list">,
  filter: Omit<DurableRunFilter, "limit">,
  limit: number,
): AsyncGenerator<readonly DurableRun[], void> {
  let { before } = filter;
  for (;;) {
    const page: readonly DurableRun[] = await journal.list({ ...filter, before, limit });
    yield page;
    before = page.at(-1)?.id;
    if (page.length < limit) return;
  }
}

function hasAgent(run: DurableRun, asked: string | undefined): boolean {
  if (asked === undefined) return true;
  const { agent } = pinnedOf(run);
  return typeof agent === "string" && (agent === asked || agent.startsWith(`${asked}@`));
}

/** A run without a known price has no cost to compare. */
function hasCost({ result }: DurableRun, least: number | undefined): boolean {
  if (least === undefined) return true;
  const cost = isJsonObject(result) ? result.cost : undefined;
  return typeof cost === "number" && cost >= least;
}
