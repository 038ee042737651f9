/** A line of the audit log: who did what. It is given to the store with what it tells of, so that neither is there alone. */
import type { Json } from "@metier/base/json";
import type { NewAuditLine } from "@metier/durable";
import type { Identity } from "./identity.ts";

/** Whoever does something: a key, or something that the service itself does. */
export type Actor = Pick<Identity, "tenant" | "keyId" | "actor">;

export function tellOf(
  { tenant, keyId, actor = keyId }: Actor,
  action: string,
  subject: string,
  detail?: Json,
): NewAuditLine {
  return { tenant, actor, action, subject, detail };
}
