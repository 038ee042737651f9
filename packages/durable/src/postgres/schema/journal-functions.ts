/**
 * Journal changes as database functions: one statement, so one message to Postgres and one back. The writing
 * transaction looks up and locks the holder of the lease; `take` waits for a write in progress, and later writes find
 * another holder.
 *
 * `MT001`: the lease was lost. `MT002`: the message says what is wrong.
 */
const STARTING = `
-- quotas: a list of {of, quota, most}. The first that is full, or NULL.
CREATE FUNCTION metier.find_full_quota(p_tenant text, p_user text, quotas jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
  now_ms bigint := metier.now_ms();
  today bigint := now_ms - now_ms % 86400000;
  asked jsonb;
  for_user text;
  most double precision;
  used double precision;
  retry_at bigint;
BEGIN
  FOR asked IN SELECT value FROM jsonb_array_elements(quotas) LOOP
    most := asked ->> 'most';
    for_user := CASE WHEN asked ->> 'of' = 'user' THEN p_user END;
    retry_at := NULL;
    CASE asked ->> 'quota'
    WHEN 'startsPerMinute' THEN
      SELECT count(*), coalesce((array_agg(created_at ORDER BY created_at DESC))[least(greatest(most, 1), 1e9)::integer], now_ms) + 60000
          INTO used, retry_at
        FROM metier.runs WHERE tenant = p_tenant AND parent_id IS NULL AND created_at > now_ms - 60000
          AND (for_user IS NULL OR user_id = for_user);
    WHEN 'openRuns' THEN
      SELECT count(*) INTO used FROM metier.runs WHERE tenant = p_tenant AND parent_id IS NULL
        AND status IN ('queued', 'running', 'waiting') AND (for_user IS NULL OR user_id = for_user);
    ELSE
      SELECT coalesce(CASE WHEN asked ->> 'quota' = 'tokensPerDay' THEN sum(total_tokens) ELSE sum(cost) END, 0),
          today + 86400000 INTO used, retry_at
        FROM metier.usage WHERE tenant = p_tenant AND created_at >= today AND (for_user IS NULL OR user_id = for_user);
    END CASE;
    IF used >= most THEN
      RETURN asked || jsonb_strip_nulls(jsonb_build_object('used', used, 'retryAt', retry_at));
    END IF;
  END LOOP;
  RETURN NULL;
END $$;

CREATE FUNCTION metier.insert_run(
  p_creation bigint, p_tenant text, p_id text, p_user text, p_skill text, p_parent text, p_root text, p_request text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  now_ms bigint := metier.now_ms();
BEGIN
  INSERT INTO metier.runs (tenant, id, user_id, skill, parent_id, root_id, status, created_at, updated_at, creation)
    VALUES (p_tenant, p_id, p_user, p_skill, p_parent, p_root, 'queued', now_ms, now_ms, p_creation)
    ON CONFLICT (tenant, id) DO NOTHING;
  IF FOUND THEN
    INSERT INTO metier.run_texts (tenant, run_id, request) VALUES (p_tenant, p_id, p_request);
    RETURN true;
  END IF;
  RETURN false;
END $$;

-- p_creation tells a run that an earlier call of the same has made from one that was there before.
CREATE FUNCTION metier.create_run(
  scope text, p_creation bigint, p_tenant text, p_id text, p_user text, p_skill text, p_parent text, p_request text,
  line text[], quotas text
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  root text := p_id;
  full_quota jsonb;
BEGIN
  PERFORM metier.enter(scope);
  IF NOT EXISTS (SELECT FROM metier.runs WHERE tenant = p_tenant AND id = p_id) THEN
    IF p_parent IS NOT NULL THEN
      SELECT root_id INTO root FROM metier.runs WHERE tenant = p_tenant AND id = p_parent;
      IF NOT FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'MT002', MESSAGE = format('There is no run \`%s\` in the journal.', p_parent);
      END IF;
    END IF;
    IF quotas IS NOT NULL THEN
      PERFORM pg_advisory_xact_lock(hashtextextended('metier quotas ' || p_tenant, 0));
      full_quota := metier.find_full_quota(p_tenant, p_user, quotas::jsonb);
    END IF;
    IF full_quota IS NULL AND
      metier.insert_run(p_creation, p_tenant, p_id, p_user, p_skill, p_parent, root, p_request) THEN
      PERFORM metier.append_line(line);
    END IF;
  END IF;
  RETURN coalesce(
    (SELECT CASE WHEN creation = p_creation THEN 'created' ELSE 'known' END FROM metier.runs
      WHERE tenant = p_tenant AND id = p_id),
    full_quota::text);
END $$;
`;

const LEASES = `
CREATE FUNCTION metier.lose_lease(p_root text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING ERRCODE = 'MT001', MESSAGE = format('The lease of run \`%s\` was lost.', p_root);
END $$;

CREATE FUNCTION metier.take_run(scope text, p_root text, p_holder text, p_term bigint)
RETURNS SETOF metier.whole_runs LANGUAGE plpgsql AS $$
DECLARE
  owner text;
  now_ms bigint := metier.now_ms();
BEGIN
  owner := metier.enter_run(scope, p_root);
  UPDATE metier.runs SET holder = p_holder, term = p_term, taken_at = now_ms,
      status = CASE WHEN metier.is_ended(status) THEN status ELSE 'running' END,
      updated_at = CASE WHEN metier.is_ended(status) THEN updated_at ELSE now_ms END
    WHERE tenant = owner AND id = p_root AND (p_term > term OR holder = p_holder OR holder IS NULL);
  IF FOUND THEN
    RETURN QUERY SELECT * FROM metier.whole_runs WHERE tenant = owner AND id = p_root;
    RETURN;
  END IF;
  IF NOT EXISTS (SELECT FROM metier.runs WHERE tenant = owner AND id = p_root) THEN
    RAISE EXCEPTION USING ERRCODE = 'MT002', MESSAGE = format('There is no run \`%s\` in the journal.', p_root);
  END IF;
  PERFORM metier.lose_lease(p_root);
END $$;

CREATE FUNCTION metier.require_own(p_run text, run_root text, p_root text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF run_root IS NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'MT002', MESSAGE = format('There is no run \`%s\` in the journal.', p_run);
  ELSIF run_root <> p_root THEN
    RAISE EXCEPTION USING ERRCODE = 'MT002', MESSAGE =
      format('Run \`%s\` belongs to \`%s\`, not to \`%s\`, whose lease this is.', p_run, run_root, p_root);
  END IF;
END $$;

CREATE FUNCTION metier.create_child(
  scope text, p_root text, p_holder text, p_creation bigint, p_tenant text, p_id text, p_user text, p_skill text,
  p_parent text, p_request text
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  owner text;
BEGIN
  owner := metier.enter_run(scope, p_root);
  PERFORM FROM metier.runs WHERE tenant = owner AND id = p_root AND holder = p_holder FOR SHARE;
  IF NOT FOUND THEN
    PERFORM metier.lose_lease(p_root);
  END IF;
  PERFORM metier.require_own(p_parent, (SELECT root_id FROM metier.runs WHERE tenant = owner AND id = p_parent), p_root);
  IF NOT metier.insert_run(p_creation, p_tenant, p_id, p_user, p_skill, p_parent, p_root, p_request) THEN
    PERFORM metier.require_own(p_id, (SELECT root_id FROM metier.runs WHERE tenant = p_tenant AND id = p_id), p_root);
  END IF;
END $$;
`;

const ENDING = `
-- What a run started does not outlast it: nobody would go on with it, or wait for what it asked.
CREATE FUNCTION metier.end_run(run metier.runs, now_ms bigint, spent double precision[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  started text[];
BEGIN
  IF run.parent_id IS NULL THEN
    WITH gone AS (
      UPDATE metier.runs SET status = 'cancelled', updated_at = now_ms, ended_at = now_ms
        WHERE tenant = run.tenant AND root_id = run.id AND id <> run.id AND NOT metier.is_ended(status) RETURNING id
    ) SELECT array_agg(id) INTO started FROM gone;
    INSERT INTO metier.usage
        (tenant, created_at, run_id, skill, user_id, input_tokens, output_tokens, total_tokens, cost, active_ms)
      VALUES (run.tenant, run.created_at, run.id, run.skill, run.user_id, spent[1], spent[2], spent[3], spent[4], run.active_ms);
  END IF;
  PERFORM metier.cancel_questions(run.tenant, started || run.id, now_ms);
END $$;

-- In parts, so that no statement takes long: gives how many root runs are gone, p_limit where there may be more.
CREATE FUNCTION metier.purge_runs(scope text, p_before bigint, p_limit bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
BEGIN
  PERFORM metier.enter(scope);
  DELETE FROM metier.runs WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM metier.runs WHERE ended_at IS NOT NULL AND parent_id IS NULL AND ended_at < p_before
      ORDER BY ended_at LIMIT p_limit FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

CREATE FUNCTION metier.forget_run(scope text, is_again boolean, p_run text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  owner text;
BEGIN
  owner := metier.enter_run(scope, p_run);
  DELETE FROM metier.runs WHERE tenant = owner AND id = p_run AND parent_id IS NULL;
  RETURN FOUND OR (is_again AND NOT EXISTS (SELECT FROM metier.runs WHERE tenant = owner AND id = p_run));
END $$;

CREATE FUNCTION metier.cancel_run(scope text, p_run text, line text[])
RETURNS SETOF metier.whole_runs LANGUAGE plpgsql AS $$
DECLARE
  owner text;
  run metier.runs;
BEGIN
  owner := metier.enter_run(scope, p_run);
  SELECT * INTO run FROM metier.runs WHERE tenant = owner AND id = p_run FOR NO KEY UPDATE;
  IF NOT FOUND OR metier.is_ended(run.status) THEN
    RETURN;
  END IF;
  UPDATE metier.runs SET is_cancelled = true, updated_at = metier.now_ms() WHERE tenant = owner AND id = p_run;
  IF NOT run.is_cancelled THEN
    PERFORM metier.append_line(line);
  END IF;
  RETURN QUERY SELECT * FROM metier.whole_runs WHERE tenant = owner AND id = p_run;
END $$;
`;

/** `p_number` counts a holder's writes, so a write whose answer was lost isn't repeated. */
const WRITING = `
-- Whether all of it is there: after the lease went to another holder, only what was written tells.
CREATE FUNCTION metier.is_written(
  p_tenant text, p_run text, entry_keys text[], entry_values text[], first_event bigint, event_values text[]
) RETURNS boolean LANGUAGE sql AS $$
  SELECT cardinality(entry_keys) + cardinality(event_values) > 0
    AND NOT EXISTS (SELECT FROM unnest(entry_keys, entry_values) AS new (key, value) LEFT JOIN metier.entries AS old
      ON old.tenant = p_tenant AND old.run_id = p_run AND old.key = new.key WHERE old.value IS DISTINCT FROM new.value)
    AND NOT EXISTS (SELECT FROM unnest(event_values) WITH ORDINALITY AS new (event, place) LEFT JOIN metier.events AS old
      ON old.tenant = p_tenant AND old.run_id = p_run AND old.seq = first_event + place - 1
      WHERE old.event IS DISTINCT FROM new.event)
$$;

-- Why a batch was not written: returns only if an earlier call of the same has written it.
CREATE FUNCTION metier.explain_unwritten(
  owner text, is_again boolean, p_root text, p_holder text, p_number bigint, p_run text,
  entry_keys text[], entry_values text[], first_event bigint, event_values text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  run metier.runs;
BEGIN
  PERFORM FROM metier.runs WHERE tenant = owner AND id = p_root AND holder = p_holder FOR SHARE;
  IF NOT FOUND THEN
    IF is_again AND metier.is_written(owner, p_run, entry_keys, entry_values, first_event, event_values) THEN
      RETURN;
    END IF;
    PERFORM metier.lose_lease(p_root);
  END IF;
  SELECT * INTO run FROM metier.runs WHERE tenant = owner AND id = p_run;
  PERFORM metier.require_own(p_run, run.root_id, p_root);
  IF run.last_write = p_number THEN
    RETURN;
  END IF;
  RAISE EXCEPTION USING ERRCODE = 'MT002', MESSAGE = CASE
    WHEN run.last_write > p_number THEN format('A later write to run \`%s\` came before this one.', p_run)
    WHEN metier.is_ended(run.status) THEN
      format('Run \`%s\` has ended (%s): nothing is written to it any more.', p_run, run.status)
    ELSE format('Event %s of run \`%s\` does not follow event %s.', first_event, p_run, run.last_event) END;
END $$;

-- The row of the run is changed first: it tells whether the batch may be written, and is held until it is.
CREATE FUNCTION metier.write_batch(
  scope text, is_again boolean, p_root text, p_holder text, p_number bigint, p_run text,
  entry_keys text[], entry_values text[], entry_snapshots text[], first_event bigint, event_values text[],
  question_ids text[], question_keys text[], question_kinds text[], question_bodies text[], question_ends bigint[],
  p_status text, p_result text, p_active bigint, spent double precision[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  owner text;
  run metier.runs;
  now_ms bigint := metier.now_ms();
  is_end boolean := coalesce(metier.is_ended(p_status), false);
  is_held boolean := true;
BEGIN
  owner := metier.enter_run(scope, p_root);
  IF p_run <> p_root THEN
    PERFORM FROM metier.runs WHERE tenant = owner AND id = p_root AND holder = p_holder FOR SHARE;
    is_held := FOUND;
  END IF;
  UPDATE metier.runs SET last_event = last_event + cardinality(event_values), updated_at = now_ms,
      status = coalesce(p_status, status), active_ms = coalesce(p_active, active_ms), last_write = p_number,
      ended_at = CASE WHEN is_end THEN now_ms END
    WHERE tenant = owner AND id = p_run AND root_id = p_root AND is_held AND (p_run <> p_root OR holder = p_holder)
      AND last_write < p_number AND status IN ('queued', 'running', 'waiting')
      AND (first_event IS NULL OR first_event = last_event + 1)
    RETURNING * INTO run;
  IF NOT FOUND THEN
    PERFORM metier.explain_unwritten(owner, is_again, p_root, p_holder, p_number, p_run,
      entry_keys, entry_values, first_event, event_values);
    RETURN;
  END IF;
  IF cardinality(entry_keys) > 0 THEN
    INSERT INTO metier.entries (tenant, run_id, key, value, snapshot)
      SELECT owner, p_run, new.key, new.value, new.snapshot
      FROM unnest(entry_keys, entry_values, entry_snapshots) WITH ORDINALITY AS new (key, value, snapshot, place)
      ORDER BY place;
  END IF;
  IF cardinality(event_values) > 0 THEN
    INSERT INTO metier.events (tenant, run_id, seq, event)
      SELECT owner, p_run, first_event + place - 1, new.event
      FROM unnest(event_values) WITH ORDINALITY AS new (event, place);
  END IF;
  IF cardinality(question_ids) > 0 THEN
    INSERT INTO metier.questions (tenant, id, run_id, root_id, key, kind, body, asked_at, expires_at)
      SELECT owner, new.id, p_run, p_root, new.key, new.kind, new.body, now_ms, new.ends
      FROM unnest(question_ids, question_keys, question_kinds, question_bodies, question_ends)
        WITH ORDINALITY AS new (id, key, kind, body, ends, place)
      ORDER BY place ON CONFLICT (tenant, run_id, key) DO NOTHING;
  END IF;
  IF p_result IS NOT NULL THEN
    UPDATE metier.run_texts SET result = p_result WHERE tenant = owner AND run_id = p_run;
  END IF;
  IF is_end THEN
    PERFORM metier.end_run(run, now_ms, spent);
  END IF;
END $$;
`;

export const JOURNAL_FUNCTIONS = [STARTING, LEASES, ENDING, WRITING].join("\n");
