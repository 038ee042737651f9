/** Records and the audit log in SQLite. */

import { FIRST_PREVIOUS, sealAuditLine } from "../audit-chain.ts";
import type { AuditLine, NewAuditLine, RecordStore } from "../record-store.ts";
import type { Database } from "./open-database.ts";
import { type Row, readAuditLine, readRecord, writeOptionalJson } from "./rows.ts";

export type RecordReading = Pick<RecordStore, "get" | "find" | "list" | "listAll" | "auditLines">;
type RecordWriting = Pick<RecordStore, "put" | "delete" | "audit">;

export function readRecords(database: Database): RecordReading {
  const one = (sql: string, ...values: readonly string[]): Row | undefined =>
    database.statement(sql).get(...values);
  const all = (sql: string, ...values: readonly (string | number)[]): readonly Row[] =>
    database.statement(sql).all(...values);
  return {
    async get({ tenant, kind, id }) {
      const row = one("SELECT * FROM records WHERE tenant = ? AND kind = ? AND id = ?", tenant, kind, id);
      return row && readRecord(row);
    },
    async find(kind, id) {
      const row = one("SELECT * FROM records WHERE kind = ? AND id = ? ORDER BY position LIMIT 1", kind, id);
      return row && readRecord(row);
    },
    async list({ tenant, kind, after, limit }) {
      const later =
        after === undefined
          ? ""
          : "AND position > (SELECT position FROM records WHERE tenant = ? AND kind = ? AND id = ?)";
      const sql = `SELECT * FROM records WHERE tenant = ? AND kind = ? ${later} ORDER BY position LIMIT ?`;
      const given = after === undefined ? [] : [tenant, kind, after];
      return all(sql, tenant, kind, ...given, limit).map(readRecord);
    },
    async listAll(kind) {
      return all("SELECT * FROM records WHERE kind = ? ORDER BY position", kind).map(readRecord);
    },
    async auditLines(tenant, after, limit) {
      const sql = "SELECT * FROM audit WHERE tenant = ? AND seq > ? ORDER BY seq LIMIT ?";
      return all(sql, tenant, after, limit).map(readAuditLine);
    },
  };
}

export function writeRecords(database: Database): RecordWriting {
  const { statement, keep } = database;
  return {
    async put({ tenant, kind, id }, body, revision) {
      const text = JSON.stringify(body);
      const now = Date.now();
      const row: Row | undefined = await keep(() =>
        revision === 0
          ? statement(
              `INSERT INTO records (tenant, kind, id, revision, body, created_at, updated_at) VALUES (?, ?, ?, 1, ?, ?, ?)
                ON CONFLICT (tenant, kind, id) DO NOTHING RETURNING *`,
            ).get(tenant, kind, id, text, now, now)
          : statement(
              `UPDATE records SET revision = revision + 1, body = ?, updated_at = ?
                WHERE tenant = ? AND kind = ? AND id = ? AND revision = ? RETURNING *`,
            ).get(text, now, tenant, kind, id, revision),
      );
      return row && readRecord(row);
    },
    async delete({ tenant, kind, id }) {
      const sql = "DELETE FROM records WHERE tenant = ? AND kind = ? AND id = ?";
      return keep(() => Number(statement(sql).run(tenant, kind, id).changes) > 0);
    },
    async audit(line) {
      return keep(() => appendLine(database, line));
    },
  };
}

function appendLine(database: Database, line: NewAuditLine): AuditLine {
  const last: Row | undefined = database
    .statement("SELECT seq, digest FROM audit WHERE tenant = ? ORDER BY seq DESC LIMIT 1")
    .get(line.tenant);
  const sealed = sealAuditLine({
    ...line,
    seq: Number(last?.seq ?? 0) + 1,
    at: Date.now(),
    previous: last === undefined ? FIRST_PREVIOUS : String(last.digest),
  });
  const { tenant, seq, at, actor, action, subject, detail, previous, digest } = sealed;
  database
    .statement(
      "INSERT INTO audit (tenant, seq, at, actor, action, subject, detail, previous, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .run(tenant, seq, at, actor, action, subject, writeOptionalJson(detail), previous, digest);
  return sealed;
}
