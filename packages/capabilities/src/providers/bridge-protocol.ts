/**
 * The messages of `bridge-v1`: one JSON object asks, one answers with either a result or an error. A bridge's output is
 * untrusted; a protocol violation is `capability_invalid_output`.
 */
import { randomUUID } from "node:crypto";
import { isJsonObject, type Json, type JsonObject, presentFields } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";
import { choiceShape, readShape, recordShape, type Shape, testedShape } from "@metier/base/shape";
import { showValue } from "@metier/base/text";
import {
  type Answer,
  type AuthorizedAccount,
  type AuthPoll,
  answerFault,
  answerWith,
  type BegunAuth,
  type FaultAnswer,
  type FlowType,
  isFaultCode,
} from "../capability.ts";
import { jsonObjectShape } from "../plain-json.ts";

export type BridgeMethod =
  | "definitions"
  | "auth_begin"
  | "auth_complete"
  | "auth_poll"
  | "auth_forget"
  | "invoke";

export interface BridgeRequest {
  readonly version: typeof BRIDGE_VERSION;
  /** `cap_bridge_` and 32 hex digits. */
  readonly id: string;
  readonly namespace: string;
  readonly method: BridgeMethod;
  readonly params: JsonObject;
}

const BRIDGE_VERSION = 1;
/** For one request or answer: as much as a caller can send or receive. */
export const MAX_ENVELOPE_BYTES: number = 10 * 1024 * 1024;
const MAX_SHOWN = 60;

export function makeRequest(namespace: string, method: BridgeMethod, params: JsonObject): BridgeRequest {
  const id = `cap_bridge_${randomUUID().replaceAll("-", "")}`;
  return { version: BRIDGE_VERSION, id, namespace, method, params };
}

/** One line with its line break: a bridge may read a line, or everything. */
export function writeRequest(request: BridgeRequest): Answer<string> {
  const text = `${JSON.stringify(request)}\n`;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_ENVELOPE_BYTES) return answerWith(text);
  return answerFault(
    "capability_invalid_input",
    `The request to the provider has ${bytes} bytes; the limit is ${MAX_ENVELOPE_BYTES} bytes.`,
    { hint: "Send less at once." },
  );
}

/** The result from the answer to the request with that id, or the bridge's own error. */
export function readResponse(text: string, id: string): Answer<JsonObject> {
  const response = parseObject(text);
  return response.ok ? readParsed(response.value, id) : violation(response.refusal);
}

/** The same, once it is known to be an object. */
export function readParsed(response: JsonObject, id: string): Answer<JsonObject> {
  if (response.version !== BRIDGE_VERSION)
    return violation(`its \`version\` is ${show(response.version)}; it must be ${BRIDGE_VERSION}`);
  if (response.id !== id) return violation(`its \`id\` is ${show(response.id)}; it must be \`${id}\``);
  const has = { result: Object.hasOwn(response, "result"), error: Object.hasOwn(response, "error") };
  if (has.result && has.error) return violation("it has both `result` and `error`; it must have one");
  if (has.error) return readError(response.error);
  if (!has.result) return violation("it has neither `result` nor `error`; it must have one");
  if (isJsonObject(response.result)) return answerWith(response.result);
  return violation(`its \`result\` is ${show(response.result)}; it must be an object`);
}

/** The object in a text, or what is wrong with it, as the end of a sentence. */
export function parseObject(text: string): Result<JsonObject, string> {
  if (text.trim() === "") return refused("its standard output is empty");
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return refused("it is not a single JSON value"); // The text may be secret, so it is not shown.
  }
  return isJsonObject(value) ? done(value) : refused(`it is ${show(value)}; it must be an object`);
}

/** `how`: what is wrong, as the end of a sentence. */
export function violation(how: string): FaultAnswer {
  return answerFault("capability_invalid_output", `The provider's answer violates \`bridge-v1\`: ${how}.`, {
    hint: "Fix the provider.",
  });
}

function readError(error: Json | undefined): FaultAnswer {
  if (!isJsonObject(error)) return violation(`its \`error\` is ${show(error)}; it must be an object`);
  const { code, message } = error;
  if (!isText(code) || !isText(message))
    return violation("its `error` needs a `code` and a `message`, both strings");
  if (!isFaultCode(code))
    return violation(
      `the \`code\` of its \`error\` is ${show(code)}; it must have at most 100 letters, digits, \`_\`, \`.\` and \`-\``,
    );
  return { ok: false, fault: { code, message } };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Only names anything but short values: part of a secret would not be recognized as one. */
function show(value: Json | undefined): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (isJsonObject(value)) return "an object";
  if (typeof value === "string" && value.length > MAX_SHOWN) return `a string of ${value.length} characters`;
  return showValue(value);
}

// Converts results from snake_case to what the broker takes.

/** RFC 8628's default. */
const POLL_SECONDS = 5;
const filledTextShape = testedShape(isText, "a string");
const secondsShape = testedShape(
  (value): value is number => typeof value === "number" && value > 0 && value <= 86_400,
  "a number of seconds, at most one day",
);

/** A list or a map, unchanged. */
export function readBridgeDefinitions({ definitions }: JsonObject): Answer<Json> {
  if (Array.isArray(definitions) || isJsonObject(definitions)) return answerWith(definitions);
  return violation("its `result` has no `definitions` list or map");
}

/** The output under `output`, or the result itself. */
export function readOutput(result: JsonObject): Answer<JsonObject> {
  if (!Object.hasOwn(result, "output")) return answerWith(result);
  return isJsonObject(result.output) ? answerWith(result.output) : violation("`output` must be an object");
}

export function readBegunAuth(result: JsonObject): Answer<BegunAuth> {
  const read = readResult(result, "auth_url", {
    auth_url: filledTextShape,
    expires_at: orNull(filledTextShape),
    flow_state: orNull(jsonObjectShape),
    flow_type: orNull(choiceShape<FlowType>("authorization_code", "device_code")),
    user_code: orNull(filledTextShape),
    poll_interval_seconds: orNull(secondsShape),
    expected_callback_state: orNull(filledTextShape),
  });
  if (!read.ok) return read;
  const { auth_url, flow_type, flow_state, expires_at, user_code } = read.value;
  return answerWith(
    presentFields({
      authUrl: auth_url,
      flowType: flow_type ?? "authorization_code",
      flowState: flow_state ?? {},
      expiresAt: expires_at,
      userCode: user_code,
      pollIntervalSeconds: read.value.poll_interval_seconds,
      expectedCallbackState: read.value.expected_callback_state,
    }),
  );
}

export function readAuthorizedAccount(result: JsonObject): Answer<AuthorizedAccount> {
  const read = readResult(result, "account_ref", {
    account_ref: filledTextShape,
    credential_material: orNull(jsonObjectShape),
    metadata: orNull(jsonObjectShape),
  });
  if (!read.ok) return read;
  const { account_ref, credential_material = {}, metadata = {} } = read.value;
  return answerWith({ accountRef: account_ref, credentialMaterial: credential_material, metadata });
}

export function readPoll(result: JsonObject): Answer<AuthPoll> {
  if (result.status === "complete") {
    const account = readAuthorizedAccount(result);
    return account.ok ? answerWith({ status: "complete", account: account.value }) : account;
  }
  const read = readResult(result, "status", {
    status: choiceShape<"pending">("pending"),
    retry_after_seconds: orNull(secondsShape),
    flow_state: orNull(jsonObjectShape),
  });
  if (!read.ok) return read;
  const { retry_after_seconds: retryAfterSeconds = POLL_SECONDS, flow_state: flowState } = read.value;
  return answerWith(presentFields({ status: "pending", retryAfterSeconds, flowState }));
}

type Shapes<Table> = { readonly [Key in keyof Table]: Shape<Table[Key]> };

/** Reports the first invalid key. Values are not shown: they may be secret. */
function readResult<Table extends object, Needed extends keyof Table & string>(
  result: JsonObject,
  needed: Needed,
  shapes: Shapes<Table>,
): Answer<Partial<Table> & Pick<Table, Needed>> {
  if (result[needed] === undefined) return violation(`\`${needed}\` of its \`result\` is missing`);
  const keys = Object.keys(shapes) as (keyof Table & string)[];
  const read = readShape(
    recordShape<Table>(shapes as Parameters<typeof recordShape<Table>>[0], keys),
    result,
  );
  if (read.ok) return answerWith(read.value);
  return violation(`\`${read.refusal[0]?.path[0]}\` of its \`result\` is not allowed`);
}

/** Python writes `null` for an absent value. */
function orNull<Value>(shape: Shape<Value>): Shape<Value> {
  return (value, place) => (value === null ? undefined : shape(value, place));
}
