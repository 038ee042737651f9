/** Journal reads as database functions: each first names the tenant it reads for. */
const RUNS = `
CREATE FUNCTION metier.get_run(scope text, p_run text) RETURNS SETOF metier.whole_runs LANGUAGE plpgsql AS $$
DECLARE
  owner text;
BEGIN
  owner := metier.enter_run(scope, p_run);
  RETURN QUERY SELECT * FROM metier.whole_runs WHERE tenant = owner AND id = p_run;
END $$;

-- Owed: it waits although something was decided since a worker last took it up, or although nothing is left to be decided.
CREATE FUNCTION metier.list_runs(
  scope text, p_tenant text, p_status text[], p_skill text, p_user text, p_root text, is_root boolean, is_owed boolean,
  p_before text, p_limit bigint
) RETURNS SETOF metier.whole_runs LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  owner text := coalesce(p_tenant, nullif(scope, '*'));
  most bigint := 9223372036854775807;
BEGIN
  PERFORM metier.enter(scope);
  IF p_before IS NOT NULL THEN
    SELECT position INTO most FROM metier.runs
      WHERE id = p_before AND (owner IS NULL OR tenant = owner) ORDER BY position LIMIT 1;
  END IF;
  RETURN QUERY SELECT run.* FROM metier.whole_runs AS run
    WHERE (owner IS NULL OR run.tenant = owner) AND (p_status IS NULL OR run.status = ANY (p_status))
      AND (p_skill IS NULL OR run.skill = p_skill) AND (p_user IS NULL OR run.user_id = p_user)
      AND (p_root IS NULL OR run.root_id = p_root) AND (is_root IS NULL OR (run.parent_id IS NULL) = is_root)
      AND run.position < most
      AND (is_owed IS NULL OR (run.parent_id IS NULL AND run.status = 'waiting' AND (run.is_cancelled
        OR NOT EXISTS (SELECT FROM metier.questions AS question
          WHERE question.tenant = run.tenant AND question.root_id = run.id AND question.status = 'pending' OFFSET 0)
        OR EXISTS (SELECT FROM metier.questions AS question
          WHERE question.tenant = run.tenant AND question.root_id = run.id AND question.answered_at >= run.taken_at OFFSET 0))))
    ORDER BY run.position DESC LIMIT p_limit;
END $$;

CREATE FUNCTION metier.list_cancelled(scope text, p_runs text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  RETURN QUERY SELECT id FROM metier.runs WHERE id = ANY (p_runs) AND is_cancelled;
END $$;

CREATE FUNCTION metier.count_runs(scope text, p_tenant text)
RETURNS TABLE (status text, count bigint) LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  owner text := coalesce(p_tenant, nullif(scope, '*'));
BEGIN
  PERFORM metier.enter(scope);
  RETURN QUERY SELECT run.status, count(*) FROM metier.runs AS run
    WHERE run.parent_id IS NULL AND (owner IS NULL OR run.tenant = owner) GROUP BY run.status;
END $$;
`;

const STEPS = `
CREATE FUNCTION metier.list_entries(scope text, p_run text)
RETURNS TABLE (key text, value text) LANGUAGE plpgsql AS $$
DECLARE
  owner text;
BEGIN
  owner := metier.enter_run(scope, p_run);
  RETURN QUERY SELECT entry.key, entry.value FROM metier.entries AS entry
    WHERE entry.tenant = owner AND entry.run_id = p_run ORDER BY entry.position;
END $$;

CREATE FUNCTION metier.list_events(scope text, p_run text, p_after bigint, p_limit bigint)
RETURNS TABLE (seq bigint, event text) LANGUAGE plpgsql AS $$
DECLARE
  owner text;
BEGIN
  owner := metier.enter_run(scope, p_run);
  RETURN QUERY SELECT line.seq, line.event FROM metier.events AS line
    WHERE line.tenant = owner AND line.run_id = p_run AND line.seq > p_after ORDER BY line.seq LIMIT p_limit;
END $$;

CREATE FUNCTION metier.list_snapshots(scope text)
RETURNS TABLE (tenant text, snapshot text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  RETURN QUERY SELECT DISTINCT entry.tenant, entry.snapshot FROM metier.entries AS entry WHERE entry.snapshot IS NOT NULL;
END $$;

CREATE FUNCTION metier.last_snapshot(scope text, p_root text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  owner text;
BEGIN
  owner := metier.enter_run(scope, p_root);
  RETURN (SELECT last.snapshot FROM metier.runs AS run CROSS JOIN LATERAL (
      SELECT entry.snapshot, entry.position FROM metier.entries AS entry
        WHERE entry.tenant = run.tenant AND entry.run_id = run.id AND entry.snapshot IS NOT NULL
        ORDER BY entry.position DESC LIMIT 1) AS last
    WHERE run.tenant = owner AND run.root_id = p_root ORDER BY last.position DESC LIMIT 1);
END $$;
`;

const USAGE = `
CREATE FUNCTION metier.sum_usage(scope text, p_tenant text, p_by text, p_from bigint, p_to bigint)
RETURNS TABLE (name text, runs bigint, input_tokens numeric, output_tokens numeric, total_tokens numeric,
  cost double precision, without_cost bigint, active_ms numeric) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  RETURN QUERY SELECT
      (CASE p_by WHEN 'day' THEN to_char(to_timestamp(spent.created_at / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')
        WHEN 'skill' THEN coalesce(spent.skill, '') ELSE coalesce(spent.user_id, '') END) COLLATE "C",
      count(*), sum(spent.input_tokens), sum(spent.output_tokens), sum(spent.total_tokens), coalesce(sum(spent.cost), 0),
      count(*) - count(spent.cost), sum(spent.active_ms)
    FROM metier.usage AS spent WHERE spent.tenant = p_tenant AND spent.created_at >= p_from AND spent.created_at < p_to
    GROUP BY 1 ORDER BY 1;
END $$;
`;

export const READING_FUNCTIONS = [RUNS, STEPS, USAGE].join("\n");
