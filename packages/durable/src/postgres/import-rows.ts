/**
 * Copies journal rows from SQLite to Postgres. A root run comes with everything it owns, in one transaction; existing
 * rows stay, so that a killed import can continue.
 */
import type { Row } from "../sqlite/rows.ts";
import { writeText } from "./text.ts";

/** How a table is copied: how its rows are read, and which columns are written. */
export interface CopiedTable {
  readonly name: string;
  readonly insert: string;
  /** Columns that hold JSON, which already escapes what Postgres refuses. */
  readonly json: readonly string[];
}

const ROWS = "FROM json_to_recordset($1::text::json) AS row";

/**
 * Runs that waited for a person are queued again, because the old engine's queue isn't copied. The worker that takes
 * one up finds that it still waits.
 */
const RUNS = `INSERT INTO metier.runs (tenant, id, user_id, skill, parent_id, root_id, status, created_at, updated_at, ended_at,
    active_ms, last_event, is_cancelled, creation)
  SELECT tenant, id, user_id, skill, parent_id, root_id,
    CASE WHEN status = 'waiting' AND parent_id IS NULL THEN 'queued' ELSE status END, created_at, updated_at,
    CASE WHEN metier.is_ended(status) THEN updated_at END, active_ms, last_event, is_cancelled = 1, 0
  ${ROWS} (position bigint, tenant text, id text, user_id text, skill text, parent_id text, root_id text, status text,
    created_at bigint, updated_at bigint, active_ms bigint, last_event bigint, is_cancelled integer)
  ORDER BY position ON CONFLICT DO NOTHING`;

const TEXTS = `INSERT INTO metier.run_texts (tenant, run_id, request, result)
  SELECT tenant, id, request, result ${ROWS} (tenant text, id text, request text, result text) ON CONFLICT DO NOTHING`;

const ENTRIES = `INSERT INTO metier.entries (tenant, run_id, key, value, snapshot)
  SELECT tenant, run_id, key, value, snapshot
  ${ROWS} (position bigint, tenant text, run_id text, key text, value text, snapshot text)
  ORDER BY position ON CONFLICT DO NOTHING`;

const EVENTS = `INSERT INTO metier.events (tenant, run_id, seq, event)
  SELECT tenant, run_id, seq, event ${ROWS} (tenant text, run_id text, seq bigint, event text) ON CONFLICT DO NOTHING`;

const QUESTIONS = `INSERT INTO metier.questions (tenant, id, run_id, root_id, key, kind, body, status, asked_at, expires_at, answer,
    answered_by, answered_at)
  SELECT tenant, id, run_id, root_id, key, kind, body, status, asked_at, expires_at, answer, answered_by, answered_at
  ${ROWS} (position bigint, tenant text, id text, run_id text, root_id text, key text, kind text, body text, status text,
    asked_at bigint, expires_at bigint, answer text, answered_by text, answered_at bigint)
  ORDER BY position ON CONFLICT DO NOTHING`;

const USAGE = `INSERT INTO metier.usage (tenant, created_at, run_id, skill, user_id, input_tokens, output_tokens, total_tokens,
    cost, active_ms)
  SELECT tenant, created_at, run_id, skill, user_id, input_tokens, output_tokens, total_tokens, cost, active_ms
  ${ROWS} (tenant text, created_at bigint, run_id text, skill text, user_id text, input_tokens bigint, output_tokens bigint,
    total_tokens bigint, cost double precision, active_ms bigint) ON CONFLICT DO NOTHING`;

/** The rows of root runs, whose ids are a JSON list: ordered so that each comes after what it depends on. */
export const RUN_TABLES: readonly (CopiedTable & { readonly select: string })[] = [
  { name: "runs", select: ofRuns("runs.*", ""), insert: RUNS, json: ["request", "result"] },
  { name: "runs", select: ofRuns("runs.*", ""), insert: TEXTS, json: ["request", "result"] },
  { name: "entries", select: ofRuns("entries.*, runs.tenant", "entries"), insert: ENTRIES, json: ["value"] },
  { name: "events", select: ofRuns("events.*, runs.tenant", "events"), insert: EVENTS, json: ["event"] },
  {
    name: "questions",
    select: ofRuns("questions.*", "questions"),
    insert: QUESTIONS,
    json: ["body", "answer"],
  },
  { name: "usage", select: ofRuns("usage.*", "usage"), insert: USAGE, json: [] },
];

export const RECORD_TABLE: CopiedTable = {
  name: "records",
  insert: `INSERT INTO metier.records (tenant, kind, id, revision, body, created_at, updated_at)
    SELECT tenant, kind, id, revision, body, created_at, updated_at
    ${ROWS} (position bigint, tenant text, kind text, id text, revision bigint, body text, created_at bigint, updated_at bigint)
    ORDER BY position ON CONFLICT DO NOTHING`,
  json: ["body"],
};

export const AUDIT_TABLE: CopiedTable = {
  name: "audit",
  insert: `INSERT INTO metier.audit (tenant, seq, at, actor, action, subject, detail, previous, digest)
    SELECT tenant, seq, at, actor, action, subject, detail, previous, digest
    ${ROWS} (tenant text, seq bigint, at bigint, actor text, action text, subject text, detail text, previous text, digest text)
    ON CONFLICT DO NOTHING`,
  json: ["detail"],
};

/** After all lines, so that new ones continue the numbering. */
export const AUDIT_HEADS = `INSERT INTO metier.audit_heads (tenant, seq, digest)
  SELECT DISTINCT ON (tenant) tenant, seq, digest FROM metier.audit ORDER BY tenant, seq DESC
  ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, digest = excluded.digest`;

function ofRuns(columns: string, table: string): string {
  const join = table === "" ? "" : `JOIN ${table} ON ${table}.run_id = runs.id`;
  return `SELECT ${columns} FROM runs ${join} WHERE runs.root_id IN (SELECT value FROM json_each(?))`;
}

/** In the form that the inserts take. */
export function writeRows(rows: readonly Row[], { json }: Pick<CopiedTable, "json">): string {
  const isJson = new Set(json);
  const copied = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, cell]) => {
        const value = typeof cell === "string" && !isJson.has(name) ? writeText(cell) : cell;
        return [name, typeof value === "bigint" ? Number(value) : value];
      }),
    ),
  );
  return JSON.stringify(copied);
}
