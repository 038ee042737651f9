/** The reading half of the journal in Postgres. */
import type { DurableRunFilter, JournalReading, QuestionFilter } from "../journal-store.ts";
import { parseCell } from "../rows.ts";
import type { Database, Row, Value } from "./database.ts";
import { readQuestion, readRun, readSum, text } from "./rows.ts";
import { currentScope } from "./scope.ts";
import { writeOptionalText, writeText } from "./text.ts";

interface Asking {
  all(sql: string, ...values: readonly Value[]): Promise<readonly Row[]>;
  one(sql: string, ...values: readonly Value[]): Promise<Row | undefined>;
}

export function readJournal({ read }: Database): JournalReading {
  const all: Asking["all"] = (sql, ...values) => read(sql, [currentScope(), ...values]);
  const one: Asking["one"] = async (sql, ...values) => (await all(sql, ...values))[0];
  const asking = { all, one };
  return { ...readRuns(asking), ...readSteps(asking), ...readQuestions(asking) };
}

function readRuns({
  all,
  one,
}: Asking): Pick<JournalReading, "get" | "list" | "usage" | "countByStatus" | "cancelled"> {
  return {
    async get(runId) {
      const row = await one("SELECT * FROM metier.get_run($1, $2)", writeText(runId));
      return row && readRun(row);
    },
    async list(filter) {
      const sql = "SELECT * FROM metier.list_runs($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
      return (await all(sql, ...runConditions(filter))).map(readRun);
    },
    async usage({ tenant, by, from, to }) {
      const rows = await all(
        "SELECT * FROM metier.sum_usage($1, $2, $3, $4, $5)",
        writeText(tenant),
        by,
        from,
        to,
      );
      return rows.map(readSum);
    },
    async countByStatus(tenant) {
      const rows = await all("SELECT * FROM metier.count_runs($1, $2)", writeOptionalText(tenant));
      return Object.fromEntries(rows.map((row) => [text(row.status), Number(row.count)]));
    },
    async cancelled(runIds) {
      const rows = await all("SELECT id FROM metier.list_cancelled($1, $2) AS id", runIds.map(writeText));
      return rows.map((row) => text(row.id));
    },
  };
}

function readSteps({
  all,
  one,
}: Asking): Pick<JournalReading, "entries" | "snapshots" | "lastSnapshot" | "events"> {
  return {
    async entries(runId) {
      const rows = await all("SELECT * FROM metier.list_entries($1, $2)", writeText(runId));
      return rows.map((row) => ({ key: text(row.key), value: parseCell(row.value) }));
    },
    async snapshots() {
      const rows = await all("SELECT * FROM metier.list_snapshots($1)");
      return rows.map((row) => ({ tenant: text(row.tenant), name: text(row.snapshot) }));
    },
    async lastSnapshot(rootId) {
      const row = await one("SELECT metier.last_snapshot($1, $2) AS snapshot", writeText(rootId));
      return typeof row?.snapshot === "string" ? text(row.snapshot) : undefined;
    },
    async events(runId, after, limit) {
      const rows = await all(
        "SELECT * FROM metier.list_events($1, $2, $3, $4)",
        writeText(runId),
        after,
        limit,
      );
      return rows.map((row) => ({ seq: Number(row.seq), event: parseCell(row.event) }));
    },
  };
}

function readQuestions({ all, one }: Asking): Pick<JournalReading, "question" | "questionFor" | "questions"> {
  return {
    async question(id) {
      const row = await one("SELECT * FROM metier.get_question($1, $2)", writeText(id));
      return row && readQuestion(row);
    },
    async questionFor(runId, key) {
      const row = await one(
        "SELECT * FROM metier.find_question($1, $2, $3)",
        writeText(runId),
        writeText(key),
      );
      return row && readQuestion(row);
    },
    async questions(filter) {
      const sql = "SELECT * FROM metier.list_questions($1, $2, $3, $4, $5, $6, $7)";
      return (await all(sql, ...questionConditions(filter))).map(readQuestion);
    },
  };
}

function runConditions(filter: DurableRunFilter): readonly Value[] {
  const { tenant, status, skill, userId, rootId, isRoot, isOwed, before, limit } = filter;
  const [skillText, userText, rootText] = [skill, userId, rootId].map(writeOptionalText);
  return [
    writeOptionalText(tenant),
    status ?? null,
    skillText ?? null,
    userText ?? null,
    rootText ?? null,
    isRoot ?? null,
    isOwed ?? null,
    writeOptionalText(before),
    limit,
  ];
}

function questionConditions({
  kinds,
  tenant,
  rootId,
  status,
  after,
  limit,
}: QuestionFilter): readonly Value[] {
  return [
    kinds ?? null,
    writeOptionalText(tenant),
    writeOptionalText(rootId),
    status ?? null,
    writeOptionalText(after),
    limit,
  ];
}
