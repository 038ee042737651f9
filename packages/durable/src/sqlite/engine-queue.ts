/** What the engine needs besides openworkflow, in the same file as its tables. */
import { type EngineQueue, FALLBACK_TENANT, FAR_FUTURE } from "../engine/engine-queue.ts";
import type { TenantQueue } from "../run-engine.ts";
import { type Lane, releaseOne } from "./engine-release.ts";
import { IS_ACTIVE } from "./engine-schema.ts";
import type { Database } from "./open-database.ts";

/** Among the runs that openworkflow has and nobody works on. */
const IS_DUE = "status IN ('pending', 'running') AND worker_id IS NULL AND available_at <= :time";

export function openEngineQueue(place: Lane): EngineQueue {
  const { database, lane } = place;
  const { statement, change } = database;
  const hasDue = (now: number): boolean => {
    const sql = `SELECT 1 FROM workflow_runs WHERE namespace_id = ? AND status IN ('pending', 'running', 'sleeping')
      AND available_at <= ? LIMIT 1`;
    return statement(sql).get(lane, timeText(now)) !== undefined;
  };
  return {
    ...readQueue(database, lane),
    ...settleRuns(database, lane),
    async add(runId, { tenant = FALLBACK_TENANT, userId = null, priority = 0, at }) {
      const dueAt = at?.getTime() ?? Date.now();
      const sql = `INSERT INTO engine_queue (run_id, due_at, lane, tenant, user_id, priority) SELECT ?, ?, ?, ?, ?, ?
        WHERE NOT EXISTS (SELECT 1 FROM workflow_runs WHERE namespace_id = ? AND workflow_name = ?)
        ON CONFLICT (run_id) DO NOTHING`;
      const turn = `INSERT INTO engine_tenants (lane, tenant, next_at) VALUES (?, ?, ?) ON CONFLICT (lane, tenant)
        DO UPDATE SET next_at = excluded.next_at WHERE next_at IS NULL OR next_at > excluded.next_at`;
      await change(() => {
        const { changes } = statement(sql).run(runId, dueAt, lane, tenant, userId, priority, lane, runId);
        if (changes > 0) statement(turn).run(lane, tenant, dueAt);
      });
    },
    async limit(tenant, { perTenant = null, perUser = null }) {
      const sql = `INSERT INTO engine_tenants (lane, tenant, per_tenant, per_user) VALUES (?, ?, ?, ?)
        ON CONFLICT (lane, tenant) DO UPDATE SET per_tenant = excluded.per_tenant, per_user = excluded.per_user`;
      await change(() => statement(sql).run(lane, tenant, perTenant, perUser));
    },
    async offer(first) {
      const now = Date.now();
      if (first === "woken" && hasDue(now)) return "woken";
      if (releaseOne(place, now)) return "queued";
      return first === "queued" && hasDue(now) ? "woken" : undefined;
    },
  };
}

function settleRuns(
  { statement, change }: Database,
  lane: string,
): Pick<EngineQueue, "wake" | "park" | "forget" | "purge"> {
  return {
    async wake(runId) {
      const sql = `UPDATE workflow_runs SET metier_woken = worker_id IS NOT NULL, updated_at = :time,
          available_at = CASE WHEN worker_id IS NULL THEN min(available_at, :time) ELSE available_at END
        WHERE namespace_id = :lane AND workflow_name = :run_id AND status IN ('pending', 'running')`;
      await change(() => statement(sql).run({ time: timeText(Date.now()), lane, run_id: runId }));
    },
    async park({ workflowRunId, holder }, until = FAR_FUTURE) {
      const sql = `UPDATE workflow_runs SET worker_id = NULL, metier_woken = 0, updated_at = :time,
          available_at = CASE WHEN metier_woken THEN :time ELSE :until END
        WHERE namespace_id = :lane AND id = :id AND status = 'running' AND worker_id = :holder`;
      const given = { until: until.toISOString(), lane, id: workflowRunId, holder };
      const { changes } = await change(() => statement(sql).run({ ...given, time: timeText(Date.now()) }));
      return changes > 0;
    },
    async forget(runId) {
      await change(() => {
        statement("DELETE FROM engine_queue WHERE lane = ? AND run_id = ?").run(lane, runId);
        const sql = "DELETE FROM workflow_runs WHERE namespace_id = ? AND workflow_name = ?";
        statement(sql).run(lane, runId);
      });
    },
    async purge(before) {
      const ended = `FROM workflow_runs WHERE namespace_id = ? AND status IN ('completed', 'failed', 'canceled') AND finished_at < ?`;
      const given = [lane, before.toISOString()] as const;
      const idle = `DELETE FROM engine_tenants WHERE lane = ? AND next_at IS NULL AND per_tenant IS NULL AND per_user IS NULL`;
      return change(() => {
        statement(idle).run(lane);
        // From older versions, which woke runs by signals.
        statement(`DELETE FROM workflow_signals WHERE workflow_run_id IN (SELECT id ${ended})`).run(...given);
        return Number(statement(`DELETE ${ended}`).run(...given).changes);
      });
    },
  };
}

function readQueue({ statement }: Database, lane: string): Pick<EngineQueue, "queues" | "counts"> {
  const count = (sql: string, values: Readonly<Record<string, string>>): number =>
    Number(statement(`SELECT count(*) AS count FROM ${sql}`).get(values)?.count);
  return {
    async queues() {
      const now = Date.now();
      const sql = `SELECT tenant, sum(queued) AS queued, sum(running) AS running, min(oldest) AS oldest FROM (
          SELECT tenant, count(*) AS queued, 0 AS running, min(due_at) AS oldest
            FROM engine_queue WHERE lane = :lane GROUP BY tenant
          UNION ALL SELECT metier_tenant, count(*), 0, unixepoch(min(available_at), 'subsec') * 1000
            FROM workflow_runs WHERE namespace_id = :lane AND ${IS_DUE} GROUP BY metier_tenant
          UNION ALL SELECT metier_tenant, 0, count(*), NULL
            FROM workflow_runs WHERE namespace_id = :lane AND ${IS_ACTIVE} AND worker_id IS NOT NULL GROUP BY metier_tenant)
        GROUP BY tenant ORDER BY tenant`;
      const rows = statement(sql).all({ lane, time: timeText(now) });
      return rows.map(
        ({ tenant, queued, running, oldest }): TenantQueue => ({
          tenant: String(tenant),
          queued: Number(queued),
          running: Number(running),
          oldestAt: oldest === null || Number(oldest) > now ? undefined : Math.round(Number(oldest)),
        }),
      );
    },
    async counts() {
      const time = timeText(Date.now());
      const parked = "status IN ('pending', 'running') AND worker_id IS NULL AND available_at > :time";
      return {
        queued:
          count("engine_queue WHERE lane = :lane", { lane }) +
          count(`workflow_runs WHERE namespace_id = :lane AND ${IS_DUE}`, { lane, time }),
        parked: count(`workflow_runs WHERE namespace_id = :lane AND ${parked}`, { lane, time }),
        running: count(
          "workflow_runs WHERE namespace_id = :lane AND status = 'running' AND worker_id IS NOT NULL",
          { lane },
        ),
      };
    },
  };
}

/** In openworkflow's format. */
function timeText(time: number): string {
  return new Date(time).toISOString();
}

/** Only if no other process works on the file: runs that a killed worker held can be claimed at once. */
export function endLeases({ statement, transact }: Database, lane: string): void {
  const sql =
    "UPDATE workflow_runs SET available_at = ? WHERE namespace_id = ? AND status = 'running' AND worker_id IS NOT NULL";
  transact(() => statement(sql).run(timeText(Date.now()), lane));
}
