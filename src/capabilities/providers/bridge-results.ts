/** From the results of a bridge, in its snake_case, to what the broker takes. What does not fit is `capability_invalid_output`. */
import type { Json } from "../../skill/manifest.ts";
import type { JsonObject } from "../capability.ts";
import { type Answer, done } from "../capability-fault.ts";
import type { AuthorizedAccount, AuthPoll, BegunAuth, FlowType } from "../capability-provider.ts";
import { isObject, violation } from "./bridge-envelope.ts";

const FLOW_TYPES: readonly FlowType[] = ["authorization_code", "device_code"];
/** RFC 8628, where the provider says nothing. */
const POLL_SECONDS = 5;

/** A list or a map, as it stands there. */
export function readDefinitions({ definitions }: JsonObject): Answer<Json> {
  if (Array.isArray(definitions) || isObject(definitions)) return done(definitions);
  return violation("its `result` has no `definitions`, which are a list or a map");
}

/** The output under `output`, or the result itself. */
export function readOutput(result: JsonObject): Answer<JsonObject> {
  if (!Object.hasOwn(result, "output")) return done(result);
  return isObject(result.output) ? done(result.output) : violation("`output` has to be an object");
}

export function readBegunAuth(result: JsonObject): Answer<BegunAuth> {
  const wrong = whyNot(result, {
    auth_url: isText,
    expires_at: isOptional(isText),
    flow_state: isOptional(isObject),
    flow_type: isOptional((value) => FLOW_TYPES.some((type) => type === value)),
    user_code: isOptional(isText),
    poll_interval_seconds: isOptional(isSeconds),
    expected_callback_state: isOptional(isText),
  });
  if (wrong !== undefined) return violation(wrong);
  const read = result as unknown as RawBegun;
  return done({
    authUrl: read.auth_url,
    flowType: read.flow_type ?? "authorization_code",
    flowState: read.flow_state ?? {},
    ...present("expiresAt", read.expires_at),
    ...present("userCode", read.user_code),
    ...present("pollIntervalSeconds", read.poll_interval_seconds),
    ...present("expectedCallbackState", read.expected_callback_state),
  });
}

export function readAccount(result: JsonObject): Answer<AuthorizedAccount> {
  const wrong = whyNot(result, {
    account_ref: isText,
    credential_material: isOptional(isObject),
    metadata: isOptional(isObject),
  });
  if (wrong !== undefined) return violation(wrong);
  const { account_ref, credential_material, metadata } = result as unknown as RawAccount;
  return done({
    accountRef: account_ref,
    credentialMaterial: credential_material ?? {},
    metadata: metadata ?? {},
  });
}

export function readPoll(result: JsonObject): Answer<AuthPoll> {
  if (result.status === "complete") {
    const account = readAccount(result);
    return account.ok ? done({ status: "complete", account: account.value }) : account;
  }
  const wrong = whyNot(result, {
    status: (value) => value === "pending",
    retry_after_seconds: isOptional(isSeconds),
    flow_state: isOptional(isObject),
  });
  if (wrong !== undefined) return violation(wrong);
  const { retry_after_seconds, flow_state } = result as unknown as RawPending;
  return done({
    status: "pending",
    retryAfterSeconds: retry_after_seconds ?? POLL_SECONDS,
    ...present("flowState", flow_state),
  });
}

/** What the checks above leave. */
interface RawBegun {
  readonly auth_url: string;
  readonly expires_at?: string | null;
  readonly flow_state?: JsonObject | null;
  readonly flow_type?: FlowType | null;
  readonly user_code?: string | null;
  readonly poll_interval_seconds?: number | null;
  readonly expected_callback_state?: string | null;
}

interface RawAccount {
  readonly account_ref: string;
  readonly credential_material?: JsonObject | null;
  readonly metadata?: JsonObject | null;
}

interface RawPending {
  readonly retry_after_seconds?: number | null;
  readonly flow_state?: JsonObject | null;
}

type Check = (value: Json | undefined) => boolean;

/** The first key that is not as it has to be, as the end of a sentence. Values are not shown: they may be secret. */
function whyNot(result: JsonObject, checks: Readonly<Record<string, Check>>): string | undefined {
  const wrong = Object.entries(checks).find(([key, check]) => !check(result[key]))?.[0];
  if (wrong === undefined) return undefined;
  return `\`${wrong}\` of its \`result\` ${result[wrong] === undefined ? "is missing" : "is not allowed"}`;
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isSeconds(value: Json | undefined): value is number {
  return typeof value === "number" && value > 0 && value <= 86_400;
}

/** `null` is how Python says that there is none. */
function isOptional(check: Check): Check {
  return (value) => value === undefined || value === null || check(value);
}

function present<Key extends string, Value>(
  key: Key,
  value: Value | null | undefined,
): { readonly [Name in Key]?: Value } {
  return (value === null || value === undefined ? {} : { [key]: value }) as {
    readonly [Name in Key]?: Value;
  };
}
