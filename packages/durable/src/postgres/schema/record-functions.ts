/**
 * Records and audit lines as database functions. A function is one statement, so a change, its condition and its audit
 * line take one message to Postgres and one back, in one transaction.
 *
 * An audit line has the form `{tenant, at, actor, action, subject, detail, head, tail}`. `head` and `tail` are its
 * canonical text before and after the part that only the database knows: its number and the digest of the previous
 * line.
 */
export const RECORD_FUNCTIONS = `
CREATE FUNCTION metier.append_line(line text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  head metier.audit_heads;
  own_digest text;
BEGIN
  IF line IS NULL THEN
    RETURN;
  END IF;
  SELECT * INTO head FROM metier.audit_heads WHERE tenant = line[1] FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO metier.audit_heads (tenant, seq, digest) VALUES (line[1], 0, repeat('0', 64)) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM metier.audit_heads WHERE tenant = line[1] FOR UPDATE;
  END IF;
  own_digest := encode(
    sha256(convert_to(line[7] || head.digest || '","seq":' || (head.seq + 1)::text || line[8], 'UTF8')), 'hex');
  INSERT INTO metier.audit (tenant, seq, at, actor, action, subject, detail, previous, digest)
    VALUES (line[1], head.seq + 1, line[2]::bigint, line[3], line[4], line[5], line[6], head.digest, own_digest);
  UPDATE metier.audit_heads SET seq = head.seq + 1, digest = own_digest WHERE tenant = line[1];
END $$;

-- p_write tells a change that an earlier call of the same has made, and whose answer was lost, from that of another.
CREATE FUNCTION metier.put_record(
  scope text, p_write bigint, p_tenant text, p_kind text, p_id text, p_body text, p_revision bigint, line text[]
) RETURNS SETOF metier.records LANGUAGE plpgsql AS $$
DECLARE
  now_ms bigint := metier.now_ms();
  written metier.records;
BEGIN
  PERFORM metier.enter(scope);
  IF p_revision = 0 THEN
    INSERT INTO metier.records (tenant, kind, id, revision, body, created_at, updated_at, last_write)
      VALUES (p_tenant, p_kind, p_id, 1, p_body, now_ms, now_ms, p_write)
      ON CONFLICT (tenant, kind, id) DO NOTHING RETURNING * INTO written;
  ELSE
    UPDATE metier.records SET revision = revision + 1, body = p_body, updated_at = now_ms, last_write = p_write
      WHERE tenant = p_tenant AND kind = p_kind AND id = p_id AND revision = p_revision RETURNING * INTO written;
  END IF;
  IF written.id IS NOT NULL THEN
    PERFORM metier.append_line(line);
    RETURN NEXT written;
  ELSE
    RETURN QUERY SELECT * FROM metier.records
      WHERE tenant = p_tenant AND kind = p_kind AND id = p_id AND last_write = p_write;
  END IF;
END $$;

-- is_again: an earlier call of the same may have been carried out; its answer was lost.
CREATE FUNCTION metier.delete_record(
  scope text, is_again boolean, p_tenant text, p_kind text, p_id text, line text[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  DELETE FROM metier.records WHERE tenant = p_tenant AND kind = p_kind AND id = p_id;
  IF NOT FOUND THEN
    RETURN is_again;
  END IF;
  PERFORM metier.append_line(line);
  RETURN true;
END $$;

CREATE FUNCTION metier.forget_tenant(scope text, p_tenant text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  gone bigint;
BEGIN
  PERFORM metier.enter(scope);
  DELETE FROM metier.records WHERE tenant = p_tenant;
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

CREATE FUNCTION metier.get_record(scope text, p_tenant text, p_kind text, p_id text)
RETURNS SETOF metier.records LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  RETURN QUERY SELECT * FROM metier.records WHERE tenant = p_tenant AND kind = p_kind AND id = p_id;
END $$;

CREATE FUNCTION metier.find_record(scope text, p_kind text, p_id text)
RETURNS SETOF metier.records LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  RETURN QUERY SELECT * FROM metier.records WHERE kind = p_kind AND id = p_id ORDER BY position LIMIT 1;
END $$;

CREATE FUNCTION metier.list_records(scope text, p_tenant text, p_kind text, p_after text, p_limit bigint)
RETURNS SETOF metier.records LANGUAGE plpgsql AS $$
DECLARE
  least bigint := 0;
BEGIN
  PERFORM metier.enter(scope);
  IF p_after IS NOT NULL THEN
    SELECT position INTO least FROM metier.records WHERE tenant = p_tenant AND kind = p_kind AND id = p_after;
  END IF;
  RETURN QUERY SELECT * FROM metier.records WHERE tenant = p_tenant AND kind = p_kind AND position > least
    ORDER BY position LIMIT p_limit;
END $$;

CREATE FUNCTION metier.list_all_records(scope text, p_kind text)
RETURNS SETOF metier.records LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  RETURN QUERY SELECT * FROM metier.records WHERE kind = p_kind ORDER BY position;
END $$;

CREATE FUNCTION metier.list_audit(scope text, p_tenant text, p_after bigint, p_limit bigint)
RETURNS SETOF metier.audit LANGUAGE plpgsql AS $$
BEGIN
  PERFORM metier.enter(scope);
  RETURN QUERY SELECT * FROM metier.audit WHERE tenant = p_tenant AND seq > p_after ORDER BY seq LIMIT p_limit;
END $$;
`;
