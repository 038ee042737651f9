/** What stands for a JSON value where the value itself must not: in the audit log, in a plan, in the journal. */
import { createHash } from "node:crypto";
import { canonicalText } from "../foundation/canonical-text.ts";

/** `sha256:…`, whatever the order of the keys. */
export function digestJson(value: unknown): string {
  return `sha256:${createHash("sha256").update(canonicalText(value)).digest("hex")}`;
}
