/** What runs used, summed by the journal: it has every result, which a caller would have to read. */
import { isJsonObject, type Json } from "@metier/base/json";

/** What to sum, and by what. */
export interface UsageFilter {
  /** Only this tenant's. */
  readonly tenant: string;
  /** By the day on which a run was created (UTC), by its skill, or by its user. */
  readonly by: "day" | "skill" | "user";
  /** Runs that were created at this time or later, in milliseconds since 1970. */
  readonly from: number;
  /** Runs that were created before this time. */
  readonly to: number;
}

/** The sum over root runs that have ended: a result includes what the run started. */
export interface UsageSum {
  /** The day (`2026-11-17`), skill or user; empty if a run has none. */
  readonly key: string;
  /** How many runs. */
  readonly runs: number;
  /** Of all models together. */
  readonly inputTokens: number;
  /** Of all models together. */
  readonly outputTokens: number;
  /** Of all models together. */
  readonly totalTokens: number;
  /** Of runs with a known price. */
  readonly cost: number;
  /** How many have no known price. */
  readonly runsWithoutCost: number;
  /** How long they were worked on. */
  readonly activeMs: number;
}

interface RunUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cost: number | undefined;
}

/** What counts in a result: `usage` and `cost`, as a run reports them. */
export function usageOf(result: Json | undefined): RunUsage {
  const { usage, cost } = isJsonObject(result) ? result : {};
  const tokens = isJsonObject(usage) ? usage : {};
  const count = (value: Json | undefined): number => (typeof value === "number" ? Math.round(value) : 0);
  return {
    inputTokens: count(tokens.inputTokens),
    outputTokens: count(tokens.outputTokens),
    totalTokens: count(tokens.totalTokens),
    cost: typeof cost === "number" ? cost : undefined,
  };
}
