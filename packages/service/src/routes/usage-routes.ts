/** Usage of runs: tokens, cost and time, summed over their results by day, skill or user. */
import { choiceShape, tableShape } from "@metier/base/shape";
import type { UsageFilter } from "@metier/durable";
import { listOf, NUMBER_FIELD, objectOf, TEXT_FIELD, timeText } from "../http/query-shapes.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";

const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

interface UsageQuery {
  readonly by?: UsageFilter["by"];
  readonly from?: number;
  readonly to?: number;
}

const readUsage = defineRoute<UsageQuery>({
  method: "GET",
  path: "/v1/usage",
  scope: "read",
  group: "usage",
  summary:
    "Sum the tokens, cost and time of ended runs by day (UTC), skill or user; by default for the last 30 days.",
  query: tableShape<UsageQuery>({ by: choiceShape("day", "skill", "user"), from: timeText, to: timeText }),
  answers: {
    200: {
      about: "One entry per day, skill or user.",
      schema: listOf(
        objectOf({
          key: TEXT_FIELD,
          runs: NUMBER_FIELD,
          inputTokens: NUMBER_FIELD,
          outputTokens: NUMBER_FIELD,
          totalTokens: NUMBER_FIELD,
          cost: NUMBER_FIELD,
          runsWithoutCost: NUMBER_FIELD,
          activeMs: NUMBER_FIELD,
        }),
      ),
    },
  },
  async handle({ query: { by = "day", from, to }, identity: { tenant } }, { journal, now }) {
    const since = from ?? now() - DEFAULT_DAYS * DAY_MS;
    const data = await journal.usage({ tenant, by, from: since, to: to ?? now() + DAY_MS });
    return replyWith({ data });
  },
});

export const USAGE_ROUTES: readonly ServiceRoute[] = [readUsage];
