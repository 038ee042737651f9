/** What the acts of a sign-in work with, and what all of them do: ask a provider, and be recorded. */
import { randomBytes } from "node:crypto";
import { auditCall, type CallAudit } from "../audit-call.ts";
import type {
  AccountStore,
  AuditLog,
  CapabilityRegistry,
  MakeContext,
  RegisteredCapability,
} from "../broker-parts.ts";
import { callProvider } from "../call-provider.ts";
import type { CapabilityCaller } from "../capability.ts";
import type { AuditEntry } from "../capability-broker.ts";
import { type Answer, refuse } from "../capability-fault.ts";
import type { CapabilityProvider, ProviderContext } from "../capability-provider.ts";
import type { RateLimits } from "../rate-limits.ts";
import { tellStateError } from "../state-error.ts";
import type { FlowStore } from "./flow-store.ts";

export interface AuthParts {
  readonly registry: CapabilityRegistry;
  readonly accounts: AccountStore;
  /** `openFlows({ folder, vault })` */
  readonly flows: FlowStore;
  readonly makeContext: MakeContext;
  readonly audit: AuditLog;
  /** What begins or completes a sign-in counts like any call; polls have a pace of their own. */
  readonly limits: RateLimits;
  /** Milliseconds since 1970. Default: `Date.now`. */
  now?(): number;
  /** How long a sign-in may take, unless its provider says. Default: 1800; at least 30. */
  readonly flowTtlSeconds?: number | undefined;
}

/** One act of one caller, from the request to the line in the audit log. */
export interface Act {
  readonly parts: AuthParts;
  readonly caller: CapabilityCaller;
  now(): number;
  readonly audit: Pick<CallAudit, "know">;
  /** Intent, on disk before anything is changed. */
  recordIntent(): void;
  /** How it ended, where that is neither `ok` nor a fault. */
  endsAs(outcome: "pending"): void;
}

export async function performAct<Value>(
  parts: AuthParts,
  action: AuditEntry["action"],
  caller: CapabilityCaller,
  work: (act: Act) => Promise<Answer<Value>>,
): Promise<Answer<Value>> {
  const now = parts.now ?? Date.now;
  const requestId = `cap_${randomBytes(8).toString("hex")}`;
  const audit = auditCall(parts.audit, { requestId, action, capability: "", caller }, now);
  let outcome = "ok";
  const act: Act = {
    parts,
    caller,
    now,
    audit,
    recordIntent() {
      audit.know({ mutating: true });
      audit.write("started");
    },
    endsAs(other) {
      outcome = other;
    },
  };
  const answer = await tellStateError(() => work(act));
  audit.write(answer.ok ? outcome : answer.fault.code);
  return answer;
}

/** `ask` gives nothing where the provider has no such part. */
export function askProvider<Value>(
  { parts, caller }: Act,
  { provider, timeoutMs }: RegisteredCapability,
  ask: (provider: CapabilityProvider, context: ProviderContext) => Promise<Answer<Value>> | undefined,
): Promise<Answer<Value>> {
  const { namespace } = provider;
  return callProvider({ namespace, timeoutMs }, async (signal) => {
    const asked = ask(provider, parts.makeContext(namespace, caller, signal));
    const message = `The provider \`${namespace}\` has no sign-in of this kind.`;
    return asked ?? refuse("capability_backend_unavailable", message);
  });
}
