/** Records and the audit log in SQLite. */
import type { RecordStore } from "../record-store.ts";
import { appendLine } from "./audit.ts";
import type { Database } from "./open-database.ts";
import { type Row, readAuditLine, readRecord } from "./rows.ts";

export type RecordReading = Pick<RecordStore, "get" | "find" | "list" | "listAll" | "auditLines">;
type RecordWriting = Pick<RecordStore, "put" | "delete" | "forgetTenant">;

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
    async put({ tenant, kind, id }, body, revision, line) {
      const text = JSON.stringify(body);
      const now = Date.now();
      const write = (): Row | undefined =>
        revision === 0
          ? statement(
              `INSERT INTO records (tenant, kind, id, revision, body, created_at, updated_at) VALUES (?, ?, ?, 1, ?, ?, ?)
                ON CONFLICT (tenant, kind, id) DO NOTHING RETURNING *`,
            ).get(tenant, kind, id, text, now, now)
          : statement(
              `UPDATE records SET revision = revision + 1, body = ?, updated_at = ?
                WHERE tenant = ? AND kind = ? AND id = ? AND revision = ? RETURNING *`,
            ).get(text, now, tenant, kind, id, revision);
      return keep(() => {
        const row = write();
        if (row) appendLine(database, line);
        return row && readRecord(row);
      });
    },
    async delete({ tenant, kind, id }, line) {
      const sql = "DELETE FROM records WHERE tenant = ? AND kind = ? AND id = ?";
      return keep(() => {
        const isGone = Number(statement(sql).run(tenant, kind, id).changes) > 0;
        if (isGone) appendLine(database, line);
        return isGone;
      });
    },
    async forgetTenant(tenant) {
      const sql = "DELETE FROM records WHERE tenant = ?";
      return keep(() => Number(statement(sql).run(tenant).changes));
    },
  };
}
