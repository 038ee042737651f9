/** The reading half of the journal in SQLite: the same for its owner and for readers in other processes. */
import type { DurableRunFilter, JournalReading, QuestionFilter } from "../journal-store.ts";
import { parseCell } from "../rows.ts";
import type { Database } from "./open-database.ts";
import { type Row, readQuestion, readRun } from "./rows.ts";
import { sumUsage } from "./usage.ts";

export function readJournal(database: Database): JournalReading {
  const one = (sql: string, ...values: readonly (string | number)[]): Row | undefined =>
    database.statement(sql).get(...values);
  const all = (sql: string, ...values: readonly (string | number)[]): readonly Row[] =>
    database.statement(sql).all(...values);
  return {
    async get(runId) {
      const row = one("SELECT * FROM runs WHERE id = ?", runId);
      return row && readRun(row);
    },
    async list(filter) {
      const { where, values } = runConditions(filter);
      const sql = `SELECT * FROM runs ${where} ORDER BY position DESC LIMIT ?`;
      return all(sql, ...values, filter.limit).map(readRun);
    },
    usage: async (filter) => sumUsage(database, filter),
    async snapshots() {
      const rows = all(
        "SELECT DISTINCT runs.tenant, snapshot FROM entries JOIN runs ON runs.id = run_id WHERE snapshot IS NOT NULL",
      );
      return rows.map((row) => ({ tenant: String(row.tenant), name: String(row.snapshot) }));
    },
    async lastSnapshot(rootId) {
      const sql = `SELECT snapshot FROM entries JOIN runs ON runs.id = run_id
        WHERE root_id = ? AND snapshot IS NOT NULL ORDER BY entries.position DESC LIMIT 1`;
      const row = one(sql, rootId);
      return row && String(row.snapshot);
    },
    async countByStatus(tenant) {
      const where = tenant === undefined ? "" : "AND tenant = ?";
      const sql = `SELECT status, count(*) AS count FROM runs WHERE parent_id IS NULL ${where} GROUP BY status`;
      const rows = all(sql, ...(tenant === undefined ? [] : [tenant]));
      return Object.fromEntries(rows.map((row) => [String(row.status), Number(row.count)]));
    },
    async cancelled(runIds) {
      // One text for any number of them, so that it is prepared once.
      const sql = "SELECT id FROM runs WHERE is_cancelled = 1 AND id IN (SELECT value FROM json_each(?))";
      return all(sql, JSON.stringify(runIds)).map((row) => String(row.id));
    },
    async entries(runId) {
      const rows = all("SELECT key, value FROM entries WHERE run_id = ? ORDER BY position", runId);
      return rows.map((row) => ({ key: String(row.key), value: parseCell(row.value) }));
    },
    async events(runId, after, limit) {
      const sql = "SELECT seq, event FROM events WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?";
      const rows = all(sql, runId, after, limit);
      return rows.map((row) => ({ seq: Number(row.seq), event: parseCell(row.event) }));
    },
    ...readQuestions(database),
  };
}

function readQuestions(database: Database): Pick<JournalReading, "question" | "questionFor" | "questions"> {
  const one = (sql: string, ...values: readonly string[]): Row | undefined =>
    database.statement(sql).get(...values);
  return {
    async question(id) {
      const row = one("SELECT * FROM questions WHERE id = ?", id);
      return row && readQuestion(row);
    },
    async questionFor(runId, key) {
      const row = one("SELECT * FROM questions WHERE run_id = ? AND key = ?", runId, key);
      return row && readQuestion(row);
    },
    async questions(filter) {
      const { where, values } = questionConditions(filter);
      const sql = `SELECT * FROM questions ${where} ORDER BY position LIMIT ?`;
      const rows: readonly Row[] = database.statement(sql).all(...values, filter.limit);
      return rows.map(readQuestion);
    },
  };
}

interface Conditions {
  readonly where: string;
  readonly values: readonly (string | number)[];
}

/** Waits although something was decided since a worker last took it up, or nothing is left to decide. */
const OWED = `parent_id IS NULL AND status = 'waiting' AND (is_cancelled = 1
  OR NOT EXISTS (SELECT 1 FROM questions WHERE questions.root_id = runs.id AND questions.status = 'pending')
  OR EXISTS (SELECT 1 FROM questions LEFT JOIN leases ON leases.root_id = runs.id
    WHERE questions.root_id = runs.id AND answered_at >= coalesce(taken_at, 0)))`;

function runConditions(filter: DurableRunFilter): Conditions {
  const { tenant, status, skill, userId, rootId, isRoot, isOwed, before } = filter;
  const marks = status?.map(() => "?").join(", ");
  return joinConditions([
    ["tenant = ?", tenant],
    [`status IN (${marks})`, status],
    ["skill = ?", skill],
    ["user_id = ?", userId],
    ["root_id = ?", rootId],
    [OWED, isOwed === true ? [] : undefined],
    ["parent_id IS NULL", isRoot === true ? [] : undefined],
    ["parent_id IS NOT NULL", isRoot === false ? [] : undefined],
    ["position < (SELECT position FROM runs WHERE id = ?)", before],
  ]);
}

function questionConditions({ tenant, rootId, status, kinds, after }: QuestionFilter): Conditions {
  const marks = kinds?.map(() => "?").join(", ");
  return joinConditions([
    [`kind IN (${marks})`, kinds],
    ["tenant = ?", tenant],
    ["root_id = ?", rootId],
    ["status = ?", status],
    ["position > (SELECT position FROM questions WHERE id = ?)", after],
  ]);
}

/** Only the conditions that have values. There are few texts, so each is prepared once. */
function joinConditions(
  conditions: readonly (readonly [string, string | readonly string[] | undefined])[],
): Conditions {
  const used = conditions.filter(([, value]) => value !== undefined);
  return {
    where: used.length === 0 ? "" : `WHERE ${used.map(([condition]) => condition).join(" AND ")}`,
    values: used.flatMap(([, value]) => value ?? []),
  };
}
