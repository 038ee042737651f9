/** Asks once whether a sign-in with a device code is complete (RFC 8628), not more often than its provider allows. */
import type { PolledAuth } from "../capability-broker.ts";
import { type Answer, done, refuse } from "../capability-fault.ts";
import type { AuthPoll } from "../capability-provider.ts";
import { type Act, askProvider } from "./auth-parts.ts";
import { readInterval } from "./check-begun.ts";
import { type FoundFlow, findFlow, isFinal, refuseUnknown } from "./find-flow.ts";
import type { FlowRecord } from "./flow-record.ts";
import type { ClaimedFlow, FlowChange } from "./flow-store.ts";
import { linkAccount } from "./link-account.ts";

export async function pollAuth(act: Act, flowId: string): Promise<Answer<PolledAuth>> {
  const found = await findFlow(act, flowId);
  if (!found.ok) return found;
  const { flow } = found.value;
  if (flow.flowType !== "device_code") {
    const message = `The sign-in \`${flowId}\` is not one with a device code, so there is nothing to poll.`;
    return refuse("capability_invalid_input", message, {
      hint: "Complete it with the code or the address that the browser ends at.",
    });
  }
  const claimed = await act.parts.flows.claim(flow);
  if (claimed === "gone") return refuseUnknown(flowId);
  if (claimed === "taken") return stillPending(act, flow, readInterval(flow.pollIntervalSeconds));
  const waitMs = (claimed.flow.nextPollAt ?? 0) - act.now();
  if (waitMs > 0) {
    await claimed.giveBack();
    return stillPending(act, flow, Math.ceil(waitMs / 1000));
  }
  return pollClaimed(act, { ...found.value, flow: claimed.flow }, claimed);
}

/** However it goes, the flow is ended or given back, and the provider is not asked again too soon. */
async function pollClaimed(act: Act, found: FoundFlow, claimed: ClaimedFlow): Promise<Answer<PolledAuth>> {
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
      return linked.ok ? done({ status: "complete", ...linked.value }) : linked;
    }
    // A provider that says "slow down" says so by a longer wait, which holds from then on.
    const seconds = readInterval(polled.value.retryAfterSeconds, least);
    const { flowState } = polled.value;
    change = { pollIntervalSeconds: seconds, ...waitFor(act, seconds), ...(flowState && { flowState }) };
    return stillPending(act, flow, seconds);
  } finally {
    await (change === "over" ? claimed.end() : claimed.giveBack(change));
  }
}

async function ask(
  act: Act,
  { flow, capability }: FoundFlow,
  { flowState }: ClaimedFlow,
): Promise<Answer<AuthPoll>> {
  const request = { capabilityId: flow.capability, flowState };
  const polled = await askProvider(act, capability, (provider, context) =>
    provider.authPoll?.(request, context),
  );
  if (!polled.ok || ["pending", "complete"].includes(polled.value.status)) return polled;
  const message = `The provider \`${capability.provider.namespace}\` answered a poll with a \`status\` that is neither \`pending\` nor \`complete\`.`;
  return refuse("capability_invalid_output", message);
}

function waitFor({ now }: Act, seconds: number): Pick<FlowChange, "nextPollAt"> {
  return { nextPollAt: now() + seconds * 1000 };
}

function stillPending(act: Act, { flowId }: FlowRecord, retryAfterSeconds: number): Answer<PolledAuth> {
  act.endsAs("pending");
  return done({ status: "pending", flowId, retryAfterSeconds });
}
