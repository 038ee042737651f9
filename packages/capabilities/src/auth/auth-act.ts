/**
 * What the acts of a sign-in work with, and what all of them do: find the flow that is meant, ask a provider, and be
 * recorded.
 */
import { randomBytes } from "node:crypto";
import { findCapability } from "../access.ts";
import { auditCall, type CallAudit } from "../audit.ts";
import { callProvider } from "../call-provider.ts";
import {
  type Answer,
  answerFault,
  answerWith,
  type CapabilityCaller,
  type CapabilityProvider,
  type ProviderContext,
} from "../capability.ts";
import type { AuditEntry } from "../capability-broker.ts";
import type { InvokeParts } from "../perform-operation.ts";
import type { RegisteredCapability } from "../provider-registry.ts";
import { tellStateError } from "../state-files.ts";
import type { FlowRecord, FlowStore } from "./flow-store.ts";

/** What begins or completes a sign-in counts like any call to `limits`; polls have a pace of their own. */
export interface AuthParts
  extends Pick<InvokeParts, "registry" | "accounts" | "makeContext" | "audit" | "limits"> {
  /** `openFlows({ folder, vault })` */
  readonly flows: FlowStore;
  /** Milliseconds since 1970. Default: `Date.now`. */
  now?(): number;
  /** How long a sign-in may take, unless its provider says. Default: 1800; at least 30. */
  readonly flowTtlSeconds?: number | undefined;
}

/** One act of one caller, from the request to the line in the audit log. */
export interface AuthAct {
  readonly parts: AuthParts;
  readonly caller: CapabilityCaller;
  now(): number;
  readonly audit: Pick<CallAudit, "know">;
  /** Intent, on disk before anything is changed. */
  recordIntent(): Promise<void>;
  /** How it ended, where that is neither `ok` nor a fault. */
  endsAs(outcome: "pending"): void;
}

export async function performAct<Value>(
  parts: AuthParts,
  action: AuditEntry["action"],
  caller: CapabilityCaller,
  work: (act: AuthAct) => Promise<Answer<Value>>,
): Promise<Answer<Value>> {
  const now = parts.now ?? Date.now;
  const requestId = `cap_${randomBytes(8).toString("hex")}`;
  const audit = auditCall(parts.audit, caller, { requestId, action, capability: "" }, now);
  let outcome = "ok";
  const act: AuthAct = {
    parts,
    caller,
    now,
    audit,
    async recordIntent() {
      audit.know({ mutating: true });
      await audit.write("started");
    },
    endsAs(other) {
      outcome = other;
    },
  };
  const answer = await tellStateError(() => work(act));
  await audit.write(answer.ok ? outcome : answer.fault.code);
  return answer;
}

/** `ask` gives nothing where the provider has no such part. */
export function askSignIn<Value>(
  { parts, caller }: { readonly parts: Pick<AuthParts, "makeContext">; readonly caller: CapabilityCaller },
  { provider, timeoutMs }: RegisteredCapability,
  ask: (provider: CapabilityProvider, context: ProviderContext) => Promise<Answer<Value>> | undefined,
): Promise<Answer<Value>> {
  const { namespace } = provider;
  return callProvider({ namespace, timeoutMs }, async (signal) => {
    const asked = ask(provider, parts.makeContext(namespace, caller, signal));
    const message = `The provider \`${namespace}\` has no sign-in of this kind.`;
    return asked ?? answerFault("capability_backend_unavailable", message);
  });
}

export interface FoundFlow {
  readonly flow: FlowRecord;
  readonly capability: RegisteredCapability;
}

/** Ready to be completed or polled. That of another user is as unknown as none at all. */
export async function findFlow(act: AuthAct, flowId: string): Promise<Answer<FoundFlow>> {
  const { parts, caller } = act;
  const flow = await parts.flows.find(caller.userId, flowId);
  if (flow === undefined) return refuseUnknownFlow(flowId);
  const { capability, account } = flow;
  act.audit.know({ capability, account });
  const usable = await findCapability(parts.registry, capability, caller);
  if (!usable.ok) return usable;
  if (flow.expiresAt > act.now()) return answerWith({ flow, capability: usable.value });
  const message = `The sign-in \`${flowId}\` for \`${capability}\` ended at ${new Date(flow.expiresAt).toISOString()}.`;
  return answerFault("capability_auth_flow_expired", message, { hint: "Begin a new one." });
}

export function refuseUnknownFlow(flowId: string): Answer<never> {
  const shown = /^[\w-]{1,64}$/.test(flowId) ? ` \`${flowId}\`` : " of that name";
  return answerFault("capability_auth_flow_invalid", `There is no pending sign-in${shown} for this user.`, {
    hint: "It may be completed already. List the pending ones, or begin a new one.",
  });
}

/** Faults after which nothing can come of a sign-in, whatever else is tried. */
const FINAL: ReadonlySet<string> = new Set([
  "capability_auth_flow_invalid",
  "capability_auth_flow_expired",
  "capability_auth_flow_denied",
]);

export function isFinal(code: string): boolean {
  return FINAL.has(code);
}
