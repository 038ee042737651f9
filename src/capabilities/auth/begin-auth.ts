/** Begins a sign-in, or takes up the one that is pending for the same capability and account. */
import { randomBytes } from "node:crypto";
import { isCapabilityId } from "../../skill/capability-id.ts";
import type { RegisteredCapability } from "../broker-parts.ts";
import type { AuthFlow, BeginRequest } from "../capability-broker.ts";
import { type Answer, done, refuse } from "../capability-fault.ts";
import { findCapability } from "../find-capability.ts";
import { refuseTooMany } from "../rate-limits.ts";
import { type Act, askProvider } from "./auth-parts.ts";
import { checkBegun } from "./check-begun.ts";
import { type FlowRecord, showFlow } from "./flow-record.ts";
import { answersTo, type NewFlow, type WantedFlow } from "./flow-store.ts";

const TTL_SECONDS = 1800;
const LEAST_TTL_SECONDS = 30;
/** Of one user. A run that begins one after the other ends here. */
const MOST_PENDING = 50;
const MAX_HINT = 320;

export async function beginAuth(act: Act, request: BeginRequest): Promise<Answer<AuthFlow>> {
  const { parts, caller } = act;
  act.audit.know({ capability: isCapabilityId(request.capability) ? request.capability : "(invalid)" });
  const usable = await findCapability(parts.registry, request.capability, caller);
  if (!usable.ok) return usable;
  const account = request.account?.trim() || undefined;
  if (account !== undefined && (account.length > MAX_HINT || /\p{C}/u.test(account))) {
    const message = `The account has to be a name of at most ${MAX_HINT} characters, all of them visible.`;
    return refuse("capability_invalid_input", message);
  }
  act.audit.know({ ...(account !== undefined && { account }) });
  const wanted: WantedFlow = {
    capability: request.capability,
    ...(account !== undefined && { account }),
    ...(request.redirectUri !== undefined && { redirectUri: request.redirectUri }),
  };
  const pending = await parts.flows.pending(caller.userId);
  const earlier = pending.find((flow) => answersTo(flow, wanted));
  if (earlier) return done(showFlow(earlier));
  if (pending.length >= MOST_PENDING) return refuseMore(act, pending);
  return startFlow(act, usable.value, wanted);
}

async function startFlow(
  act: Act,
  capability: RegisteredCapability,
  wanted: WantedFlow,
): Promise<Answer<AuthFlow>> {
  const { parts, caller, now } = act;
  const { provider, definition } = capability;
  if (provider.authBegin === undefined) {
    const message = `The provider \`${provider.namespace}\` has no sign-in, so \`${definition.id}\` needs none.`;
    return refuse("capability_invalid_input", message, { hint: "Invoke its operations as they are." });
  }
  const tooMany = refuseTooMany(parts.limits, caller, definition.id);
  if (tooMany) return tooMany;
  const request = {
    capabilityId: definition.id,
    ...(wanted.account !== undefined && { accountHint: wanted.account }),
    ...(wanted.redirectUri !== undefined && { redirectUri: wanted.redirectUri }),
  };
  const begun = await askProvider(act, capability, (asked, context) => asked.authBegin?.(request, context));
  if (!begun.ok) return begun;
  const ttlSeconds = Math.max(LEAST_TTL_SECONDS, parts.flowTtlSeconds ?? TTL_SECONDS);
  const checked = checkBegun(begun.value, provider, { now: now(), ttlSeconds });
  if (!checked.ok) return checked;
  const { flowState, expectedCallbackState, ...shown } = checked.value;
  const flow: NewFlow = {
    version: 1,
    flowId: `caf_${randomBytes(12).toString("hex")}`,
    userId: caller.userId,
    ...wanted,
    ...shown,
    createdAt: now(),
    ...(expectedCallbackState !== undefined && { expectedState: expectedCallbackState }),
  };
  return done(showFlow(await parts.flows.add(flow, flowState)));
}

function refuseMore({ now }: Act, pending: readonly FlowRecord[]): Answer<never> {
  const message = `${pending.length} sign-ins are pending; at most ${MOST_PENDING} may be.`;
  const nextEnd = Math.min(...pending.map(({ expiresAt }) => expiresAt));
  const retryAfterSeconds = Math.max(1, Math.ceil((nextEnd - now()) / 1000));
  return refuse("capability_rate_limited", message, { hint: "Complete one of them.", retryAfterSeconds });
}
