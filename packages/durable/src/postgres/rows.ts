/** Rows of the store's tables as the ports have them. */
import type { Json, JsonObject } from "@metier/base/json";
import type { DurableRun, DurableStatus, Question, QuestionKind, QuestionStatus } from "../journal-store.ts";
import type { AuditLine, StoredRecord } from "../record-store.ts";
import type { Row } from "./database.ts";
import { restoreText } from "./text.ts";

export function readRun(row: Row): DurableRun {
  return {
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
    isCancelled: row.is_cancelled === true,
    result: readOptionalJson(row.result),
  };
}

export function readQuestion(row: Row): Question {
  return {
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
  };
}

export function readRecord(row: Row): StoredRecord {
  return {
    tenant: text(row.tenant),
    kind: text(row.kind),
    id: text(row.id),
    revision: Number(row.revision),
    body: parseCell(row.body) as JsonObject,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
  };
}

export function readAuditLine(row: Row): AuditLine {
  return {
    tenant: text(row.tenant),
    seq: Number(row.seq),
    at: Number(row.at),
    actor: text(row.actor),
    action: text(row.action),
    subject: text(row.subject),
    detail: readOptionalJson(row.detail),
    previous: text(row.previous),
    digest: text(row.digest),
  };
}

export function parseCell(cell: unknown): Json {
  return JSON.parse(String(cell)) as Json;
}

/** As text, or nothing where there is no value; `null` of JSON is a value. */
export function writeOptionalJson(value: Json | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

export function text(cell: unknown): string {
  return restoreText(String(cell));
}

function readOptionalJson(cell: unknown): Json | undefined {
  return isNothing(cell) ? undefined : parseCell(cell);
}

function optionalText(cell: unknown): string | undefined {
  return isNothing(cell) ? undefined : text(cell);
}

function optionalNumber(cell: unknown): number | undefined {
  return isNothing(cell) ? undefined : Number(cell);
}

function isNothing(cell: unknown): boolean {
  return cell === null || cell === undefined;
}
