/** The queue and its workers, for operators. Operators of tenants other than `default` only see their own part. */
import { forAllTenants } from "@metier/durable";
import type { ApiQueue, ApiTenantQueue } from "../api-operate.ts";
import { listOf, NUMBER_FIELD, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { refuseMissing } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { tellOf } from "../keys/audit-line.ts";
import { DEFAULT_TENANT, isPlatformAdmin } from "../keys/identity.ts";
import type { ServiceContext } from "../service-context.ts";

const GROUP = "operators";
const counts = { queued: NUMBER_FIELD, running: NUMBER_FIELD };
const tenantSchema = objectOf({ tenant: TEXT_FIELD, name: TEXT_FIELD, ...counts, oldestAt: TIME_FIELD }, [
  "tenant",
  "queued",
  "running",
]);
const queueSchema = objectOf(
  {
    ...counts,
    parked: NUMBER_FIELD,
    oldestAt: TIME_FIELD,
    tenants: { type: "array", items: tenantSchema },
  },
  ["queued", "running", "parked", "tenants"],
);
const workerSchema = objectOf({
  id: TEXT_FIELD,
  host: TEXT_FIELD,
  version: TEXT_FIELD,
  slots: NUMBER_FIELD,
  active: NUMBER_FIELD,
  startedAt: TIME_FIELD,
  seenAt: TIME_FIELD,
  state: { enum: ["working", "draining", "silent"] },
});

const readQueue = defineRoute({
  method: "GET",
  path: "/v1/queue",
  scope: "operate",
  group: GROUP,
  summary:
    "Count queued, running and parked runs by tenant: your tenant's, or all of them for operators of the whole service.",
  answers: { 200: { about: "The queue.", schema: queueSchema } },
  async handle({ identity }, context) {
    const { tenant } = identity;
    return replyWith(
      tenant === DEFAULT_TENANT
        ? await wholeQueue(context, isPlatformAdmin(identity))
        : await ownQueue(context, tenant),
    );
  },
});

/** `isNamed`: with the names of tenants. */
async function wholeQueue({ engine, tenants }: ServiceContext, isNamed: boolean): Promise<ApiQueue> {
  return forAllTenants(async () => {
    const [{ queued, running, parked }, queues] = await Promise.all([engine.counts(), engine.queues()]);
    const oldest = Math.min(...queues.flatMap(({ oldestAt }) => oldestAt ?? []));
    return {
      queued,
      running,
      parked,
      ...(Number.isFinite(oldest) && { oldestAt: new Date(oldest).toISOString() }),
      tenants: await Promise.all(
        queues.map(async (queue) => {
          const name = isNamed ? (await tenants.find(queue.tenant))?.name : undefined;
          return { ...showQueue(queue), ...(name !== undefined && { name }) };
        }),
      ),
    };
  });
}

async function ownQueue({ engine, journal }: ServiceContext, tenant: string): Promise<ApiQueue> {
  const [queues, statuses] = await Promise.all([engine.queues(), journal.countByStatus(tenant)]);
  const own = queues.find((queue) => queue.tenant === tenant) ?? { tenant, queued: 0, running: 0 };
  const { tenant: _, ...shown } = showQueue(own);
  return { ...shown, parked: statuses.waiting ?? 0, tenants: [showQueue(own)] };
}

function showQueue(queue: Awaited<ReturnType<ServiceContext["engine"]["queues"]>>[number]): ApiTenantQueue {
  const { tenant, queued, running, oldestAt } = queue;
  return {
    tenant,
    queued,
    running,
    ...(oldestAt !== undefined && { oldestAt: new Date(oldestAt).toISOString() }),
  };
}

const listWorkers = defineRoute({
  method: "GET",
  path: "/v1/workers",
  scope: "operate",
  group: GROUP,
  summary: "List the workers that advance runs. Only the tenant `default` has workers.",
  answers: { 200: { about: "All workers.", schema: listOf(workerSchema) } },
  handle: async ({ identity: { tenant } }, { workers }) =>
    replyWith({ data: tenant === DEFAULT_TENANT ? await workers.list() : [] }),
});

const drainWorker = defineRoute({
  method: "POST",
  path: "/v1/workers/{id}/drain",
  scope: "operate",
  group: GROUP,
  summary: "Drain a worker: it takes no more runs, returns its current ones at their next step, and exits.",
  answers: { 202: { about: "The worker; it learns of this within seconds.", schema: workerSchema } },
  async handle({ identity, param }, { workers }) {
    const id = param("id");
    const line = tellOf(identity, "worker.drained", id);
    const worker = identity.tenant === DEFAULT_TENANT ? await workers.drain(id, line) : undefined;
    return worker ? replyWith(worker, 202) : refuseMissing("worker", id, "/v1/workers");
  },
});

export const QUEUE_ROUTES: readonly ServiceRoute[] = [readQueue, listWorkers, drainWorker];
