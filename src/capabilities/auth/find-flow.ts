/** The sign-in that a caller means, ready to be completed or polled. That of another user is as unknown as none at all. */
import type { RegisteredCapability } from "../broker-parts.ts";
import { type Answer, done, refuse } from "../capability-fault.ts";
import { findCapability } from "../find-capability.ts";
import type { Act } from "./auth-parts.ts";
import type { FlowRecord } from "./flow-record.ts";

export interface FoundFlow {
  readonly flow: FlowRecord;
  readonly capability: RegisteredCapability;
}

export async function findFlow(act: Act, flowId: string): Promise<Answer<FoundFlow>> {
  const { parts, caller } = act;
  const flow = await parts.flows.find(caller.userId, flowId);
  if (flow === undefined) return refuseUnknown(flowId);
  const { capability, account } = flow;
  act.audit.know({ capability, ...(account !== undefined && { account }) });
  const usable = await findCapability(parts.registry, capability, caller);
  if (!usable.ok) return usable;
  if (flow.expiresAt > act.now()) return done({ flow, capability: usable.value });
  const message = `The sign-in \`${flowId}\` for \`${capability}\` ended at ${new Date(flow.expiresAt).toISOString()}.`;
  return refuse("capability_auth_flow_expired", message, { hint: "Begin a new one." });
}

export function refuseUnknown(flowId: string): Answer<never> {
  const shown = /^[\w-]{1,64}$/.test(flowId) ? ` \`${flowId}\`` : " of that name";
  return refuse("capability_auth_flow_invalid", `There is no pending sign-in${shown} for this user.`, {
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
