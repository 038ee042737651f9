/** The lines of one call in the audit log: what is known of it when it ends, however early that is. */
import type { AuditLog } from "./broker-parts.ts";
import type { CapabilityCaller } from "./capability.ts";
import type { AuditEntry } from "./capability-broker.ts";

/** What turns out while a call is checked. */
export type KnownOfCall = Partial<
  Pick<AuditEntry, "capability" | "operation" | "account" | "mutating" | "inputDigest" | "idempotencyKey">
>;

export interface CallAudit {
  know(known: KnownOfCall): void;
  /** Throws when the log cannot be written. */
  write(outcome: string): void;
}

export interface AuditedCall extends Pick<AuditEntry, "requestId" | "action" | "capability"> {
  readonly caller: CapabilityCaller;
}

export function auditCall(
  log: AuditLog,
  { caller, ...call }: AuditedCall,
  now: () => number,
  onAudit?: (entry: AuditEntry) => void,
): CallAudit {
  const beganAt = now();
  let known: KnownOfCall = {};
  return {
    know(more) {
      known = { ...known, ...more };
    },
    write(outcome) {
      const { userId, chatId, runId, skill } = caller;
      const time = now();
      const entry: AuditEntry = {
        at: new Date(time).toISOString(),
        ...call,
        user: userId,
        ...(chatId !== undefined && { chatId }),
        ...(runId !== undefined && { runId }),
        ...(skill !== undefined && { skill }),
        ...known,
        outcome,
        durationMs: Math.max(0, Math.round(time - beganAt)),
      };
      log.write(entry);
      try {
        onAudit?.(entry);
      } catch {
        // It is recorded; who only listens does not stop a call.
      }
    },
  };
}
