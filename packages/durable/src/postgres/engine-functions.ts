/**
 * The engine's frequent operations, as database functions: one message to Postgres, one back, and one short
 * transaction. Times are by the clock of Postgres, which all machines share.
 *
 * The engine's connections don't wait for the disk (`synchronous_commit`): if Postgres crashes and loses the last
 * claim, lease or end, the run is advanced once more. Adding or waking a run does wait, because nobody would repeat it.
 */

/** openworkflow's name for the set of runs that an engine sees. */
export const NAMESPACE = "metier";

/** Runs that count against a limit. Repeated word for word in indexes and queries; otherwise the index isn't used. */
export const IS_ACTIVE = `namespace_id = '${NAMESPACE}' AND (status = 'pending' OR (status = 'running' AND worker_id IS NOT NULL))`;

/** Among the runs that openworkflow has and nobody works on. */
export const IS_DUE = `namespace_id = '${NAMESPACE}' AND status IN ('pending', 'running') AND worker_id IS NULL AND available_at <= clock_timestamp()`;

/** How many of a tenant's runs are checked in order before its users are checked one by one. */
const WINDOW = 100;

/**
 * Whether this user may have another run. Uses the names that the surrounding SQL gives the user and the user limit.
 */
const MAY_START = `(most IS NULL OR user_id = '' OR most > (SELECT count(*) FROM openworkflow.workflow_runs
        WHERE metier_tenant = of_tenant AND metier_user = user_id AND ${IS_ACTIVE}))`;

/** For `tenants`: something is due, and the tenant is below its own limit. */
const CAN_HAVE_TURN = `next_at IS NOT NULL AND next_at <= now_is
        AND (per_tenant IS NULL OR per_tenant > (SELECT count(*) FROM openworkflow.workflow_runs
          WHERE metier_tenant = tenants.tenant AND ${IS_ACTIVE}))`;

/** Without its scope, an engine would see nothing and nobody would notice. */
const ENTER = `
CREATE FUNCTION metier.engine_enter() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('metier.tenant', true) IS DISTINCT FROM '*' THEN
    RAISE EXCEPTION 'The connection of the engine has lost its setting metier.tenant: something between Metier and Postgres drops what a connection is started with.'
      USING HINT = 'Connect the engine to Postgres itself, not to a pooler.';
  END IF;
END $$;
`;

/**
 * Runs can be added concurrently: each transaction shares the tenant's row until it commits. Only a tenant's first run,
 * or one that is due before all others, changes that row.
 */
const ADD = `
CREATE FUNCTION metier.engine_add(
  of_run text, of_tenant text, of_user text, of_priority integer, delay_ms double precision
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  due timestamptz := clock_timestamp() + delay_ms * interval '1 millisecond';
  known timestamptz;
BEGIN
  PERFORM metier.engine_enter();
  PERFORM set_config('synchronous_commit', 'on', true);
  IF EXISTS (SELECT FROM openworkflow.workflow_runs WHERE namespace_id = '${NAMESPACE}' AND workflow_name = of_run) THEN
    RETURN;
  END IF;
  LOOP
    SELECT next_at INTO known FROM metier.engine_tenants WHERE tenant = of_tenant FOR KEY SHARE;
    EXIT WHEN FOUND;
    INSERT INTO metier.engine_tenants (tenant) VALUES (of_tenant) ON CONFLICT DO NOTHING;
  END LOOP;
  INSERT INTO metier.engine_queue (run_id, tenant, user_id, priority, due_at)
    VALUES (of_run, of_tenant, coalesce(of_user, ''), of_priority, due) ON CONFLICT (tenant, run_id) DO NOTHING;
  IF FOUND AND (known IS NULL OR known > due) THEN
    UPDATE metier.engine_tenants SET next_at = due WHERE tenant = of_tenant AND (next_at IS NULL OR next_at > due);
  END IF;
END $$;
`;

/**
 * The first run in order whose user is within the limit: usually the very first. The last statement covers the case of
 * many runs of users who aren't.
 */
const FIND = `
CREATE FUNCTION metier.engine_find(of_tenant text, most integer, now_is timestamptz, OUT found_run text, OUT found_user text)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT run_id, user_id INTO found_run, found_user FROM (
      SELECT * FROM metier.engine_queue WHERE tenant = of_tenant ORDER BY priority DESC, due_at, position LIMIT 1
    ) AS first_one
    WHERE due_at <= now_is AND ${MAY_START};
  IF found_run IS NOT NULL THEN
    RETURN;
  END IF;
  SELECT run_id, user_id INTO found_run, found_user FROM (
      SELECT * FROM metier.engine_queue WHERE tenant = of_tenant ORDER BY priority DESC, due_at, position LIMIT ${WINDOW}
    ) AS first_ones
    WHERE due_at <= now_is AND ${MAY_START}
    ORDER BY priority DESC, due_at, position LIMIT 1;
  IF found_run IS NOT NULL OR NOT EXISTS (SELECT FROM metier.engine_queue WHERE tenant = of_tenant OFFSET ${WINDOW}) THEN
    RETURN;
  END IF;
  WITH RECURSIVE users AS (
    SELECT min(user_id) AS user_id FROM metier.engine_queue WHERE tenant = of_tenant
    UNION ALL
    SELECT (SELECT min(later.user_id) FROM metier.engine_queue AS later
        WHERE later.tenant = of_tenant AND later.user_id > users.user_id)
      FROM users WHERE users.user_id IS NOT NULL
  )
  SELECT head.run_id, head.user_id INTO found_run, found_user
    FROM (SELECT user_id FROM users WHERE ${MAY_START}) AS free
    CROSS JOIN LATERAL (
      SELECT * FROM metier.engine_queue AS own
        WHERE own.tenant = of_tenant AND own.user_id = free.user_id AND own.due_at <= now_is
        ORDER BY own.priority DESC, own.due_at, own.position LIMIT 1
    ) AS head
    ORDER BY head.priority DESC, head.due_at, head.position LIMIT 1;
END $$;
`;

/**
 * Locks the tenant's row while one of its runs is released, so concurrent releases never exceed its limits. Nobody
 * waits for a row here, so there are no deadlocks: tenants that someone else serves are skipped, and if no other tenant
 * has anything, the answer is `busy`.
 */
const RELEASE = `
CREATE FUNCTION metier.engine_release() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  now_is timestamptz := clock_timestamp();
  turn metier.engine_tenants := ROW('', '-infinity', '-infinity', NULL, NULL);
  seen text[] := '{}';
  found_run text;
  found_user text;
  first_due timestamptz;
BEGIN
  LOOP
    SELECT * INTO turn FROM metier.engine_tenants AS tenants
      WHERE ${CAN_HAVE_TURN} AND (served, next_at, tenant) > (turn.served, turn.next_at, turn.tenant)
      ORDER BY served, next_at, tenant LIMIT 1 FOR NO KEY UPDATE OF tenants SKIP LOCKED;
    EXIT WHEN NOT FOUND;
    seen := seen || turn.tenant;
    -- Once more, since others may have released before the row was held.
    CONTINUE WHEN turn.per_tenant <= (SELECT count(*) FROM openworkflow.workflow_runs
      WHERE metier_tenant = turn.tenant AND ${IS_ACTIVE});
    SELECT * INTO found_run, found_user FROM metier.engine_find(turn.tenant, turn.per_user, now_is);
    IF found_run IS NULL THEN
      PERFORM FROM metier.engine_tenants WHERE tenant = turn.tenant FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      SELECT min(due_at) INTO first_due FROM metier.engine_queue WHERE tenant = turn.tenant;
      IF first_due IS NULL OR first_due > now_is THEN
        UPDATE metier.engine_tenants SET next_at = first_due WHERE tenant = turn.tenant;
      END IF;
      CONTINUE;
    END IF;
    DELETE FROM metier.engine_queue WHERE tenant = turn.tenant AND run_id = found_run;
    CONTINUE WHEN NOT FOUND;
    UPDATE metier.engine_tenants SET served = clock_timestamp() WHERE tenant = turn.tenant;
    INSERT INTO openworkflow.workflow_runs (
        namespace_id, id, workflow_name, status, config, attempts, metier_tenant, metier_user, available_at, created_at, updated_at
      ) VALUES (
        '${NAMESPACE}', gen_random_uuid(), found_run, 'pending', '{}', 0, turn.tenant, nullif(found_user, ''), now_is, now_is, now_is
      ) ON CONFLICT (namespace_id, workflow_name) DO NOTHING;
    IF FOUND THEN
      RETURN 'queued';
    END IF;
  END LOOP;
  RETURN CASE WHEN EXISTS (SELECT FROM metier.engine_tenants AS tenants
    WHERE ${CAN_HAVE_TURN} AND tenant <> ALL (seen)) THEN 'busy' END;
END $$;
`;

const OFFER = `
CREATE FUNCTION metier.engine_offer(is_queue_first boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  released text;
BEGIN
  PERFORM metier.engine_enter();
  IF is_queue_first THEN
    released := metier.engine_release();
    IF released = 'queued' THEN
      RETURN released;
    END IF;
  END IF;
  IF EXISTS (SELECT FROM openworkflow.workflow_runs WHERE namespace_id = '${NAMESPACE}'
      AND status IN ('pending', 'running', 'sleeping') AND available_at <= clock_timestamp()) THEN
    RETURN 'woken';
  END IF;
  IF is_queue_first THEN
    RETURN released;
  END IF;
  RETURN metier.engine_release();
END $$;
`;

/** One row, changed by one statement: waking and parking the same run happen one after the other, in either order. */
const WAKE = `
CREATE FUNCTION metier.engine_wake(of_run text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.engine_enter();
  PERFORM set_config('synchronous_commit', 'on', true);
  UPDATE openworkflow.workflow_runs
    SET metier_woken = worker_id IS NOT NULL, updated_at = clock_timestamp(),
      available_at = CASE WHEN worker_id IS NULL THEN least(available_at, clock_timestamp()) ELSE available_at END
    WHERE namespace_id = '${NAMESPACE}' AND workflow_name = of_run AND status IN ('pending', 'running');
END $$;

CREATE FUNCTION metier.engine_park(of_id text, holder text, delay_ms double precision) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE openworkflow.workflow_runs
    SET worker_id = NULL, metier_woken = false, updated_at = clock_timestamp(),
      available_at = CASE WHEN metier_woken THEN clock_timestamp() WHEN delay_ms IS NULL THEN '9999-12-31'
        ELSE clock_timestamp() + delay_ms * interval '1 millisecond' END
    WHERE namespace_id = '${NAMESPACE}' AND id = of_id AND status = 'running' AND worker_id = holder;
  RETURN FOUND;
END $$;

CREATE FUNCTION metier.engine_forget(of_run text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.engine_enter();
  PERFORM set_config('synchronous_commit', 'on', true);
  DELETE FROM metier.engine_queue WHERE run_id = of_run;
  DELETE FROM openworkflow.workflow_runs WHERE namespace_id = '${NAMESPACE}' AND workflow_name = of_run;
END $$;
`;

export const ENGINE_FUNCTIONS = [ENTER, ADD, FIND, RELEASE, OFFER, WAKE].join("");
