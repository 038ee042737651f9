/** What runs used: tokens, cost and time, summed over their results by day, skill or user. */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { choiceShape, tableShape } from "@metier/base/shape";
import { compareText } from "@metier/base/text";
import type { DurableRun } from "@metier/durable";
import { listOf, NUMBER_FIELD, objectOf, TEXT_FIELD, timeText } from "../http/query-shapes.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { runsBetween } from "../runs/search-runs.ts";

const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;

interface UsageQuery {
  readonly by?: "day" | "skill" | "user";
  readonly from?: number;
  readonly to?: number;
}

interface UsageSum {
  runs: number;
  inputTokens: number;
  outputTokens: number;
  totalTokens: number;
  /** Of runs whose price is known. */
  cost: number;
  runsWithoutCost: number;
  activeMs: number;
}

function addRun(sum: UsageSum, { result, activeMs }: DurableRun): void {
  const { usage, cost } = isJsonObject(result) ? result : ({} as JsonObject);
  const tokens = isJsonObject(usage) ? usage : {};
  sum.runs += 1;
  sum.activeMs += activeMs;
  for (const name of ["inputTokens", "outputTokens", "totalTokens"] as const)
    sum[name] += numberOf(tokens[name]);
  if (typeof cost === "number") sum.cost += cost;
  else sum.runsWithoutCost += 1;
}

function numberOf(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

function keyOf({ createdAt, skill, userId }: DurableRun, by: "day" | "skill" | "user"): string {
  if (by === "day") return new Date(createdAt).toISOString().slice(0, 10);
  return (by === "skill" ? skill : userId) ?? "";
}

const readUsage = defineRoute<UsageQuery>({
  method: "GET",
  path: "/v1/usage",
  scope: "read",
  group: "usage",
  summary:
    "Sum tokens, cost and time of runs by day (UTC), skill or user; the last 30 days unless you say otherwise.",
  query: tableShape<UsageQuery>({ by: choiceShape("day", "skill", "user"), from: timeText, to: timeText }),
  answers: {
    200: {
      about: "One entry for each day, skill or user.",
      schema: listOf(
        objectOf({ key: TEXT_FIELD, runs: NUMBER_FIELD, totalTokens: NUMBER_FIELD, cost: NUMBER_FIELD }),
      ),
    },
  },
  async handle({ query: { by = "day", from, to }, identity: { tenant } }, context) {
    const sums = new Map<string, UsageSum>();
    const now = context.now();
    const times = { from: from ?? now - DEFAULT_DAYS * DAY_MS, to: to ?? now + DAY_MS };
    // Root runs alone: a result counts what the run has started, too.
    for await (const run of runsBetween(context.journal, { tenant, isRoot: true }, times)) {
      const key = keyOf(run, by);
      const sum = sums.get(key) ?? {
        runs: 0,
        inputTokens: 0,
        outputTokens: 0,
        totalTokens: 0,
        cost: 0,
        runsWithoutCost: 0,
        activeMs: 0,
      };
      addRun(sum, run);
      sums.set(key, sum);
    }
    const data = [...sums].map(([key, sum]) => ({ key, ...sum })).sort((a, b) => compareText(a.key, b.key));
    return replyWith({ data });
  },
});

export const USAGE_ROUTES: readonly ServiceRoute[] = [readUsage];
