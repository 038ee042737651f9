/** What the engine needs besides openworkflow, in the same database as its tables. */
import { type EngineQueue, FALLBACK_TENANT, type RunSource } from "../engine/engine-queue.ts";
import type { TenantQueue } from "../run-engine.ts";
import { IS_ACTIVE, IS_DUE, NAMESPACE } from "./engine-functions.ts";
import { insist as askAgain } from "./insist.ts";
import type { LivePool } from "./live-pool.ts";
import type { Pool } from "./open-pool.ts";

/** How many rows one transaction removes, so that nobody waits long for one. */
const PURGED_AT_ONCE = 2_000;

export function openEngineQueue({ ask }: LivePool): EngineQueue {
  const insist = <Value>(call: (sql: Pool) => Promise<Value>): Promise<Value> => askAgain(() => ask(call));
  return {
    ...readQueue(insist),
    async add(runId, { tenant = FALLBACK_TENANT, userId = null, priority = 0, at }) {
      await insist(
        (sql) =>
          sql`SELECT metier.engine_add(${runId}, ${tenant}, ${userId}, ${priority}, ${fromNow(at) ?? 0})`,
      );
    },
    async limit(tenant, { perTenant = null, perUser = null }) {
      await insist(
        (sql) => sql`
          INSERT INTO metier.engine_tenants (tenant, per_tenant, per_user) VALUES (${tenant}, ${perTenant}, ${perUser})
          ON CONFLICT (tenant) DO UPDATE SET per_tenant = excluded.per_tenant, per_user = excluded.per_user`,
      );
    },
    async forget(runId) {
      await insist((sql) => sql`SELECT metier.engine_forget(${runId})`);
    },
    async offer(first) {
      const [row] = await ask((sql) => sql`SELECT metier.engine_offer(${first === "queued"}) AS found`);
      return (row?.found as RunSource | "busy" | null | undefined) ?? undefined;
    },
    async wake(runId) {
      await insist((sql) => sql`SELECT metier.engine_wake(${runId})`);
    },
    async park({ workflowRunId, holder }, until) {
      const delayMs = fromNow(until) ?? null;
      const [row] = await ask(
        (sql) => sql`SELECT metier.engine_park(${workflowRunId}, ${holder}, ${delayMs}) AS is_parked`,
      );
      return row?.isParked === true;
    },
    async purge(before) {
      await insist(
        (sql) =>
          sql`DELETE FROM metier.engine_tenants WHERE next_at IS NULL AND per_tenant IS NULL AND per_user IS NULL`,
      );
      let purged = 0;
      for (let count = PURGED_AT_ONCE; count === PURGED_AT_ONCE; purged += count) {
        count = await insist((sql) => purgeSome(sql, before));
      }
      return purged;
    },
  };
}

/** By this machine's clock. Postgres adds it to its own time, so it doesn't matter which clock is wrong. */
function fromNow(time: Date | undefined): number | undefined {
  return time && time.getTime() - Date.now();
}

async function purgeSome(sql: Pool, before: Date): Promise<number> {
  const { count } = await sql`
    DELETE FROM openworkflow.workflow_runs WHERE namespace_id = ${NAMESPACE} AND id IN (
      SELECT id FROM openworkflow.workflow_runs
      WHERE namespace_id = ${NAMESPACE} AND status IN ('completed', 'failed', 'canceled') AND finished_at < ${before}
      LIMIT ${PURGED_AT_ONCE})`;
  return count;
}

function readQueue(
  insist: <Value>(call: (sql: Pool) => Promise<Value>) => Promise<Value>,
): Pick<EngineQueue, "queues" | "counts"> {
  return {
    async queues() {
      const rows = await insist((sql) => sql.unsafe(QUEUES));
      return rows.map(
        ({ tenant, queued, running, oldest }): TenantQueue => ({
          tenant: String(tenant),
          queued: Number(queued),
          running: Number(running),
          oldestAt: oldest === null ? undefined : Math.round(Number(oldest)),
        }),
      );
    },
    async counts() {
      const [row] = await insist((sql) => sql.unsafe(COUNTS));
      return { queued: Number(row?.queued), parked: Number(row?.parked), running: Number(row?.running) };
    },
  };
}

const QUEUES = `
SELECT tenant, sum(queued) AS queued, sum(running) AS running, extract(epoch FROM min(oldest)) * 1000 AS oldest FROM (
  SELECT tenant, count(*) AS queued, 0 AS running, min(due_at) FILTER (WHERE due_at <= clock_timestamp()) AS oldest
    FROM metier.engine_queue GROUP BY tenant
  UNION ALL
  SELECT metier_tenant, count(*), 0, min(available_at) FROM openworkflow.workflow_runs WHERE ${IS_DUE} GROUP BY metier_tenant
  UNION ALL
  SELECT metier_tenant, 0, count(*), NULL FROM openworkflow.workflow_runs
    WHERE ${IS_ACTIVE} AND worker_id IS NOT NULL GROUP BY metier_tenant
) AS parts GROUP BY tenant ORDER BY tenant`;

const COUNTS = `
SELECT (SELECT count(*) FROM metier.engine_queue) + (SELECT count(*) FROM openworkflow.workflow_runs WHERE ${IS_DUE}) AS queued,
  (SELECT count(*) FROM openworkflow.workflow_runs WHERE namespace_id = '${NAMESPACE}'
    AND status IN ('pending', 'running') AND worker_id IS NULL AND available_at > clock_timestamp()) AS parked,
  (SELECT count(*) FROM openworkflow.workflow_runs WHERE ${IS_ACTIVE} AND worker_id IS NOT NULL) AS running`;
