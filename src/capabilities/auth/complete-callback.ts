/** Completes the sign-in that an address answers: the browser's `state` says which one is meant. */
import type { CompletedAuth } from "../capability-broker.ts";
import { type Answer, refuse } from "../capability-fault.ts";
import { isDeclared } from "../visibility.ts";
import type { Act } from "./auth-parts.ts";
import { completeAuth } from "./complete-auth.ts";
import type { FlowRecord } from "./flow-record.ts";
import { isSameState, normaliseAnswer } from "./normalise-answer.ts";
import { readPasted } from "./read-pasted.ts";

export async function completeCallback(act: Act, callbackUrl: string): Promise<Answer<CompletedAuth>> {
  const { parts, caller } = act;
  const pending = await parts.flows.pending(caller.userId);
  const waiting = pending.filter(
    ({ flowType, capability }) => flowType === "authorization_code" && isDeclared(capability, caller),
  );
  const wrong = normaliseAnswer({ callbackUrl });
  if (!wrong.ok && wrong.fault.code !== "capability_auth_flow_denied") return wrong;
  if (waiting.length === 0) {
    return refuse("capability_auth_flow_invalid", "No sign-in is pending for this user.", {
      hint: "It may be completed already, or have taken too long. Begin a new one.",
    });
  }
  const { state } = readPasted(callbackUrl);
  const meant =
    state === undefined
      ? waiting
      : waiting.filter(({ expectedState = "" }) => expectedState !== "" && isSameState(expectedState, state));
  const [flow, ...others] = meant;
  if (flow === undefined) {
    const message = "The `state` in the address belongs to none of the pending sign-ins of this user.";
    return refuse("capability_auth_state_mismatch", message, {
      hint: `Pending are: ${listFlows(waiting)}. Open the address of one and paste where the browser ends.`,
    });
  }
  if (others.length === 0) return completeAuth(act, { flowId: flow.flowId, callbackUrl });
  const message = `${meant.length} sign-ins are pending, and the address does not say which one it answers.`;
  return refuse("capability_auth_flow_ambiguous", message, {
    hint: `Complete one by its id: ${listFlows(meant)}.`,
  });
}

const MOST_SHOWN = 5;

function listFlows(flows: readonly FlowRecord[]): string {
  const shown = flows.slice(0, MOST_SHOWN).map(({ flowId, capability }) => `\`${flowId}\` (${capability})`);
  return shown.join(", ") + (flows.length > MOST_SHOWN ? ` and ${flows.length - MOST_SHOWN} more` : "");
}
