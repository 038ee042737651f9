/**
 * An audit log line: who did what. It is passed to the store with the change it describes, so that neither exists
 * alone.
 */
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
