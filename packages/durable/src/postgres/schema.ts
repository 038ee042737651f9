/**
 * The tables of journal and records. Times are milliseconds since 1970 by the clock of Postgres, which all machines
 * share; values are JSON text, stored byte for byte. A released migration never changes; new ones are added below it.
 *
 * The tenant comes first in every key, and no row can be read or written unless the transaction names its tenant
 * (`metier.enter`), not even by the owner of the tables.
 */
import { JOURNAL_FUNCTIONS } from "./schema/journal-functions.ts";
import { QUESTION_FUNCTIONS } from "./schema/question-functions.ts";
import { READING_FUNCTIONS } from "./schema/reading-functions.ts";
import { RECORD_FUNCTIONS } from "./schema/record-functions.ts";

/** A row of `runs` changes with every step, so long values that never change are in a separate table. */
const RUNS = `
CREATE TABLE metier.runs (
  tenant text NOT NULL CHECK (tenant <> '' AND tenant <> '*'),
  id text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  user_id text,
  skill text,
  parent_id text,
  root_id text NOT NULL,
  status text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  ended_at bigint,
  active_ms bigint NOT NULL DEFAULT 0,
  last_event bigint NOT NULL DEFAULT 0,
  is_cancelled boolean NOT NULL DEFAULT false,
  creation bigint NOT NULL,
  last_write bigint NOT NULL DEFAULT 0,
  holder text,
  term bigint NOT NULL DEFAULT 0,
  taken_at bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, root_id) REFERENCES metier.runs (tenant, id) ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX runs_by_id ON metier.runs (id);
CREATE INDEX runs_in_order ON metier.runs (tenant, position);
CREATE INDEX runs_by_root ON metier.runs (tenant, root_id);
CREATE INDEX runs_by_status ON metier.runs (tenant, status) WHERE parent_id IS NULL;
CREATE INDEX runs_open ON metier.runs (status, position) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX runs_started ON metier.runs (tenant, created_at) WHERE parent_id IS NULL;
CREATE INDEX runs_ended ON metier.runs (ended_at) WHERE ended_at IS NOT NULL AND parent_id IS NULL;

CREATE TABLE metier.run_texts (
  tenant text NOT NULL,
  run_id text NOT NULL,
  request text NOT NULL,
  result text,
  PRIMARY KEY (tenant, run_id),
  FOREIGN KEY (tenant, run_id) REFERENCES metier.runs (tenant, id) ON DELETE CASCADE
);

CREATE TABLE metier.entries (
  tenant text NOT NULL,
  run_id text NOT NULL,
  key text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  value text NOT NULL,
  snapshot text,
  PRIMARY KEY (tenant, run_id, key),
  FOREIGN KEY (tenant, run_id) REFERENCES metier.runs (tenant, id) ON DELETE CASCADE
);
CREATE INDEX entries_with_snapshots ON metier.entries (tenant, run_id, position) WHERE snapshot IS NOT NULL;

CREATE TABLE metier.events (
  tenant text NOT NULL,
  run_id text NOT NULL,
  seq bigint NOT NULL,
  event text NOT NULL,
  PRIMARY KEY (tenant, run_id, seq),
  FOREIGN KEY (tenant, run_id) REFERENCES metier.runs (tenant, id) ON DELETE CASCADE
);

CREATE TABLE metier.questions (
  tenant text NOT NULL,
  id text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  run_id text NOT NULL,
  root_id text NOT NULL,
  key text NOT NULL,
  kind text NOT NULL,
  body text NOT NULL,
  status text NOT NULL DEFAULT 'pending',
  asked_at bigint NOT NULL,
  expires_at bigint,
  answer text,
  answered_by text,
  answered_at bigint,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, run_id, key),
  FOREIGN KEY (tenant, run_id) REFERENCES metier.runs (tenant, id) ON DELETE CASCADE
);
CREATE INDEX questions_by_id ON metier.questions (id);
CREATE INDEX questions_in_order ON metier.questions (tenant, status, position);
CREATE INDEX questions_by_root ON metier.questions (tenant, root_id, position);
CREATE INDEX questions_that_expire ON metier.questions (expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;

CREATE TABLE metier.usage (
  tenant text NOT NULL,
  created_at bigint NOT NULL,
  run_id text NOT NULL,
  skill text,
  user_id text,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  total_tokens bigint NOT NULL,
  cost double precision,
  active_ms bigint NOT NULL,
  PRIMARY KEY (tenant, created_at, run_id),
  UNIQUE (tenant, run_id),
  FOREIGN KEY (tenant, run_id) REFERENCES metier.runs (tenant, id) ON DELETE CASCADE
);
`;

/**
 * The columns that readers get. `OFFSET 0` makes the planner use one key lookup, even for a table that has just grown.
 */
const WHOLE_RUNS = `
CREATE VIEW metier.whole_runs WITH (security_invoker = true) AS
  SELECT tenant, id, position, user_id, skill, parent_id, root_id, request, status, created_at, updated_at,
    active_ms, last_event, is_cancelled, result, taken_at
  FROM metier.runs CROSS JOIN LATERAL (SELECT request, result FROM metier.run_texts
    WHERE run_texts.tenant = runs.tenant AND run_id = id OFFSET 0) AS texts;
`;

const RECORDS = `
CREATE TABLE metier.records (
  tenant text NOT NULL CHECK (tenant <> '' AND tenant <> '*'),
  kind text NOT NULL,
  id text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  revision bigint NOT NULL,
  body text NOT NULL,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  last_write bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, kind, id)
);
CREATE INDEX records_by_kind ON metier.records (kind, id);
CREATE INDEX records_in_order ON metier.records (tenant, kind, position);

CREATE TABLE metier.audit (
  tenant text NOT NULL CHECK (tenant <> '' AND tenant <> '*'),
  seq bigint NOT NULL,
  at bigint NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  subject text NOT NULL,
  detail text,
  previous text NOT NULL,
  digest text NOT NULL,
  PRIMARY KEY (tenant, seq)
);

CREATE TABLE metier.audit_heads (
  tenant text NOT NULL PRIMARY KEY CHECK (tenant <> '' AND tenant <> '*'),
  seq bigint NOT NULL,
  digest text NOT NULL
);
`;

export const STORE_TABLES = [
  "runs",
  "run_texts",
  "entries",
  "events",
  "questions",
  "usage",
  "records",
  "audit",
  "audit_heads",
] as const;

/** `column`: the owner of a row. Nobody but a superuser can read or write the rows of others. */
export function keepTenantsApart(table: string, column = "tenant"): string {
  const isOwn = `current_setting('metier.tenant', true) IN (${column}, '*')`;
  return `
ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;
ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON ${table} USING (${isOwn}) WITH CHECK (${isOwn});
`;
}

/** `scope`: a tenant, or `*`. Valid until the end of the transaction, which is the statement's. */
const SCOPE = `
CREATE FUNCTION metier.enter(scope text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('metier.tenant', scope, true);
END $$;

-- The tenant of a run; enters the scope.
CREATE FUNCTION metier.enter_run(scope text, p_run text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('metier.tenant', scope, true);
  IF scope <> '*' THEN
    RETURN scope;
  END IF;
  RETURN (SELECT tenant FROM metier.runs WHERE id = p_run ORDER BY position LIMIT 1);
END $$;

CREATE FUNCTION metier.now_ms() RETURNS bigint LANGUAGE sql AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

CREATE FUNCTION metier.is_ended(status text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT status NOT IN ('queued', 'running', 'waiting')
$$;
`;

export const STORE_MIGRATIONS: readonly string[] = [
  [
    RUNS,
    WHOLE_RUNS,
    RECORDS,
    ...STORE_TABLES.map((table) => keepTenantsApart(`metier.${table}`)),
    SCOPE,
    RECORD_FUNCTIONS,
    QUESTION_FUNCTIONS,
    JOURNAL_FUNCTIONS,
    READING_FUNCTIONS,
  ].join("\n"),
];
