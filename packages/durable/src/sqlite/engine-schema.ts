/** The engine's own tables in openworkflow's file, and what it adds to openworkflow's tables. */
import type { Schema } from "./open-database.ts";

/**
 * On openworkflow's own table. Without the first index, every claim reads all parked runs to find those past a
 * deadline; Metier sets no deadlines, so the index is empty. The second makes sure that a run released twice is one
 * run.
 */
const FIRST = `
CREATE INDEX metier_deadlines ON workflow_runs (namespace_id, deadline_at) WHERE deadline_at IS NOT NULL;
CREATE UNIQUE INDEX metier_one_run ON workflow_runs (namespace_id, workflow_name);

CREATE TABLE engine_queue (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL UNIQUE,
  due_at INTEGER NOT NULL
) STRICT;
CREATE INDEX engine_queue_in_order ON engine_queue (due_at, position);
`;

const LANES = `
ALTER TABLE engine_queue ADD COLUMN lane TEXT NOT NULL DEFAULT 'metier';
DROP INDEX engine_queue_in_order;
CREATE INDEX engine_queue_in_order ON engine_queue (lane, due_at, position);
`;

/** Runs that count against a limit. Repeated word for word in indexes and queries; otherwise the index isn't used. */
export const IS_ACTIVE = "(status = 'pending' OR (status = 'running' AND worker_id IS NOT NULL))";

/**
 * Turns: tenants by the number of their last turn. `next_at` is never later than the tenant's first due run, and NULL
 * only if none waits.
 */
const TENANTS = `
ALTER TABLE workflow_runs ADD COLUMN metier_tenant TEXT NOT NULL DEFAULT 'default';
ALTER TABLE workflow_runs ADD COLUMN metier_user TEXT;
ALTER TABLE workflow_runs ADD COLUMN metier_woken INTEGER NOT NULL DEFAULT 0;
CREATE INDEX metier_active ON workflow_runs (namespace_id, metier_tenant, metier_user) WHERE ${IS_ACTIVE};

ALTER TABLE engine_queue ADD COLUMN tenant TEXT NOT NULL DEFAULT 'default';
ALTER TABLE engine_queue ADD COLUMN user_id TEXT;
ALTER TABLE engine_queue ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
DROP INDEX engine_queue_in_order;
CREATE INDEX engine_queue_in_order ON engine_queue (lane, tenant, priority DESC, due_at, position);
CREATE INDEX engine_queue_by_time ON engine_queue (lane, tenant, due_at);
CREATE INDEX engine_queue_by_user ON engine_queue (lane, tenant, user_id, priority DESC, due_at, position);

CREATE TABLE engine_tenants (
  lane TEXT NOT NULL,
  tenant TEXT NOT NULL,
  served INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER,
  per_tenant INTEGER,
  per_user INTEGER,
  PRIMARY KEY (lane, tenant)
) STRICT, WITHOUT ROWID;
CREATE INDEX engine_turns ON engine_tenants (lane, served, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX engine_served ON engine_tenants (lane, served);
INSERT INTO engine_tenants (lane, tenant, next_at) SELECT lane, tenant, min(due_at) FROM engine_queue GROUP BY lane, tenant;
`;

export const ENGINE_SCHEMA: Schema = { name: "engine", migrations: [FIRST, LANES, TENANTS] };
