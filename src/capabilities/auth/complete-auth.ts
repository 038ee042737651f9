/** Completes a sign-in with the code that its user brings. Of several that try at once, one asks the provider. */
import type { CompletedAuth, CompleteRequest } from "../capability-broker.ts";
import { type Answer, refuse } from "../capability-fault.ts";
import type { AuthorizedAccount } from "../capability-provider.ts";
import { refuseTooMany } from "../rate-limits.ts";
import { type Act, askProvider } from "./auth-parts.ts";
import { type FoundFlow, findFlow, isFinal, refuseUnknown } from "./find-flow.ts";
import type { ClaimedFlow } from "./flow-store.ts";
import { linkAccount } from "./link-account.ts";
import { type NormalisedAnswer, normaliseAnswer } from "./normalise-answer.ts";

export async function completeAuth(act: Act, request: CompleteRequest): Promise<Answer<CompletedAuth>> {
  const found = await findFlow(act, request.flowId);
  if (!found.ok) return found;
  const { flow } = found.value;
  if (flow.flowType === "device_code") {
    const message = `The sign-in \`${flow.flowId}\` is one with a device code: it needs no answer here.`;
    return refuse("capability_invalid_input", message, {
      hint: "Poll it (`auth poll`) until it is complete.",
    });
  }
  const answer = normaliseAnswer(request, flow.expectedState);
  if (!answer.ok && !isFinal(answer.fault.code)) return answer;
  const tooMany = refuseTooMany(act.parts.limits, act.caller, flow.capability);
  if (tooMany) return tooMany;
  const claimed = await act.parts.flows.claim(flow);
  if (claimed === "gone") return refuseUnknown(flow.flowId);
  if (claimed === "taken") return refuseTaken(flow.flowId);
  return settle(claimed, async () => {
    if (!answer.ok) return answer;
    const account = await exchange(act, found.value, { ...claimed, answer: answer.value });
    return account.ok ? linkAccount(act, flow, account.value) : account;
  });
}

/** Ends the flow, or gives it back so that the user can try again. */
async function settle(
  claimed: ClaimedFlow,
  work: () => Promise<Answer<CompletedAuth>>,
): Promise<Answer<CompletedAuth>> {
  let isOver = false;
  try {
    const completed = await work();
    isOver = completed.ok || isFinal(completed.fault.code);
    return completed;
  } finally {
    await (isOver ? claimed.end() : claimed.giveBack());
  }
}

function exchange(
  act: Act,
  { flow, capability }: FoundFlow,
  { flowState, answer }: Pick<ClaimedFlow, "flowState"> & { readonly answer: NormalisedAnswer },
): Promise<Answer<AuthorizedAccount>> {
  const { code, callbackUrl, state } = answer;
  const request = {
    capabilityId: flow.capability,
    flowState,
    authorizationCode: code,
    ...(callbackUrl !== undefined && { rawCallbackUrl: callbackUrl }),
    ...(state !== undefined && { state }),
  };
  return askProvider(act, capability, (provider, context) => provider.authComplete?.(request, context));
}

function refuseTaken(flowId: string): Answer<never> {
  const message = `The sign-in \`${flowId}\` is being completed by another call just now.`;
  return refuse("capability_auth_flow_invalid", message, {
    hint: "Wait a moment and look whether the account is linked.",
  });
}
