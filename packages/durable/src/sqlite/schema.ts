/**
 * The tables of journal and records. Times are milliseconds since 1970, values are JSON text. A released migration
 * never changes; new ones are added below it.
 */
import type { Schema } from "./open-database.ts";

const RUNS = `
CREATE TABLE runs (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  user_id TEXT,
  skill TEXT,
  parent_id TEXT,
  root_id TEXT NOT NULL,
  request TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  active_ms INTEGER NOT NULL DEFAULT 0,
  last_event INTEGER NOT NULL DEFAULT 0,
  is_cancelled INTEGER NOT NULL DEFAULT 0,
  result TEXT,
  FOREIGN KEY (root_id) REFERENCES runs (id) ON DELETE CASCADE
) STRICT;
CREATE INDEX runs_by_tenant ON runs (tenant, position);
CREATE INDEX runs_by_status ON runs (status, position);
CREATE INDEX runs_by_root ON runs (root_id);

CREATE TABLE leases (
  root_id TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  holder TEXT NOT NULL,
  term INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
  position INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  snapshot TEXT,
  UNIQUE (run_id, key)
) STRICT;
CREATE INDEX entries_with_snapshots ON entries (snapshot) WHERE snapshot IS NOT NULL;

CREATE TABLE events (
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  event TEXT NOT NULL,
  PRIMARY KEY (run_id, seq)
) STRICT;

CREATE TABLE questions (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  root_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  body TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending',
  asked_at INTEGER NOT NULL,
  expires_at INTEGER,
  answer TEXT,
  answered_by TEXT,
  answered_at INTEGER,
  UNIQUE (run_id, key)
) STRICT;
CREATE INDEX questions_by_tenant ON questions (tenant, status, kind, position);
CREATE INDEX questions_by_root ON questions (root_id, position);
CREATE INDEX questions_that_expire ON questions (expires_at) WHERE status = 'pending' AND expires_at IS NOT NULL;
`;

const RECORDS = `
CREATE TABLE records (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, kind, id)
) STRICT;
CREATE INDEX records_by_kind ON records (kind, id);
CREATE INDEX records_in_order ON records (tenant, kind, position);

CREATE TABLE audit (
  tenant TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  detail TEXT,
  previous TEXT NOT NULL,
  digest TEXT NOT NULL,
  PRIMARY KEY (tenant, seq)
) STRICT, WITHOUT ROWID;
`;

/** When a worker last took up the run: a later answer may not have reached it. */
const TAKEN = "ALTER TABLE leases ADD COLUMN taken_at INTEGER NOT NULL DEFAULT 0;";

/** One row for each root run that has ended, in the order of summing; removed with the run. */
const USAGE = `
CREATE TABLE usage (
  tenant TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  skill TEXT,
  user_id TEXT,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  total_tokens INTEGER NOT NULL,
  cost REAL,
  active_ms INTEGER NOT NULL,
  PRIMARY KEY (tenant, created_at, run_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX usage_by_run ON usage (run_id);
INSERT INTO usage (run_id, tenant, created_at, skill, user_id, input_tokens, output_tokens, total_tokens, cost, active_ms)
  SELECT id, tenant, created_at, skill, user_id,
    CAST(coalesce(json_extract(result, '$.usage.inputTokens'), 0) AS INTEGER),
    CAST(coalesce(json_extract(result, '$.usage.outputTokens'), 0) AS INTEGER),
    CAST(coalesce(json_extract(result, '$.usage.totalTokens'), 0) AS INTEGER),
    CAST(json_extract(result, '$.cost') AS REAL), active_ms
  FROM runs WHERE parent_id IS NULL AND result IS NOT NULL;
`;

/** For quotas: how many runs were started recently, and how many haven't ended. */
const STARTED = `
CREATE INDEX runs_started ON runs (tenant, created_at) WHERE parent_id IS NULL;
CREATE INDEX runs_by_tenant_and_status ON runs (tenant, status) WHERE parent_id IS NULL;
`;

export const STORE_SCHEMA: Schema = { name: "store", migrations: [RUNS + RECORDS, TAKEN, USAGE, STARTED] };
