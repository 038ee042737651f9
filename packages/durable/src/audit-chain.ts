/** How audit log lines are chained, the same in every store: changing or removing a line breaks all lines after it. */
import { createHash } from "node:crypto";
import { canonicalText } from "@metier/base/json";
import type { AuditLine } from "./record-store.ts";

/** The predecessor that the first line names. */
export const FIRST_PREVIOUS = "0".repeat(64);

export function sealAuditLine(line: Omit<AuditLine, "digest">): AuditLine {
  const { tenant, seq, at, actor, action, subject, detail, previous } = line;
  const sealed = { tenant, seq, at, actor, action, subject, detail, previous };
  return { ...sealed, digest: createHash("sha256").update(canonicalText(sealed)).digest("hex") };
}
