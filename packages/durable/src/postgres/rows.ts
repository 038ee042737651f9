/** Rows of Postgres, with text in a form that it preserves. */
import { openRows } from "../rows.ts";
import { restoreText } from "./text.ts";

export function text(cell: unknown): string {
  return restoreText(String(cell));
}

export const { readRun, readQuestion, readRecord, readAuditLine, readSum } = openRows(text);
