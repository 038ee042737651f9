/** What all steps of a sign-in share: they find the flow, ask a provider, and are recorded. */
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

/** Starting or completing a sign-in counts toward `limits` like any call; polls have their own pace. */
export interface AuthParts
  extends Pick<InvokeParts, "registry" | "accounts" | "makeContext" | "audit" | "limits"> {
  /** `openFlows({ folder, vault })` */
  readonly flows: FlowStore;
  /** Milliseconds since 1970. Default: `Date.now`. */
  now?(): number;
  /** How long a sign-in may take if its provider does not say. Default: 1800; at least 30. */
  readonly flowTtlSeconds?: number | undefined;
}

/** One step for one caller, from the request to the audit log line. */
export interface AuthAct {
  readonly parts: AuthParts;
  readonly caller: CapabilityCaller;
  now(): number;
  readonly audit: Pick<CallAudit, "know">;
  /** Records the intent on disk before anything changes. */
  recordIntent(): Promise<void>;
  /** The outcome, if it is neither `ok` nor a fault. */
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

/** `ask` returns `undefined` if the provider does not support it. */
export function askSignIn<Value>(
  { parts, caller }: { readonly parts: Pick<AuthParts, "makeContext">; readonly caller: CapabilityCaller },
  { provider, timeoutMs }: RegisteredCapability,
  ask: (provider: CapabilityProvider, context: ProviderContext) => Promise<Answer<Value>> | undefined,
): Promise<Answer<Value>> {
  const { namespace } = provider;
  return callProvider({ namespace, timeoutMs }, async (signal) => {
    const asked = ask(provider, parts.makeContext(namespace, caller, signal));
    const message = `The provider \`${namespace}\` does not support this kind of sign-in.`;
    return asked ?? answerFault("capability_backend_unavailable", message);
  });
}

export interface FoundFlow {
  readonly flow: FlowRecord;
  readonly capability: RegisteredCapability;
}

/** A flow that can be completed or polled. Another user's flow is reported as unknown. */
export async function findFlow(act: AuthAct, flowId: string): Promise<Answer<FoundFlow>> {
  const { parts, caller } = act;
  const flow = await parts.flows.find(caller.userId, flowId);
  if (flow === undefined) return refuseUnknownFlow(flowId);
  const { capability, account } = flow;
  act.audit.know({ capability, account });
  const usable = await findCapability(parts.registry, capability, caller);
  if (!usable.ok) return usable;
  if (flow.expiresAt > act.now()) return answerWith({ flow, capability: usable.value });
  const message = `The sign-in \`${flowId}\` for \`${capability}\` expired at ${new Date(flow.expiresAt).toISOString()}.`;
  return answerFault("capability_auth_flow_expired", message, { hint: "Start a new one." });
}

export function refuseUnknownFlow(flowId: string): Answer<never> {
  const shown = /^[\w-]{1,64}$/.test(flowId) ? ` \`${flowId}\`` : " with that id";
  return answerFault("capability_auth_flow_invalid", `This user has no pending sign-in${shown}.`, {
    hint: "It may already be complete. List the pending ones, or start a new one.",
  });
}

/** Faults that end a sign-in for good. */
const FINAL: ReadonlySet<string> = new Set([
  "capability_auth_flow_invalid",
  "capability_auth_flow_expired",
  "capability_auth_flow_denied",
]);

export function isFinal(code: string): boolean {
  return FINAL.has(code);
}
