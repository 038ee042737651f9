/** Whether what a provider answered to the beginning of a sign-in can be shown to a user and kept. */
import type { JsonObject } from "../capability.ts";
import { type Answer, done, refuse } from "../capability-fault.ts";
import type { BegunAuth, CapabilityProvider } from "../capability-provider.ts";
import { isCredentialName } from "../credential-names.ts";
import { readPlainObject } from "../plain-json.ts";
import { isSecureUrl } from "./secure-url.ts";

/** As it is kept; times in milliseconds since 1970. */
export interface CheckedBegin extends Omit<BegunAuth, "expiresAt"> {
  readonly expiresAt: number;
}

interface BeginLimits {
  readonly now: number;
  readonly ttlSeconds: number;
}

const MAX_URL = 8192;
const MAX_TEXT = 1024;
const MAX_STATE_CHARACTERS = 128 * 1024;
/** A provider that says more is held to this. */
const MAX_LIFETIME_MS = 24 * 60 * 60_000;
const POLL_SECONDS = 5;
const MAX_POLL_SECONDS = 3600;

export function checkBegun(
  begun: BegunAuth,
  provider: CapabilityProvider,
  limits: BeginLimits,
): Answer<CheckedBegin> {
  const { flowType = "authorization_code", userCode, authUrl } = begun;
  const state = readPlainObject(begun.flowState ?? {});
  const expiresAt = readExpiry(begun.expiresAt, limits);
  const wrong =
    whyNotUrl(authUrl) ??
    whyNotType(flowType, provider) ??
    (state.ok ? whyTooLarge(state.value) : `\`flow_state\` ${state.problem}`) ??
    whyNotText("user_code", userCode) ??
    whyNotText("expected_callback_state", begun.expectedCallbackState) ??
    (typeof expiresAt === "string" ? expiresAt : undefined);
  if (wrong !== undefined || !state.ok || typeof expiresAt === "string") {
    const message = `The provider \`${provider.namespace}\` began a sign-in that cannot be used: ${wrong}.`;
    return refuse("capability_invalid_output", message);
  }
  const expected = begun.expectedCallbackState ?? URL.parse(authUrl)?.searchParams.get("state");
  return done({
    authUrl,
    flowType,
    flowState: state.value,
    expiresAt,
    ...(userCode !== undefined && { userCode }),
    ...(expected && { expectedCallbackState: expected }),
    ...(flowType === "device_code" && { pollIntervalSeconds: readInterval(begun.pollIntervalSeconds) }),
  });
}

/** Seconds between two polls, whatever a provider says. */
export function readInterval(seconds: number | undefined, least = 0): number {
  const given = typeof seconds === "number" && seconds > 0 ? seconds : POLL_SECONDS;
  return Math.min(MAX_POLL_SECONDS, Math.max(1, least, Math.ceil(given)));
}

function whyNotUrl(authUrl: unknown): string | undefined {
  if (typeof authUrl !== "string" || authUrl.length > MAX_URL) {
    return `\`auth_url\` has to be a text of at most ${MAX_URL} characters`;
  }
  const url = URL.parse(authUrl);
  // What a parser drops or decodes, a person would not see.
  if (url === null || /[\s\p{C}]/u.test(authUrl) || !isSecureUrl(url)) {
    return "`auth_url` has to be an `https:` URL, or an `http:` one of this machine";
  }
  const secret = [...url.searchParams].find(([name, value]) => isCredentialName(name, value))?.[0];
  return secret === undefined ? undefined : "`auth_url` has a field that is named like a credential";
}

function whyNotType(flowType: unknown, { authComplete, authPoll }: CapabilityProvider): string | undefined {
  if (flowType === "authorization_code")
    return authComplete ? undefined : "it cannot complete one with a code";
  if (flowType === "device_code") return authPoll ? undefined : "it cannot be polled";
  return "`flow_type` has to be `authorization_code` or `device_code`";
}

function whyTooLarge(state: JsonObject): string | undefined {
  if (JSON.stringify(state).length <= MAX_STATE_CHARACTERS) return undefined;
  return `\`flow_state\` has more than ${MAX_STATE_CHARACTERS} characters`;
}

function whyNotText(name: string, text: unknown): string | undefined {
  if (text === undefined) return undefined;
  const isShown = typeof text === "string" && text !== "" && text.length <= MAX_TEXT && !/\p{C}/u.test(text);
  return isShown
    ? undefined
    : `\`${name}\` has to be a text of at most ${MAX_TEXT} characters, all of them visible`;
}

/** A text says what is wrong. */
function readExpiry(given: string | undefined, { now, ttlSeconds }: BeginLimits): number | string {
  if (given === undefined) return now + ttlSeconds * 1000;
  const at = typeof given === "string" ? Date.parse(given) : Number.NaN;
  if (Number.isNaN(at)) return "`expires_at` has to be a time in ISO 8601";
  return at > now ? Math.min(at, now + MAX_LIFETIME_MS) : "`expires_at` is over already";
}
