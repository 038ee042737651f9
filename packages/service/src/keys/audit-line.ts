/** A line of the audit log: who did what. It is given to the store with what it tells of, so that neither is there alone. */
import type { Json } from "@metier/base/json";
import type { NewAuditLine } from "@metier/durable";
import type { Identity } from "./identity.ts";

export function tellOf(
  { tenant, keyId: actor }: Pick<Identity, "tenant" | "keyId">,
  action: string,
  subject: string,
  detail?: Json,
): NewAuditLine {
  return { tenant, actor, action, subject, detail };
}
