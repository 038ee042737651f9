/**
 * Completes a sign-in with the code or address that the user brings, or by polling its provider. Of several concurrent
 * attempts, only one asks the provider. The returned account is checked, then linked.
 */
import { presentFields } from "@metier/base/json";
import { isDeclared, refuseTooMany } from "../access.ts";
import {
  type Answer,
  type AuthorizedAccount,
  type AuthPoll,
  answerFault,
  answerWith,
  type ProviderAccount,
} from "../capability.ts";
import type { CompletedAuth, CompleteRequest, PolledAuth } from "../capability-broker.ts";
import { checkOutput, findCredential } from "../plain-json.ts";
import { type AuthAct, askSignIn, type FoundFlow, findFlow, isFinal, refuseUnknownFlow } from "./auth-act.ts";
import { readInterval } from "./begin-sign-in.ts";
import type { ClaimedFlow, FlowChange, FlowRecord } from "./flow-store.ts";
import { isSameState, normaliseAnswer, readPasted } from "./read-answer.ts";

export async function completeSignIn(act: AuthAct, request: CompleteRequest): Promise<Answer<CompletedAuth>> {
  const found = await findFlow(act, request.flowId);
  if (!found.ok) return found;
  const { flow } = found.value;
  if (flow.flowType === "device_code") {
    const message = `The sign-in \`${flow.flowId}\` uses a device code, so it takes no answer here.`;
    return answerFault("capability_invalid_input", message, {
      hint: "Poll it (`auth poll`) until it is complete.",
    });
  }
  const answer = normaliseAnswer(request, flow.expectedState);
  if (!answer.ok && !isFinal(answer.fault.code)) return answer;
  const tooMany = refuseTooMany(act.parts.limits, act.caller, flow.capability);
  if (tooMany) return tooMany;
  const claimed = await act.parts.flows.claim(flow);
  if (claimed === "gone") return refuseUnknownFlow(flow.flowId);
  if (claimed === "taken") {
    const message = `Another call is completing the sign-in \`${flow.flowId}\` right now.`;
    const hint = "Wait a moment, then check whether the account is linked.";
    return answerFault("capability_auth_flow_invalid", message, { hint });
  }
  return settle(claimed, async () => {
    if (!answer.ok) return answer;
    const { code: authorizationCode, callbackUrl: rawCallbackUrl, state } = answer.value;
    const exchanged = { capabilityId: flow.capability, flowState: claimed.flowState, authorizationCode };
    const account = await askSignIn(act, found.value.capability, (provider, context) =>
      provider.authComplete?.(presentFields({ ...exchanged, rawCallbackUrl, state }), context),
    );
    return account.ok ? linkAccount(act, flow, account.value) : account;
  });
}

/** Ends the flow, or releases it so that the user can try again. */
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

/** Completes the sign-in that an address answers; the `state` identifies it. */
export async function completeCallback(act: AuthAct, callbackUrl: string): Promise<Answer<CompletedAuth>> {
  const { parts, caller } = act;
  const pending = await parts.flows.pending(caller.userId);
  const waiting = pending.filter(
    ({ flowType, capability }) => flowType === "authorization_code" && isDeclared(capability, caller),
  );
  const wrong = normaliseAnswer({ callbackUrl });
  if (!wrong.ok && wrong.fault.code !== "capability_auth_flow_denied") return wrong;
  if (waiting.length === 0) {
    return answerFault("capability_auth_flow_invalid", "This user has no pending sign-in.", {
      hint: "It may already be complete or have expired. Start a new one.",
    });
  }
  const { state } = readPasted(callbackUrl);
  const meant =
    state === undefined
      ? waiting
      : waiting.filter(({ expectedState = "" }) => expectedState !== "" && isSameState(expectedState, state));
  const [flow, ...others] = meant;
  if (flow === undefined) {
    const message = "The `state` in the address does not belong to any pending sign-in of this user.";
    return answerFault("capability_auth_state_mismatch", message, {
      hint: `Pending sign-ins: ${listFlows(waiting)}. Open the address of one and paste the address where the browser ends up.`,
    });
  }
  if (others.length === 0) return completeSignIn(act, { flowId: flow.flowId, callbackUrl });
  const message = `${meant.length} sign-ins are pending, and the address does not say which one it answers.`;
  return answerFault("capability_auth_flow_ambiguous", message, {
    hint: `Complete one by its id: ${listFlows(meant)}.`,
  });
}

const MOST_SHOWN = 5;

function listFlows(flows: readonly FlowRecord[]): string {
  const shown = flows.slice(0, MOST_SHOWN).map(({ flowId, capability }) => `\`${flowId}\` (${capability})`);
  return shown.join(", ") + (flows.length > MOST_SHOWN ? ` and ${flows.length - MOST_SHOWN} more` : "");
}

/** Asks once whether a device code sign-in is complete (RFC 8628), no more often than its provider allows. */
export async function pollSignIn(act: AuthAct, flowId: string): Promise<Answer<PolledAuth>> {
  const found = await findFlow(act, flowId);
  if (!found.ok) return found;
  const { flow } = found.value;
  if (flow.flowType !== "device_code") {
    const message = `The sign-in \`${flowId}\` does not use a device code, so it cannot be polled.`;
    return answerFault("capability_invalid_input", message, {
      hint: "Complete it with the code, or with the address where the browser ends up.",
    });
  }
  const claimed = await act.parts.flows.claim(flow);
  if (claimed === "gone") return refuseUnknownFlow(flowId);
  if (claimed === "taken") return stillPending(act, flow, readInterval(flow.pollIntervalSeconds));
  const waitMs = (claimed.flow.nextPollAt ?? 0) - act.now();
  if (waitMs > 0) {
    await claimed.giveBack();
    return stillPending(act, flow, Math.ceil(waitMs / 1000));
  }
  return pollClaimed(act, { ...found.value, flow: claimed.flow }, claimed);
}

/** In any case the flow is ended or released, and the provider is not asked again too soon. */
async function pollClaimed(
  act: AuthAct,
  found: FoundFlow,
  claimed: ClaimedFlow,
): Promise<Answer<PolledAuth>> {
  const { flow } = found;
  const least = readInterval(flow.pollIntervalSeconds);
  let change: FlowChange | "over" = waitFor(act, least);
  try {
    const polled = await ask(act, found, claimed);
    if (!polled.ok) {
      if (isFinal(polled.fault.code)) change = "over";
      else change = waitFor(act, readInterval(polled.fault.retryAfterSeconds, least));
      return polled;
    }
    if (polled.value.status === "complete") {
      const linked = await linkAccount(act, flow, polled.value.account);
      if (linked.ok || isFinal(linked.fault.code)) change = "over";
      return linked.ok ? answerWith({ status: "complete", ...linked.value }) : linked;
    }
    // A provider says "slow down" with a longer wait, which then stays in effect.
    const seconds = readInterval(polled.value.retryAfterSeconds, least);
    change = { pollIntervalSeconds: seconds, ...waitFor(act, seconds), flowState: polled.value.flowState };
    return stillPending(act, flow, seconds);
  } finally {
    await (change === "over" ? claimed.end() : claimed.giveBack(change));
  }
}

async function ask(
  act: AuthAct,
  { flow, capability }: FoundFlow,
  { flowState }: ClaimedFlow,
): Promise<Answer<AuthPoll>> {
  const request = { capabilityId: flow.capability, flowState };
  const polled = await askSignIn(act, capability, (provider, context) =>
    provider.authPoll?.(request, context),
  );
  if (!polled.ok || ["pending", "complete"].includes(polled.value.status)) return polled;
  const message = `The provider \`${capability.provider.namespace}\` answered a poll with a \`status\` other than \`pending\` or \`complete\`.`;
  return answerFault("capability_invalid_output", message);
}

function waitFor({ now }: AuthAct, seconds: number): Pick<FlowChange, "nextPollAt"> {
  return { nextPollAt: now() + seconds * 1000 };
}

function stillPending(act: AuthAct, { flowId }: FlowRecord, retryAfterSeconds: number): Answer<PolledAuth> {
  act.endsAs("pending");
  return answerWith({ status: "pending", flowId, retryAfterSeconds });
}

const MAX_REF = 256;
const MAX_NAME = 320;

/** Checked like every provider answer, then stored. */
async function linkAccount(
  act: AuthAct,
  flow: FlowRecord,
  authorized: AuthorizedAccount,
): Promise<Answer<CompletedAuth>> {
  const { parts, caller, now } = act;
  const checked = checkAuthorized(flow.capability, authorized);
  if (!checked.ok) return checked;
  const account = { ...checked.value, createdAt: new Date(now()).toISOString() };
  const { accountRef, accountName, accountEmail } = account;
  act.audit.know({ account: accountRef });
  await act.recordIntent();
  await parts.accounts.put(caller.userId, flow.capability, account);
  const { flowId, capability } = flow;
  return answerWith(presentFields({ flowId, capability, accountRef, accountName, accountEmail }));
}

function checkAuthorized(
  capability: string,
  { accountRef, credentialMaterial, metadata }: AuthorizedAccount,
): Answer<Omit<ProviderAccount, "createdAt">> {
  const source = `of the account linked to \`${capability}\``;
  const isRef = typeof accountRef === "string" && accountRef.trim() !== "" && accountRef.length <= MAX_REF;
  if (!isRef || /\p{C}/u.test(accountRef) || findCredential(accountRef)) {
    const message = `The \`account_ref\` ${source} must be a name of at most ${MAX_REF} visible characters, and must not be a credential.`;
    return answerFault("capability_invalid_output", message);
  }
  const material = checkOutput(`The \`credential_material\` ${source}`, credentialMaterial ?? {});
  if (!material.ok) return material;
  const shown = checkOutput(`The \`metadata\` ${source}`, metadata ?? {});
  if (!shown.ok) return shown;
  return answerWith(
    presentFields({
      accountRef,
      accountName: readShownText(shown.value.account_name),
      accountEmail: readShownText(shown.value.account_email),
      credentialMaterial: material.value,
      metadata: shown.value,
    }),
  );
}

function readShownText(given: unknown): string | undefined {
  if (typeof given !== "string") return undefined;
  return given.replace(/\p{C}/gu, "").trim().slice(0, MAX_NAME) || undefined;
}
