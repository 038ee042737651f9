/** Decides which run waiting for its first worker goes next, and passes it to openworkflow. */
import { IS_ACTIVE } from "./engine-schema.ts";
import type { Database } from "./open-database.ts";
import type { Row } from "./rows.ts";

/** How many of a tenant's runs are checked in order before its users are checked one by one. */
const WINDOW = 100;

export interface Lane {
  readonly database: Database;
  /** openworkflow calls it a namespace. */
  readonly lane: string;
  /** Hands a run to openworkflow, at once. */
  createRun(runId: string): void;
}

/** Whether a run was handed over. */
export function releaseOne({ database, lane, createRun }: Lane, now: number): boolean {
  const { statement, transact } = database;
  const isWaiting = "SELECT 1 FROM engine_tenants WHERE lane = ? AND next_at <= ? LIMIT 1";
  if (statement(isWaiting).get(lane, now) === undefined) return false;
  return transact(() => {
    for (let after = FIRST_TURN; ; ) {
      const turn = statement(NEXT_TURN).get(lane, now, ...after);
      if (turn === undefined) return false;
      const tenant = String(turn.tenant);
      const run = findRun(database, { lane, tenant, now, perUser: turn.per_user });
      if (run === undefined) {
        noteTime(database, lane, tenant, now);
        after = [Number(turn.served), Number(turn.next_at), tenant];
        continue;
      }
      statement("DELETE FROM engine_queue WHERE position = ?").run(Number(run.position));
      statement(SERVE).run(lane, lane, tenant);
      const runId = String(run.run_id);
      if (statement(IS_THERE).get(lane, runId) !== undefined) continue; // Already released, and enqueued again.
      createRun(runId);
      statement(OWN).run(tenant, run.user_id ?? null, lane, runId);
      return true;
    }
  });
}

const FIRST_TURN: readonly [number, number, string] = [-1, 0, ""];

/** The next tenant in turn, after the given one, that has something due and is below its own limit. */
const NEXT_TURN = `SELECT tenant, served, next_at, per_user FROM engine_tenants AS turns
  WHERE lane = ? AND next_at <= ? AND (served, next_at, tenant) > (?, ?, ?)
    AND (per_tenant IS NULL OR per_tenant > (SELECT count(*) FROM workflow_runs
      WHERE namespace_id = turns.lane AND metier_tenant = turns.tenant AND ${IS_ACTIVE}))
  ORDER BY served, next_at, tenant LIMIT 1`;

const SERVE = `UPDATE engine_tenants SET served = (SELECT max(served) FROM engine_tenants WHERE lane = ?) + 1
  WHERE lane = ? AND tenant = ?`;

const IS_THERE = "SELECT 1 FROM workflow_runs WHERE namespace_id = ? AND workflow_name = ?";

const OWN =
  "UPDATE workflow_runs SET metier_tenant = ?, metier_user = ? WHERE namespace_id = ? AND workflow_name = ?";

/**
 * Whether this user may have another run. Uses the names that the surrounding SQL gives the user and the user limit.
 */
const MAY_START = `(:per_user IS NULL OR user_id IS NULL OR :per_user > (SELECT count(*) FROM workflow_runs
  WHERE namespace_id = :lane AND metier_tenant = :tenant AND metier_user = user_id AND ${IS_ACTIVE}))`;

const IN_ORDER = `SELECT position, run_id, user_id FROM (
    SELECT * FROM engine_queue WHERE lane = :lane AND tenant = :tenant ORDER BY priority DESC, due_at, position LIMIT ${WINDOW})
  WHERE due_at <= :now AND ${MAY_START} LIMIT 1`;

/** The first run of each user who may have one, and the first of those, no matter how many runs of other users wait. */
const BY_USER = `WITH RECURSIVE users (user_id) AS (
    SELECT min(user_id) FROM engine_queue WHERE lane = :lane AND tenant = :tenant AND user_id IS NOT NULL
    UNION ALL
    SELECT (SELECT min(user_id) FROM engine_queue WHERE lane = :lane AND tenant = :tenant AND user_id > users.user_id)
      FROM users WHERE user_id IS NOT NULL
  ), heads (head) AS (
    SELECT (SELECT position FROM engine_queue WHERE lane = :lane AND tenant = :tenant AND user_id IS users.user_id
        AND due_at <= :now ORDER BY priority DESC, due_at, position LIMIT 1)
      FROM users WHERE ${MAY_START}
  )
  SELECT position, run_id, user_id FROM heads JOIN engine_queue ON position = head
  ORDER BY priority DESC, due_at, position LIMIT 1`;

interface Turn {
  readonly lane: string;
  readonly tenant: string;
  readonly now: number;
  readonly perUser: Row[string] | undefined;
}

function findRun({ statement }: Database, { lane, tenant, now, perUser = null }: Turn): Row | undefined {
  const given = { lane, tenant, now, per_user: perUser };
  const found = statement(IN_ORDER).get(given);
  if (found) return found;
  const more = "SELECT 1 FROM engine_queue WHERE lane = ? AND tenant = ? LIMIT 1 OFFSET ?";
  if (statement(more).get(lane, tenant, WINDOW) === undefined) return undefined;
  return statement(BY_USER).get(given);
}

/** Nothing is due, so the tenant is skipped until something is. */
function noteTime({ statement }: Database, lane: string, tenant: string, now: number): void {
  const sql = `UPDATE engine_tenants SET next_at = (SELECT min(due_at) FROM engine_queue WHERE lane = :lane AND tenant = :tenant)
    WHERE lane = :lane AND tenant = :tenant
      AND NOT EXISTS (SELECT 1 FROM engine_queue WHERE lane = :lane AND tenant = :tenant AND due_at <= :now)`;
  statement(sql).run({ lane, tenant, now });
}
