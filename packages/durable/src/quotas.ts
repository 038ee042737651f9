/** Quotas of a new run as stores count them: one after another, the tenant's first. */
import type { QuotaFull, RunQuotas, StartQuotas } from "./journal-store.ts";

/** One that is to be looked at. */
export type AskedQuota = Pick<QuotaFull, "of" | "quota" | "most">;

/** What `startsPerMinute` counts in. */
export const MINUTE_MS = 60_000;
/** What is used in a day is counted from midnight, UTC. */
export const DAY_MS = 86_400_000;

const NAMES: readonly (keyof StartQuotas)[] = ["startsPerMinute", "openRuns", "tokensPerDay", "costPerDay"];

/** Those of a user only for a run that is for one. */
export function listQuotas(quotas: RunQuotas | undefined, userId: string | undefined): readonly AskedQuota[] {
  const of = (who: AskedQuota["of"]): readonly AskedQuota[] =>
    NAMES.flatMap((quota) => {
      const most = quotas?.[who]?.[quota];
      return most === undefined ? [] : [{ of: who, quota, most }];
    });
  return userId === undefined ? of("tenant") : [...of("tenant"), ...of("user")];
}
