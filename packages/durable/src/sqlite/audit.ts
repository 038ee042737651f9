/** The audit log in SQLite. A line is written in the transaction of the change it describes: both exist, or neither. */
import { FIRST_PREVIOUS, sealAuditLine } from "../audit-chain.ts";
import type { NewAuditLine } from "../record-store.ts";
import { writeOptionalJson } from "../rows.ts";
import type { Database } from "./open-database.ts";
import type { Row } from "./rows.ts";

/** Inside a transaction. Without a line, it writes nothing. */
export function appendLine(database: Database, line: NewAuditLine | undefined): void {
  if (line === undefined) return;
  const last: Row | undefined = database
    .statement("SELECT seq, digest FROM audit WHERE tenant = ? ORDER BY seq DESC LIMIT 1")
    .get(line.tenant);
  const { tenant, seq, at, actor, action, subject, detail, previous, digest } = sealAuditLine({
    ...line,
    seq: Number(last?.seq ?? 0) + 1,
    at: Date.now(),
    previous: last === undefined ? FIRST_PREVIOUS : String(last.digest),
  });
  database
    .statement(
      "INSERT INTO audit (tenant, seq, at, actor, action, subject, detail, previous, digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .run(tenant, seq, at, actor, action, subject, writeOptionalJson(detail), previous, digest);
}
