/** A tenant's current usage of its quotas. */
import type { DurableStatus } from "@metier/durable";
import type { ApiQuotas } from "../api-operate.ts";
import type { ServiceContext } from "../service-context.ts";
import { countSpent } from "./hold-to-quotas.ts";

const MINUTE_MS = 60_000;
const PAGE = 500;
/** Beyond this nobody reads the number. */
const MOST_COUNTED = 10_000;
const OPEN: readonly DurableStatus[] = ["queued", "running", "waiting"];

export async function countUsed(context: ServiceContext, tenant: string): Promise<ApiQuotas["used"]> {
  const { journal, engine } = context;
  const [queues, statuses, spent, startsPerMinute, storageBytes] = await Promise.all([
    engine.queues(),
    journal.countByStatus(tenant),
    countSpent(context, tenant),
    countStarts(context, tenant),
    context.storedBytes(tenant),
  ]);
  return {
    concurrentRuns: queues.find((queue) => queue.tenant === tenant)?.running ?? 0,
    openRuns: OPEN.reduce((sum, status) => sum + (statuses[status] ?? 0), 0),
    startsPerMinute,
    tokensPerDay: spent.ofAll.tokens,
    costPerDay: spent.ofAll.cost,
    storageBytes,
  };
}

/** Newest first, until one is older than a minute. */
async function countStarts({ journal, now }: ServiceContext, tenant: string): Promise<number> {
  const since = now() - MINUTE_MS;
  let count = 0;
  let before: string | undefined;
  do {
    const page = await journal.list({ tenant, isRoot: true, before, limit: PAGE });
    const recent = page.filter(({ createdAt }) => createdAt > since);
    count += recent.length;
    before = recent.length === PAGE ? page.at(-1)?.id : undefined;
  } while (before !== undefined && count < MOST_COUNTED);
  return count;
}
