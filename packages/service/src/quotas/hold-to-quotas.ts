/** The limits of a new run: what its tenant and user may start, and what is left of their day. */
import { isJsonObject, type Json, type JsonObject, presentFields } from "@metier/base/json";
import type { DurableRun, QuotaFull, RunEngine, RunQuotas, StartQuotas } from "@metier/durable";
import type { ViewLimits } from "@metier/runtime";
import type { ApiQuotaLimits } from "../api-operate.ts";
import { type HttpRefusal, refuseUntil } from "../http/refusal.ts";
import { pinnedOf } from "../runs/project-run.ts";
import type { ServiceContext } from "../service-context.ts";
import { limitsOfUser, QUOTA_KIND, readQuotas, type StoredQuotas } from "./quota-store.ts";

interface QuotaOwner {
  readonly tenant: string;
  readonly userId?: string | undefined;
}

interface HeldRun {
  /** Counted where the run is created. Absent: unlimited. */
  readonly quotas?: RunQuotas | undefined;
  /** The most this run may use. Absent: as much as it needs. */
  readonly left?: SpendingLeft | undefined;
}

interface SpendingLeft {
  readonly tokens?: number | undefined;
  readonly cost?: number | undefined;
}

const DAY_MS = 86_400_000;
/** If room depends on a run ending, which nobody can predict. */
const AGAIN_MS = 10_000;

export async function findQuotas(context: ServiceContext, owner: QuotaOwner): Promise<HeldRun> {
  const stored = await readQuotas(context.records, owner.tenant);
  const tenant = startQuotas(stored.tenant);
  const user = owner.userId === undefined ? undefined : startQuotas(limitsOfUser(stored, owner.userId));
  if (tenant === undefined && user === undefined) return {};
  return { quotas: { tenant, user }, left: await countLeft(context, owner, { tenant, user }) };
}

function startQuotas(limits: ApiQuotaLimits): StartQuotas | undefined {
  const { startsPerMinute, openRuns, tokensPerDay, costPerDay } = limits;
  const quotas = presentFields({ startsPerMinute, openRuns, tokensPerDay, costPerDay });
  return Object.keys(quotas).length === 0 ? undefined : quotas;
}

/** A run started with a little left may not use more than that. */
async function countLeft(
  context: ServiceContext,
  owner: QuotaOwner,
  { tenant = {}, user = {} }: RunQuotas,
): Promise<SpendingLeft | undefined> {
  const most = [tenant.tokensPerDay, tenant.costPerDay, user.tokensPerDay, user.costPerDay];
  if (most.every((limit) => limit === undefined)) return undefined;
  const spent = await countSpent(context, owner.tenant);
  const ofUser = spent.ofUser(owner.userId);
  return presentFields({
    tokens: leastAbove0([tenant.tokensPerDay, spent.ofAll.tokens], [user.tokensPerDay, ofUser.tokens]),
    cost: leastAbove0([tenant.costPerDay, spent.ofAll.cost], [user.costPerDay, ofUser.cost]),
  });
}

/** If nothing is left, the run isn't started at all. */
function leastAbove0(...pairs: readonly (readonly [number | undefined, number])[]): number | undefined {
  const left = pairs.flatMap(([most, used]) => (most === undefined ? [] : [most - used]));
  const least = Math.min(...left);
  return Number.isFinite(least) && least > 0 ? least : undefined;
}

interface Spent {
  readonly tokens: number;
  readonly cost: number;
}

/** By runs of this day (UTC) that have ended, as counted by the journal. */
export async function countSpent(
  { journal, now }: Pick<ServiceContext, "journal" | "now">,
  tenant: string,
): Promise<{ readonly ofAll: Spent; ofUser(userId: string | undefined): Spent }> {
  const from = Math.floor(now() / DAY_MS) * DAY_MS;
  const sums = await journal.usage({ tenant, by: "user", from, to: from + DAY_MS });
  const add = (wanted: (key: string) => boolean): Spent =>
    sums
      .filter(({ key }) => wanted(key))
      .reduce(({ tokens, cost }, sum) => ({ tokens: tokens + sum.totalTokens, cost: cost + sum.cost }), {
        tokens: 0,
        cost: 0,
      });
  return {
    ofAll: add(() => true),
    ofUser: (userId) => add((key) => userId !== undefined && key === userId),
  };
}

const WORDS: Readonly<Record<keyof StartQuotas, { readonly code: string; readonly what: string }>> = {
  startsPerMinute: { code: "quota_starts_per_minute", what: "runs started per minute" },
  openRuns: { code: "quota_open_runs", what: "unfinished runs" },
  tokensPerDay: { code: "quota_tokens_per_day", what: "tokens per day (UTC)" },
  costPerDay: { code: "quota_cost_per_day", what: "cost per day (UTC)" },
};

export function refuseQuota(context: ServiceContext, full: QuotaFull): ReturnType<typeof refuseUntil> {
  const { of, quota, used, most, retryAt } = full;
  const { code, what } = WORDS[quota];
  context.metrics.countQuota(quota);
  const now = context.now();
  const whose = of === "tenant" ? "Your tenant" : "This user";
  const refusal: Pick<HttpRefusal, "code" | "message" | "hint"> = {
    code,
    message: `${whose} has used up its quota of ${what}: ${used} of ${most}.`,
    hint:
      retryAt === undefined
        ? "Try again when a run has ended, or ask an admin to raise the quota."
        : "Try again at `retryAt`, or ask an admin to raise the quota.",
  };
  return refuseUntil(retryAt ?? now + AGAIN_MS, now, refusal);
}

/** As stored next to the order, for whoever advances the run. */
export function writeLeft({ left }: HeldRun): JsonObject | undefined {
  return left && Object.keys(left).length > 0 ? presentFields({ ...left }) : undefined;
}

/** The same as limits for whoever advances it; earlier usage of the run counts. */
export function readLeft(run: DurableRun): Partial<ViewLimits> | undefined {
  const { left } = pinnedOf(run);
  if (!isJsonObject(left)) return undefined;
  const { tokens, cost } = left;
  const told = (value: Json | undefined): number | undefined =>
    typeof value === "number" && value > 0 ? value : undefined;
  return presentFields({ maxTotalTokens: told(tokens), maxTotalCost: told(cost) });
}

/** The engine limits how many runs are in progress at the same time. */
export function limitEngine(
  engine: Pick<RunEngine, "limit">,
  tenant: string,
  quotas: StoredQuotas,
): Promise<void> {
  const perTenant = quotas.tenant.concurrentRuns;
  const perUser = quotas.eachUser.concurrentRuns;
  return engine.limit(tenant, presentFields({ perTenant, perUser }));
}

/** At startup: a process may have been killed between changing quotas and telling the engine. */
export async function limitEngineForAll({ records, engine }: ServiceContext): Promise<void> {
  const stored = await records.listAll(QUOTA_KIND);
  for (const tenant of new Set(stored.map((record) => record.tenant))) {
    await limitEngine(engine, tenant, await readQuotas(records, tenant));
  }
}
