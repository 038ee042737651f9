/**
 * The writing half of the journal in SQLite. A run's writes are fenced: the transaction that writes checks who holds
 * its lease.
 */
import {
  type DurableRun,
  type DurableStatus,
  ENDED,
  type JournalBatch,
  type JournalEntry,
  type JournalLease,
  type JournalStore,
  LeaseLostError,
  type NewDurableRun,
} from "../journal-store.ts";
import type { NewAuditLine } from "../record-store.ts";
import { writeOptionalJson } from "../rows.ts";
import { appendLine } from "./audit.ts";
import type { Database } from "./open-database.ts";
import { askQuestions, cancelQuestions } from "./questions.ts";
import { findFullQuota } from "./quotas.ts";
import { type Row, readRun } from "./rows.ts";
import { noteUsage } from "./usage.ts";

type JournalWriting = Pick<
  JournalStore,
  "create" | "take" | "write" | "createChild" | "cancel" | "purge" | "forget"
>;

const ENDED_NAMES = [...ENDED].map((status) => `'${status}'`).join(", ");

export function writeJournal(database: Database): JournalWriting {
  const { statement, change, keep } = database;
  return {
    async create(run, line, quotas) {
      return keep(() => {
        if (findRun(database, run.id)) return "known";
        const full = findFullQuota(database, run, quotas);
        if (full) return full;
        insertRun(database, run, rootOf(database, run));
        appendLine(database, line);
        return "created";
      });
    },
    async take(lease) {
      return change(() => takeRun(database, lease));
    },
    async write(lease, batch) {
      const write = (): void => {
        requireHolder(database, lease);
        writeBatch(database, lease, batch);
      };
      if (mustBeKept(batch)) await keep(write);
      else await change(write);
    },
    async createChild(lease, run) {
      await keep(() => {
        requireHolder(database, lease);
        requireOwn(requireRun(database, run.parentId), lease);
        const known = findRun(database, run.id);
        if (known) requireOwn(known, lease);
        else insertRun(database, run, lease.rootId);
      });
    },
    async cancel(runId, line) {
      return keep(() => cancelRun(database, runId, line));
    },
    async forget(runId) {
      const sql = "DELETE FROM runs WHERE id = ? AND parent_id IS NULL";
      return keep(() => Number(statement(sql).run(runId).changes) > 0);
    },
    async purge(before) {
      return change(() => {
        const sql = `DELETE FROM runs WHERE parent_id IS NULL AND updated_at < ? AND status IN (${ENDED_NAMES})
          AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.root_id = runs.id AND other.updated_at >= ?)`;
        // Counts the named runs; the foreign key removes what they started.
        return Number(statement(sql).run(before, before).changes);
      });
    },
  };
}

/** Inside a transaction. */
function takeRun(database: Database, { rootId, holder, term }: JournalLease): DurableRun {
  const { statement } = database;
  requireRun(database, rootId);
  const take = `INSERT INTO leases (root_id, holder, term, taken_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (root_id) DO UPDATE SET holder = excluded.holder, term = excluded.term, taken_at = excluded.taken_at
    WHERE excluded.term > term OR excluded.holder = holder`;
  if (statement(take).run(rootId, holder, term, Date.now()).changes === 0) throw new LeaseLostError(rootId);
  const unlessEnded = `CASE WHEN status IN (${ENDED_NAMES}) THEN`;
  const stand = `UPDATE runs SET status = ${unlessEnded} status ELSE 'running' END,
      updated_at = ${unlessEnded} updated_at ELSE ? END
    WHERE id = ? RETURNING *`;
  return readRun(statement(stand).get(Date.now(), rootId) as Row);
}

/** Only the first request writes the audit line. Inside a transaction. */
function cancelRun(
  database: Database,
  runId: string,
  line: NewAuditLine | undefined,
): DurableRun | undefined {
  const isFirst = findRun(database, runId)?.is_cancelled === 0;
  const sql = `UPDATE runs SET is_cancelled = 1, updated_at = ? WHERE id = ? AND status NOT IN (${ENDED_NAMES}) RETURNING *`;
  const row: Row | undefined = database.statement(sql).get(Date.now(), runId);
  if (row && isFirst) appendLine(database, line);
  return row && readRun(row);
}

/**
 * Nobody may repeat steps, questions and ends after a power cut. Events alone are repeated by the steps that follow
 * them, which flush them too.
 */
function mustBeKept({ entries = [], questions = [], status, result }: JournalBatch): boolean {
  const hasEnded = result !== undefined || (status !== undefined && ENDED.has(status));
  return entries.length > 0 || questions.length > 0 || hasEnded;
}

function writeBatch(database: Database, lease: JournalLease, batch: JournalBatch): void {
  const { runId, entries = [], questions = [], status, result, activeMs } = batch;
  const run = requireRun(database, runId);
  requireOwn(run, lease);
  if (ENDED.has(run.status as DurableStatus)) {
    throw new Error(`Run \`${runId}\` has ended (${run.status}), so nothing more can be written to it.`);
  }
  const now = Date.now();
  for (const entry of entries) insertEntry(database, runId, entry);
  askQuestions(database, run, questions, now);
  const lastEvent = insertEvents(database, run, batch);
  database
    .statement(
      `UPDATE runs SET last_event = ?, updated_at = ?, status = coalesce(?, status), result = coalesce(?, result),
        active_ms = coalesce(?, active_ms) WHERE id = ?`,
    )
    .run(lastEvent, now, status ?? null, writeOptionalJson(result), wholeNumber(activeMs), runId);
  if (status === undefined || !ENDED.has(status)) return;
  cancelQuestions(database, runId, now);
  if (runId !== lease.rootId) return;
  endStarted(database, runId, now);
  noteUsage(database, runId, result);
}

/** A run's children end with it: nobody would continue them, or wait for their questions. */
function endStarted(database: Database, rootId: string, now: number): void {
  const sql = `UPDATE runs SET status = 'cancelled', updated_at = ? WHERE root_id = ? AND status NOT IN (${ENDED_NAMES}) RETURNING id`;
  const left: readonly Row[] = database.statement(sql).all(now, rootId);
  for (const { id } of left) cancelQuestions(database, String(id), now);
}

function insertEntry(database: Database, runId: string, { key, value, snapshot }: JournalEntry): void {
  const sql =
    "INSERT INTO entries (run_id, key, value, snapshot) VALUES (?, ?, ?, ?) ON CONFLICT (run_id, key) DO NOTHING";
  const { changes } = database.statement(sql).run(runId, key, JSON.stringify(value), snapshot ?? null);
  if (changes === 0) throw new Error(`Step \`${key}\` of run \`${runId}\` is already recorded.`);
}

function insertEvents(database: Database, run: Row, { runId, events = [] }: JournalBatch): number {
  const insert = database.statement("INSERT INTO events (run_id, seq, event) VALUES (?, ?, ?)");
  let last = Number(run.last_event);
  for (const { seq, event } of events) {
    if (seq !== last + 1) {
      throw new Error(`Event ${seq} of run \`${runId}\` does not follow event ${last}.`);
    }
    insert.run(runId, seq, JSON.stringify(event));
    last = seq;
  }
  return last;
}

function insertRun(database: Database, run: NewDurableRun, rootId: string): void {
  const { id, tenant, userId, skill, parentId, order } = run;
  const now = Date.now();
  database
    .statement(
      `INSERT INTO runs (id, tenant, user_id, skill, parent_id, root_id, request, status, created_at, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?)`,
    )
    .run(
      id,
      tenant,
      userId ?? null,
      skill ?? null,
      parentId ?? null,
      rootId,
      JSON.stringify(order),
      now,
      now,
    );
}

function rootOf(database: Database, { id, parentId }: NewDurableRun): string {
  return parentId === undefined ? id : String(requireRun(database, parentId).root_id);
}

function findRun(database: Database, runId: string): Row | undefined {
  return database
    .statement("SELECT id, tenant, root_id, status, last_event, is_cancelled FROM runs WHERE id = ?")
    .get(runId);
}

function requireRun(database: Database, runId: string): Row {
  const run = findRun(database, runId);
  if (run === undefined) throw new Error(`The journal has no run \`${runId}\`.`);
  return run;
}

function requireHolder(database: Database, { rootId, holder }: JournalLease): void {
  const row = database.statement("SELECT holder FROM leases WHERE root_id = ?").get(rootId);
  if (row?.holder !== holder) throw new LeaseLostError(rootId);
}

function requireOwn(run: Row, { rootId }: JournalLease): void {
  if (run.root_id !== rootId) {
    throw new Error(
      `Run \`${run.id}\` belongs to \`${run.root_id}\`, not to \`${rootId}\`, which this lease is for.`,
    );
  }
}

function wholeNumber(value: number | undefined): number | null {
  return value === undefined ? null : Math.round(value);
}
