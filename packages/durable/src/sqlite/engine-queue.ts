/** What the engine needs beside openworkflow, in the same file as its tables. */
import type { EngineQueue } from "../engine/engine-queue.ts";
import type { Database, Schema } from "./open-database.ts";
import type { Row } from "./rows.ts";

/**
 * The first two are on openworkflow's own table. Without the first, every claim reads all parked runs to find those past a
 * deadline; nobody here has deadlines, so it is empty. The second makes a run that is released twice the same one.
 */
export const ENGINE_SCHEMA: Schema = {
  name: "engine",
  migrations: [
    `
CREATE INDEX metier_deadlines ON workflow_runs (namespace_id, deadline_at) WHERE deadline_at IS NOT NULL;
CREATE UNIQUE INDEX metier_one_run ON workflow_runs (namespace_id, workflow_name);

CREATE TABLE engine_queue (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL UNIQUE,
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX engine_queue_in_order ON engine_queue (due_at, position);
`,
    `
ALTER TABLE engine_queue ADD COLUMN lane TEXT NOT NULL DEFAULT 'metier';
DROP INDEX engine_queue_in_order;
CREATE INDEX engine_queue_in_order ON engine_queue (lane, due_at, position);
`,
  ],
};

/** `namespace`: openworkflow's word for a lane. `createRun`: hands a run to openworkflow, at once. */
export function openEngineQueue(
  database: Database,
  namespace: string,
  createRun: (runId: string) => void,
): EngineQueue {
  const { statement, change, transact } = database;
  const one = (sql: string, ...values: readonly (string | number)[]): Row | undefined =>
    statement(sql).get(...values);
  const count = (sql: string, ...values: readonly (string | number)[]): number =>
    Number(one(sql, ...values)?.count);
  return {
    async add(runId, dueAt) {
      const sql = `INSERT INTO engine_queue (run_id, due_at, lane) SELECT ?, ?, ?
        WHERE NOT EXISTS (SELECT 1 FROM workflow_runs WHERE namespace_id = ? AND workflow_name = ?)
        ON CONFLICT (run_id) DO NOTHING`;
      await change(() => statement(sql).run(runId, dueAt, namespace, namespace, runId));
    },
    async hasDue(now) {
      const sql = `SELECT 1 FROM workflow_runs WHERE namespace_id = ? AND status IN ('pending', 'running', 'sleeping')
        AND available_at <= ? LIMIT 1`;
      return one(sql, namespace, new Date(now).toISOString()) !== undefined;
    },
    async release(now) {
      const sql =
        "SELECT run_id FROM engine_queue WHERE lane = ? AND due_at <= ? ORDER BY due_at, position LIMIT 1";
      const row = one(sql, namespace, now);
      if (row === undefined) return false;
      const runId = String(row.run_id);
      transact(() => {
        const isReleased = "SELECT 1 FROM workflow_runs WHERE namespace_id = ? AND workflow_name = ?";
        if (one(isReleased, namespace, runId) === undefined) createRun(runId);
        statement("DELETE FROM engine_queue WHERE run_id = ?").run(runId);
      });
      return true;
    },
    async counts(now) {
      const time = new Date(now).toISOString();
      const of = (condition: string): string =>
        `SELECT count(*) AS count FROM workflow_runs WHERE namespace_id = ? AND status IN ('pending', 'running') AND ${condition}`;
      return {
        queued:
          count("SELECT count(*) AS count FROM engine_queue WHERE lane = ?", namespace) +
          count(of("worker_id IS NULL AND available_at <= ?"), namespace, time),
        parked: count(of("worker_id IS NULL AND available_at > ?"), namespace, time),
        running: count(of("worker_id IS NOT NULL"), namespace),
      };
    },
    async purge(before) {
      const ended = `FROM workflow_runs WHERE namespace_id = ? AND status IN ('completed', 'failed', 'canceled') AND finished_at < ?`;
      const given = [namespace, new Date(before).toISOString()] as const;
      return change(() => {
        statement(`DELETE FROM workflow_signals WHERE workflow_run_id IN (SELECT id ${ended})`).run(...given);
        return Number(statement(`DELETE ${ended}`).run(...given).changes);
      });
    },
    close: async () => database.close(),
  };
}

/** For whoever knows that no other process works on the file: what a worker held that was killed can be claimed at once. */
export function endLeases({ statement, transact }: Database, namespace: string): void {
  const sql =
    "UPDATE workflow_runs SET available_at = ? WHERE namespace_id = ? AND status = 'running' AND worker_id IS NOT NULL";
  transact(() => statement(sql).run(new Date().toISOString(), namespace));
}
