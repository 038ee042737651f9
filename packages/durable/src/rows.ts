/** Converts rows of a store's tables to the ports' types, for any store: the columns have the same names in each. */
import type { Json, JsonObject } from "@metier/base/json";
import type { DurableRun, DurableStatus, Question, QuestionKind, QuestionStatus } from "./journal-store.ts";
import type { AuditLine, StoredRecord } from "./record-store.ts";
import type { UsageSum } from "./usage.ts";

type StoredRow = Readonly<Record<string, unknown>>;

interface RowReading {
  readRun(row: StoredRow): DurableRun;
  readQuestion(row: StoredRow): Question;
  readRecord(row: StoredRow): StoredRecord;
  readAuditLine(row: StoredRow): AuditLine;
  readSum(row: StoredRow): UsageSum;
}

/** `text`: what a cell of text says, which a store may have had to write in another form. */
export function openRows(text: (cell: unknown) => string): RowReading {
  const optionalText = (cell: unknown): string | undefined => (isNothing(cell) ? undefined : text(cell));
  return {
    readRun: (row) => ({
      id: text(row.id),
      tenant: text(row.tenant),
      userId: optionalText(row.user_id),
      skill: optionalText(row.skill),
      parentId: optionalText(row.parent_id),
      rootId: text(row.root_id),
      order: parseCell(row.request) as JsonObject,
      status: text(row.status) as DurableStatus,
      createdAt: Number(row.created_at),
      updatedAt: Number(row.updated_at),
      activeMs: Number(row.active_ms),
      lastEvent: Number(row.last_event),
      isCancelled: Number(row.is_cancelled) === 1, // `true` in one store, 1 in the other
      result: readOptionalJson(row.result),
    }),
    readQuestion: (row) => ({
      id: text(row.id),
      runId: text(row.run_id),
      rootId: text(row.root_id),
      tenant: text(row.tenant),
      key: text(row.key),
      kind: text(row.kind) as QuestionKind,
      body: parseCell(row.body) as JsonObject,
      status: text(row.status) as QuestionStatus,
      askedAt: Number(row.asked_at),
      expiresAt: optionalNumber(row.expires_at),
      answer: readOptionalJson(row.answer),
      answeredBy: optionalText(row.answered_by),
      answeredAt: optionalNumber(row.answered_at),
    }),
    readRecord: (row) => ({
      tenant: text(row.tenant),
      kind: text(row.kind),
      id: text(row.id),
      revision: Number(row.revision),
      body: parseCell(row.body) as JsonObject,
      createdAt: Number(row.created_at),
      updatedAt: Number(row.updated_at),
    }),
    readAuditLine: (row) => ({
      tenant: text(row.tenant),
      seq: Number(row.seq),
      at: Number(row.at),
      actor: text(row.actor),
      action: text(row.action),
      subject: text(row.subject),
      detail: readOptionalJson(row.detail),
      previous: text(row.previous),
      digest: text(row.digest),
    }),
    readSum: (row) => ({ key: text(row.name), ...readCounts(row) }),
  };
}

function readCounts(row: StoredRow): Omit<UsageSum, "key"> {
  return {
    runs: Number(row.runs),
    inputTokens: Number(row.input_tokens),
    outputTokens: Number(row.output_tokens),
    totalTokens: Number(row.total_tokens),
    cost: Number(row.cost),
    runsWithoutCost: Number(row.without_cost),
    activeMs: Number(row.active_ms),
  };
}

export function parseCell(cell: unknown): Json {
  return JSON.parse(String(cell)) as Json;
}

/** As text, or nothing where there is no value; `null` of JSON is a value. */
export function writeOptionalJson(value: Json | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function readOptionalJson(cell: unknown): Json | undefined {
  return isNothing(cell) ? undefined : parseCell(cell);
}

function optionalNumber(cell: unknown): number | undefined {
  return isNothing(cell) ? undefined : Number(cell);
}

function isNothing(cell: unknown): boolean {
  return cell === null || cell === undefined;
}
