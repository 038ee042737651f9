/**
 * Questions to people as database functions: each is asked once and answered once, no matter who answers or how often.
 */
export const QUESTION_FUNCTIONS = `
-- Of runs that have ended: nobody waits for them any more.
CREATE FUNCTION metier.cancel_questions(p_tenant text, p_runs text[], now_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE metier.questions SET status = 'cancelled', answered_at = now_ms
    WHERE tenant = p_tenant AND run_id = ANY (p_runs) AND status = 'pending';
END $$;

-- outcome: taken or late; no row: there is no such question.
CREATE FUNCTION metier.answer_question(
  scope text, is_again boolean, p_id text, p_status text, p_answer text, p_by text, line text[]
) RETURNS TABLE (outcome text, question metier.questions) LANGUAGE plpgsql AS $$
DECLARE
  asked metier.questions;
  now_ms bigint := metier.now_ms();
BEGIN
  PERFORM metier.enter(scope);
  SELECT * INTO asked FROM metier.questions WHERE id = p_id AND (scope = '*' OR tenant = scope)
    ORDER BY position LIMIT 1 FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF asked.status <> 'pending' THEN
    RETURN QUERY SELECT CASE WHEN is_again AND asked.status = p_status AND asked.answered_by = p_by
      AND asked.answer IS NOT DISTINCT FROM p_answer THEN 'taken' ELSE 'late' END, asked;
    RETURN;
  END IF;
  IF asked.expires_at <= now_ms THEN
    UPDATE metier.questions SET status = 'expired', answered_at = now_ms
      WHERE tenant = asked.tenant AND id = p_id RETURNING * INTO asked;
    RETURN QUERY SELECT 'late', asked;
    RETURN;
  END IF;
  UPDATE metier.questions SET status = p_status, answer = p_answer, answered_by = p_by, answered_at = now_ms
    WHERE tenant = asked.tenant AND id = p_id RETURNING * INTO asked;
  PERFORM metier.append_line(line);
  RETURN QUERY SELECT 'taken', asked;
END $$;

-- is_again: gives those, too, that an earlier call may have found.
CREATE FUNCTION metier.expire_questions(scope text, is_again boolean, p_now bigint)
RETURNS SETOF metier.questions LANGUAGE plpgsql AS $$
DECLARE
  now_ms bigint := metier.now_ms();
BEGIN
  PERFORM metier.enter(scope);
  IF is_again THEN
    RETURN QUERY SELECT * FROM metier.questions WHERE status = 'expired' AND answered_at > now_ms - 120000;
  END IF;
  RETURN QUERY UPDATE metier.questions SET status = 'expired', answered_at = now_ms
    WHERE status = 'pending' AND expires_at IS NOT NULL AND expires_at <= p_now RETURNING *;
END $$;

CREATE FUNCTION metier.get_question(scope text, p_id text) RETURNS SETOF metier.questions LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  IF scope <> '*' THEN
    RETURN QUERY SELECT * FROM metier.questions WHERE tenant = scope AND id = p_id;
  ELSE
    RETURN QUERY SELECT * FROM metier.questions WHERE id = p_id ORDER BY position LIMIT 1;
  END IF;
END $$;

CREATE FUNCTION metier.find_question(scope text, p_run text, p_key text)
RETURNS SETOF metier.questions LANGUAGE plpgsql AS $$
DECLARE
  owner text;
BEGIN
  owner := metier.enter_run(scope, p_run);
  RETURN QUERY SELECT * FROM metier.questions WHERE tenant = owner AND run_id = p_run AND key = p_key;
END $$;

CREATE FUNCTION metier.list_questions(
  scope text, p_kinds text[], p_tenant text, p_root text, p_status text, p_after text, p_limit bigint
) RETURNS SETOF metier.questions LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  owner text := coalesce(p_tenant, nullif(scope, '*'));
  least bigint := 0;
BEGIN
  PERFORM metier.enter(scope);
  IF p_after IS NOT NULL THEN
    SELECT position INTO least FROM metier.get_question(scope, p_after);
  END IF;
  RETURN QUERY SELECT * FROM metier.questions
    WHERE (owner IS NULL OR tenant = owner) AND (p_kinds IS NULL OR kind = ANY (p_kinds))
      AND (p_root IS NULL OR root_id = p_root) AND (p_status IS NULL OR status = p_status) AND position > least
    ORDER BY position LIMIT p_limit;
END $$;
`;
