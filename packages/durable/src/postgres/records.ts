/** Records and the audit log in Postgres. */
import type { RecordStore } from "../record-store.ts";
import { writeLine } from "./audit.ts";
import type { Database } from "./database.ts";
import { newNumber } from "./new-number.ts";
import { readAuditLine, readRecord } from "./rows.ts";
import { currentScope } from "./scope.ts";
import { writeOptionalText, writeText } from "./text.ts";

export function openRecords({ insist, read }: Database): RecordStore {
  return {
    async put({ tenant, kind, id }, body, revision, line) {
      const scope = currentScope();
      const key = [tenant, kind, id].map(writeText);
      const write = newNumber();
      const rest = [JSON.stringify(body), revision, writeLine(line)] as const;
      const sql = "SELECT * FROM metier.put_record($1, $2, $3, $4, $5, $6, $7, $8)";
      const [row] = await insist(sql, () => [scope, write, ...key, ...rest]);
      return row && readRecord(row);
    },
    async delete({ tenant, kind, id }, line) {
      const scope = currentScope();
      const key = [tenant, kind, id].map(writeText);
      const written = writeLine(line);
      const sql = "SELECT metier.delete_record($1, $2, $3, $4, $5, $6) AS is_gone";
      const [row] = await insist(sql, (isAgain) => [scope, isAgain, ...key, written]);
      return row?.is_gone === true;
    },
    async forgetTenant(tenant) {
      const scope = currentScope();
      const sql = "SELECT metier.forget_tenant($1, $2) AS gone";
      const [row] = await insist(sql, () => [scope, writeText(tenant)]);
      return Number(row?.gone ?? 0);
    },
    async get({ tenant, kind, id }) {
      const key = [tenant, kind, id].map(writeText);
      const [row] = await read("SELECT * FROM metier.get_record($1, $2, $3, $4)", [currentScope(), ...key]);
      return row && readRecord(row);
    },
    async find(kind, id) {
      const values = [currentScope(), writeText(kind), writeText(id)];
      const [row] = await read("SELECT * FROM metier.find_record($1, $2, $3)", values);
      return row && readRecord(row);
    },
    async list({ tenant, kind, after, limit }) {
      const sql = "SELECT * FROM metier.list_records($1, $2, $3, $4, $5)";
      const values = [writeText(tenant), writeText(kind), writeOptionalText(after), limit];
      return (await read(sql, [currentScope(), ...values])).map(readRecord);
    },
    async listAll(kind) {
      const sql = "SELECT * FROM metier.list_all_records($1, $2)";
      return (await read(sql, [currentScope(), writeText(kind)])).map(readRecord);
    },
    async auditLines(tenant, after, limit) {
      const sql = "SELECT * FROM metier.list_audit($1, $2, $3, $4)";
      return (await read(sql, [currentScope(), writeText(tenant), after, limit])).map(readAuditLine);
    },
  };
}
