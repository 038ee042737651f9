/** Rows of SQLite. */
import { openRows } from "../rows.ts";

type Cell = string | number | bigint | null | Uint8Array;
export type Row = Readonly<Record<string, Cell>>;

export const { readRun, readQuestion, readRecord, readAuditLine, readSum } = openRows(String);
