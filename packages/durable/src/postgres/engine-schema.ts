/**
 * The engine's own tables, next to openworkflow's. A released migration never changes; new ones follow it.
 *
 * Each frequent operation of a worker is one function, one message and one short transaction. The engine's connections
 * see all tenants (`metier.tenant` is `*` there); all others see only the rows in their scope.
 */
import { ENGINE_FUNCTIONS, IS_ACTIVE, NAMESPACE } from "./engine-functions.ts";
import { keepTenantsApart, STORE_TABLES } from "./schema.ts";

/**
 * With the first index, claims skip parked runs when they look for runs past a deadline; Metier sets no deadlines. The
 * second makes sure that a run released twice is one run.
 */
const RUNS = `
ALTER TABLE openworkflow.workflow_runs
  ADD COLUMN metier_tenant text NOT NULL DEFAULT 'default',
  ADD COLUMN metier_user text,
  ADD COLUMN metier_woken boolean NOT NULL DEFAULT false;
CREATE INDEX metier_deadlines ON openworkflow.workflow_runs (namespace_id, deadline_at) WHERE deadline_at IS NOT NULL;
CREATE UNIQUE INDEX metier_one_run ON openworkflow.workflow_runs (namespace_id, workflow_name);
CREATE INDEX metier_active ON openworkflow.workflow_runs (metier_tenant, metier_user)
  WHERE ${IS_ACTIVE};
CREATE INDEX metier_ended ON openworkflow.workflow_runs (finished_at)
  WHERE namespace_id = '${NAMESPACE}' AND status IN ('completed', 'failed', 'canceled');
`;

/**
 * Turns: tenants by the time of their last turn. `next_at` is never later than the tenant's first due run, and NULL
 * only if none waits. A transaction that adds a run shares a lock on the tenant's row until it commits; one that sets
 * `next_at` later locks the row exclusively, and so has seen every added run.
 */
const QUEUE = `
CREATE TABLE metier.engine_tenants (
  tenant text PRIMARY KEY CHECK (tenant <> '' AND tenant <> '*'),
  served timestamptz NOT NULL DEFAULT '-infinity',
  next_at timestamptz,
  per_tenant integer,
  per_user integer
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
CREATE INDEX engine_turns ON metier.engine_tenants (served, next_at, tenant) WHERE next_at IS NOT NULL;

CREATE TABLE metier.engine_queue (
  tenant text NOT NULL,
  run_id text NOT NULL,
  user_id text NOT NULL,
  priority integer NOT NULL,
  due_at timestamptz NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (tenant, run_id)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
CREATE INDEX engine_queue_by_id ON metier.engine_queue (run_id);
CREATE INDEX engine_queue_in_order ON metier.engine_queue (tenant, priority DESC, due_at, position);
CREATE INDEX engine_queue_by_time ON metier.engine_queue (tenant, due_at);
CREATE INDEX engine_queue_by_user ON metier.engine_queue (tenant, user_id, priority DESC, due_at, position);
`;

/**
 * Plans depend on statistics, and a plan made for an empty queue reads all of it once it has grown. So statistics are
 * updated after a few hundred changes, by autovacuum, which looks about once a minute.
 */
const STATISTICS = ["openworkflow.workflow_runs", "metier.engine_tenants", "metier.engine_queue"]
  .map(
    (table) =>
      `ALTER TABLE ${table} SET (autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 200);\n`,
  )
  .join("");

const WALLS = [
  keepTenantsApart("openworkflow.workflow_runs", "metier_tenant"),
  keepTenantsApart("metier.engine_tenants"),
  keepTenantsApart("metier.engine_queue"),
].join("");

/**
 * For the first minute. Every key starts with the tenant or the namespace. While Postgres does not know that all rows have the
 * same one, it takes any index for as good as the key, and then reads every row for each: for 2,000 runs, a thousand pages
 * instead of four. Only the owner of tables may have them analyzed.
 */
const LEARN = `
CREATE FUNCTION metier.engine_learn() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  runs oid := 'openworkflow.workflow_runs'::regclass;
BEGIN
  IF pg_stat_get_last_analyze_time(runs) IS NULL AND pg_stat_get_last_autoanalyze_time(runs) IS NULL
      AND pg_try_advisory_xact_lock(runs::bigint) THEN
    ANALYZE ${["openworkflow.workflow_runs", ...STORE_TABLES.map((table) => `metier.${table}`)].join(", ")};
  END IF;
END $$;
`;

export const ENGINE_MIGRATIONS: readonly string[] = [
  RUNS + QUEUE + STATISTICS + WALLS + ENGINE_FUNCTIONS,
  LEARN,
];
