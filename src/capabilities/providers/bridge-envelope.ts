/**
 * The envelope of `bridge-v1`: one JSON object asks, one answers, with a result or an error and never both. What a bridge
 * sends is text of someone who may have written anything; what breaks the protocol is `capability_invalid_output`.
 */
import { randomBytes } from "node:crypto";
import type { Json } from "../../skill/manifest.ts";
import { showValue } from "../../validate/report.ts";
import type { JsonObject } from "../capability.ts";
import { type Answer, done, refuse } from "../capability-fault.ts";
import type { Refused } from "./tidy-fault.ts";

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

export const BRIDGE_VERSION = 1;
/** Of one request or answer, as much as a caller can send or be sent. */
export const MAX_ENVELOPE_BYTES: number = 10 * 1024 * 1024;
const CODE = /^[A-Za-z0-9][\w.-]{0,99}$/;
const MAX_SHOWN = 60;

export function makeRequest(namespace: string, method: BridgeMethod, params: JsonObject): BridgeRequest {
  const id = `cap_bridge_${randomBytes(16).toString("hex")}`;
  return { version: BRIDGE_VERSION, id, namespace, method, params };
}

/** On one line, with its end: a bridge may read a line, or everything there is. */
export function writeRequest(request: BridgeRequest): Answer<string> {
  const text = `${JSON.stringify(request)}\n`;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_ENVELOPE_BYTES) return done(text);
  return refuse(
    "capability_invalid_input",
    `The request for the provider has ${bytes} bytes; at most ${MAX_ENVELOPE_BYTES} are sent.`,
    { hint: "Send less at once." },
  );
}

/** The result in an answer to the request of that id, or the bridge's own error. */
export function readResponse(text: string, id: string): Answer<JsonObject> {
  const response = parseObject(text);
  return typeof response === "string" ? violation(response) : readParsed(response, id);
}

/** As above, once it is known to be an object. */
export function readParsed(response: JsonObject, id: string): Answer<JsonObject> {
  if (response.version !== BRIDGE_VERSION)
    return violation(`its \`version\` is ${show(response.version)}; it has to be ${BRIDGE_VERSION}`);
  if (response.id !== id) return violation(`its \`id\` is ${show(response.id)}; it has to be \`${id}\``);
  const has = { result: Object.hasOwn(response, "result"), error: Object.hasOwn(response, "error") };
  if (has.result && has.error) return violation("it has both `result` and `error`; it has to have one");
  if (has.error) return readError(response.error);
  if (!has.result) return violation("it has neither `result` nor `error`; it has to have one");
  if (isObject(response.result)) return done(response.result);
  return violation(`its \`result\` is ${show(response.result)}; it has to be an object`);
}

/** The object that a text holds, or what is wrong with it, as the end of a sentence. */
export function parseObject(text: string): JsonObject | string {
  if (text.trim() === "") return "there is nothing on its standard output";
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return "it is not one JSON value"; // What stands there instead may be secret, so it is not shown.
  }
  return isObject(value) ? value : `it is ${show(value)}; it has to be an object`;
}

/** `how`: what is wrong, as the end of a sentence. */
export function violation(how: string): Refused {
  return refuse("capability_invalid_output", `The answer of the provider breaks \`bridge-v1\`: ${how}.`, {
    hint: "The provider has to be mended.",
  });
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readError(error: Json | undefined): Refused {
  if (!isObject(error)) return violation(`its \`error\` is ${show(error)}; it has to be an object`);
  const { code, message } = error;
  if (!isText(code) || !isText(message))
    return violation("its `error` has no `code` or no `message`; both have to be texts");
  if (!CODE.test(code))
    return violation(
      `the \`code\` of its \`error\` is ${show(code)}; allowed are at most 100 letters, digits, \`_\`, \`.\` and \`-\``,
    );
  return { ok: false, fault: { code, message } };
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** What is no short value is only named: a part of a secret would not be known as one. */
function show(value: Json | undefined): string {
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "a list";
  if (isObject(value)) return "an object";
  if (typeof value === "string" && value.length > MAX_SHOWN) return `a text of ${value.length} characters`;
  return showValue(value);
}
