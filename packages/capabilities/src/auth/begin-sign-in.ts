/**
 * Starts a sign-in, or resumes the pending one for the same capability and account. The provider's answer is checked
 * before it is stored or shown to a user.
 */
import { randomBytes } from "node:crypto";
import { type JsonObject, presentFields } from "@metier/base/json";
import { isLoopbackHost } from "@metier/base/net";
import type { Result } from "@metier/base/result";
import { isCapabilityId } from "@metier/skills";
import { findCapability, refuseTooMany } from "../access.ts";
import {
  type Answer,
  answerFault,
  answerWith,
  type BegunAuth,
  type CapabilityProvider,
} from "../capability.ts";
import type { AuthFlow, BeginRequest } from "../capability-broker.ts";
import { isCredentialName, readPlainObject } from "../plain-json.ts";
import type { RegisteredCapability } from "../provider-registry.ts";
import { type AuthAct, askSignIn } from "./auth-act.ts";
import { answersTo, type FlowRecord, type NewFlow, showFlow, type WantedFlow } from "./flow-store.ts";

const TTL_SECONDS = 1800;
const LEAST_TTL_SECONDS = 30;
/** Per user. Stops a run that starts one after another. */
const MOST_PENDING = 50;
const MAX_HINT = 320;

export async function beginSignIn(act: AuthAct, request: BeginRequest): Promise<Answer<AuthFlow>> {
  const { parts, caller } = act;
  act.audit.know({ capability: isCapabilityId(request.capability) ? request.capability : "(invalid)" });
  const usable = await findCapability(parts.registry, request.capability, caller);
  if (!usable.ok) return usable;
  const account = request.account?.trim() || undefined;
  if (account !== undefined && (account.length > MAX_HINT || /\p{C}/u.test(account))) {
    const message = `The account must be a name of at most ${MAX_HINT} visible characters.`;
    return answerFault("capability_invalid_input", message);
  }
  act.audit.know({ account });
  const wanted: WantedFlow = { capability: request.capability, account, redirectUri: request.redirectUri };
  const pending = await parts.flows.pending(caller.userId);
  const earlier = pending.find((flow) => answersTo(flow, wanted));
  if (earlier) return answerWith(showFlow(earlier));
  if (pending.length >= MOST_PENDING) return refuseMore(act, pending);
  return startFlow(act, usable.value, wanted);
}

async function startFlow(
  act: AuthAct,
  capability: RegisteredCapability,
  wanted: WantedFlow,
): Promise<Answer<AuthFlow>> {
  const { parts, caller, now } = act;
  const { provider, definition } = capability;
  if (provider.authBegin === undefined) {
    const message = `The provider \`${provider.namespace}\` has no sign-in, so \`${definition.id}\` needs none.`;
    return answerFault("capability_invalid_input", message, { hint: "Call its operations directly." });
  }
  const tooMany = refuseTooMany(parts.limits, caller, definition.id);
  if (tooMany) return tooMany;
  const { account: accountHint, redirectUri } = wanted;
  const request = presentFields({ capabilityId: definition.id, accountHint, redirectUri });
  const begun = await askSignIn(act, capability, (asked, context) => asked.authBegin?.(request, context));
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
    expectedState: expectedCallbackState,
  };
  return answerWith(showFlow(await parts.flows.add(flow, flowState)));
}

function refuseMore({ now }: AuthAct, pending: readonly FlowRecord[]): Answer<never> {
  const message = `${pending.length} sign-ins are pending; the limit is ${MOST_PENDING}.`;
  const nextEnd = Math.min(...pending.map(({ expiresAt }) => expiresAt));
  const retryAfterSeconds = Math.max(1, Math.ceil((nextEnd - now()) / 1000));
  return answerFault("capability_rate_limited", message, {
    hint: "Complete one of them.",
    retryAfterSeconds,
  });
}

interface BeginLimits {
  readonly now: number;
  readonly ttlSeconds: number;
}

const MAX_URL = 8192;
const MAX_TEXT = 1024;
const MAX_STATE_CHARACTERS = 128 * 1024;
/** The maximum, whatever a provider says. */
const MAX_LIFETIME_MS = 24 * 60 * 60_000;
const POLL_SECONDS = 5;
const MAX_POLL_SECONDS = 3600;

/** As stored; times in milliseconds since 1970. */
function checkBegun(
  begun: BegunAuth,
  provider: CapabilityProvider,
  limits: BeginLimits,
): Answer<Omit<BegunAuth, "expiresAt"> & { readonly expiresAt: number }> {
  const { flowType = "authorization_code", userCode, authUrl } = begun;
  const state = readPlainObject(begun.flowState ?? {});
  const expiresAt = readExpiry(begun.expiresAt, limits);
  const wrong =
    whyNotUrl(authUrl) ??
    whyNotType(flowType, provider) ??
    whyNotState(state) ??
    whyNotText("user_code", userCode) ??
    whyNotText("expected_callback_state", begun.expectedCallbackState) ??
    (typeof expiresAt === "string" ? expiresAt : undefined);
  if (wrong !== undefined || !state.ok || typeof expiresAt === "string") {
    const message = `The provider \`${provider.namespace}\` started an invalid sign-in: ${wrong}.`;
    return answerFault("capability_invalid_output", message);
  }
  const expected = begun.expectedCallbackState ?? URL.parse(authUrl)?.searchParams.get("state");
  return answerWith(
    presentFields({
      authUrl,
      flowType,
      flowState: state.value,
      expiresAt,
      userCode,
      expectedCallbackState: expected || undefined,
      pollIntervalSeconds: flowType === "device_code" ? readInterval(begun.pollIntervalSeconds) : undefined,
    }),
  );
}

/** Bounds for the seconds between two polls, whatever a provider says. */
export function readInterval(seconds: number | undefined, least = 0): number {
  const given = typeof seconds === "number" && seconds > 0 ? seconds : POLL_SECONDS;
  return Math.min(MAX_POLL_SECONDS, Math.max(1, least, Math.ceil(given)));
}

function whyNotUrl(authUrl: unknown): string | undefined {
  if (typeof authUrl !== "string" || authUrl.length > MAX_URL) {
    return `\`auth_url\` must be a string of at most ${MAX_URL} characters`;
  }
  const url = URL.parse(authUrl);
  // A person would not see what a parser drops or decodes.
  if (url === null || /[\s\p{C}]/u.test(authUrl) || !isSecureUrl(url)) {
    return "`auth_url` must be an `https:` URL, or an `http:` URL on this machine";
  }
  const secret = [...url.searchParams].find(([name, value]) => isCredentialName(name, value))?.[0];
  return secret === undefined ? undefined : "`auth_url` has a parameter named like a credential";
}

function whyNotType(flowType: unknown, { authComplete, authPoll }: CapabilityProvider): string | undefined {
  if (flowType === "authorization_code")
    return authComplete ? undefined : "the provider cannot complete it with a code";
  if (flowType === "device_code") return authPoll ? undefined : "the provider cannot be polled";
  return "`flow_type` must be `authorization_code` or `device_code`";
}

function whyNotState(state: Result<JsonObject, string>): string | undefined {
  if (!state.ok) return `\`flow_state\` ${state.refusal}`;
  if (JSON.stringify(state.value).length <= MAX_STATE_CHARACTERS) return undefined;
  return `\`flow_state\` has more than ${MAX_STATE_CHARACTERS} characters`;
}

function whyNotText(name: string, text: unknown): string | undefined {
  if (text === undefined) return undefined;
  const isShown = typeof text === "string" && text !== "" && text.length <= MAX_TEXT && !/\p{C}/u.test(text);
  return isShown ? undefined : `\`${name}\` must be a string of at most ${MAX_TEXT} visible characters`;
}

/** Returns a string that says what is wrong. */
function readExpiry(given: string | undefined, { now, ttlSeconds }: BeginLimits): number | string {
  if (given === undefined) return now + ttlSeconds * 1000;
  const at = typeof given === "string" ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at)) return "`expires_at` must be an ISO 8601 time";
  return at > now ? Math.min(at, now + MAX_LIFETIME_MS) : "`expires_at` is in the past";
}

/** Where secrets may be sent and users may sign in: an encrypted connection, or this machine. */
function isSecureUrl({ protocol, hostname, username, password }: URL): boolean {
  if (username !== "" || password !== "") return false;
  return protocol === "https:" || (protocol === "http:" && isLoopbackHost(hostname));
}
