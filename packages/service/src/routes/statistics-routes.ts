/** Numbers about runs for charts: by day and by skill, and the unused skills. */
import { tableShape } from "@metier/base/shape";
import { NUMBER_FIELD, objectOf, TEXT_FIELD, TIME_FIELD, timeText } from "../http/query-shapes.ts";
import { refuseRequest } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { sumRuns } from "../insight/sum-runs.ts";
import { runsBetween } from "../runs/search-runs.ts";

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const MOST_DAYS = 400;
const LATEST = Date.parse("9999-01-01");

interface StatisticsQuery {
  readonly from?: number;
  readonly to?: number;
}

const numbers = {
  runs: NUMBER_FIELD,
  failed: NUMBER_FIELD,
  tokens: NUMBER_FIELD,
  cost: NUMBER_FIELD,
  medianMs: NUMBER_FIELD,
  p95Ms: NUMBER_FIELD,
};

const readStatistics = defineRoute<StatisticsQuery>({
  method: "GET",
  path: "/v1/statistics",
  scope: "read",
  group: "usage",
  summary:
    "Count runs, failures, tokens, cost and time by day (UTC) and by skill; by default for the last 30 days.",
  query: tableShape<StatisticsQuery>({ from: timeText, to: timeText }),
  answers: {
    200: {
      about: "Numbers by day and by skill, and the usable skills that no run used.",
      schema: objectOf({
        from: TIME_FIELD,
        to: TIME_FIELD,
        days: { type: "array", items: objectOf({ day: TEXT_FIELD, ...numbers }) },
        skills: { type: "array", items: objectOf({ skill: TEXT_FIELD, ...numbers }) },
        neverUsed: { type: "array", items: TEXT_FIELD },
      }),
    },
  },
  async handle({ query, identity: { tenant } }, context) {
    const to = query.to ?? context.now();
    const from = query.from ?? to - DEFAULT_DAYS * DAY_MS;
    if (to <= from || to - from > MOST_DAYS * DAY_MS || to > LATEST || from < 0) {
      const message = `\`from\` and \`to\` must be 1 to ${MOST_DAYS} days apart, \`from\` first.`;
      return refuseRequest(message, "Leave both out for the last 30 days.");
    }
    const sums = sumRuns();
    // What was written while this is read belongs to the last day, too.
    const end = query.to ?? to + DAY_MS;
    for await (const run of runsBetween(context.journal, { tenant }, { from, to: end })) sums.add(run);
    const { usable } = await context.insight.open(tenant);
    return replyWith(sums.finish(from, to, usable));
  },
});

export const STATISTICS_ROUTES: readonly ServiceRoute[] = [readStatistics];
