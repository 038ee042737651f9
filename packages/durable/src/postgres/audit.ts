/** Audit log lines as the database takes them: it adds the number and the digest of the previous line. */
import { canonicalText } from "@metier/base/json";
import type { NewAuditLine } from "../record-store.ts";
import { writeOptionalJson } from "../rows.ts";
import { writeText } from "./text.ts";

/** The last two are the sealed text (`sealAuditLine`) before and after the part that the database adds. */
export function writeLine(line: NewAuditLine | undefined): readonly (string | null)[] | null {
  if (line === undefined) return null;
  const { tenant, actor, action, subject, detail } = line;
  const at = Date.now();
  return [
    writeText(tenant),
    String(at),
    writeText(actor),
    writeText(action),
    writeText(subject),
    writeOptionalJson(detail),
    `${canonicalText({ action, actor, at, detail }).slice(0, -1)},"previous":"`,
    `,${canonicalText({ subject, tenant }).slice(1)}`,
  ];
}
