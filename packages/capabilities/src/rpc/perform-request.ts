/**
 * One request from the socket of a run, from its method to its answer. In this order: is there such a method, may this
 * door be used, whose token is it, are the params right, and only then the broker.
 */
import { isSameSecret } from "@metier/base/digest";
import { isJsonObject } from "@metier/base/json";
import { done, type Refused, type Result, refused } from "@metier/base/result";
import type { CapabilityFault } from "../capability.ts";
import type { AuditEntry, CapabilityBroker, ConfirmMutation } from "../capability-broker.ts";
import type { CallerTokens } from "../tokens/caller-tokens.ts";
import { METHODS } from "./methods.ts";

export interface CapabilityServing {
  readonly broker: CapabilityBroker;
  readonly tokens: CallerTokens;
  /** Only tokens of this run are accepted. */
  readonly runId: string;
  /** Asked before every change. Absent: nobody can be asked, so no. */
  readonly confirm?: ConfirmMutation | undefined;
  readonly onAudit?: ((entry: AuditEntry) => void) | undefined;
  /** Why nothing is performed now, in a sentence for the caller: `capability_access_denied`. Asked for every request. */
  whyHeld?(): string | undefined;
  /** Hears of what the broker threw; the caller is told no more than that the host failed. */
  onFault?(fault: unknown): void;
}

interface RpcAnswer {
  /** The answer, as JSON. */
  readonly text: string;
  /** It was refused before it was known whose it is. */
  readonly isStranger: boolean;
}

/** What a request came through. */
interface Door {
  readonly signal: AbortSignal;
  /** What a request must bring where others can come too. */
  readonly bearer?: string | undefined;
}

export async function performRequest(
  request: RpcRequest,
  serving: CapabilityServing,
  door: Door,
): Promise<RpcAnswer> {
  try {
    return await perform(request, serving, door);
  } catch (fault) {
    serving.onFault?.(fault);
    const message = "The host failed to perform it.";
    const error = notDone({ code: "capability_backend_unavailable", message });
    return { text: errorText(request.id, error), isStranger: false };
  }
}

async function perform(
  { id, method: name, params = {} }: RpcRequest,
  serving: CapabilityServing,
  { signal, bearer }: Door,
): Promise<RpcAnswer> {
  const refuse = (error: RpcError, isStranger = false): RpcAnswer => ({
    text: errorText(id, error),
    isStranger,
  });
  const method = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
  if (method === undefined) {
    const message = `There is no such method; there is ${Object.keys(METHODS).join(", ")}.`;
    return refuse({ code: NO_METHOD, message }, true);
  }
  if (!isJsonObject(params)) return refuse(wrongParams("`params` must be an object."), true);
  if (bearer !== undefined && !isSameSecret(textOf(params.bearer) ?? "", bearer)) {
    return refuse(wrongParams("Invalid bearer: `params.bearer` must be `METIER_RPC_BEARER`."), true);
  }
  const { tokens, runId, broker, confirm, onAudit } = serving;
  const caller = await tokens.verify(textOf(params.context_token), textOf(params.nonce), { runId });
  if (!caller.ok) {
    const { code, message } = caller.refusal;
    return refuse(wrongParams(`Invalid context token (${code}): ${message}`), true);
  }
  const prepared = method(params);
  if (!prepared.ok) return refuse(wrongParams(prepared.refusal));
  const held = serving.whyHeld?.();
  if (held !== undefined) return refuse(notDone({ code: "capability_access_denied", message: held }));
  const options = { signal, confirm, onAudit };
  const answer = await prepared.value({ broker, caller: caller.value, options });
  return answer.ok
    ? { text: JSON.stringify({ jsonrpc: "2.0", id, result: answer.value }), isStranger: false }
    : refuse(notDone(answer.fault));
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

// Requests and answers of JSON-RPC 2.0, as they stand in a frame. One request, one answer: there are no batches.

export type RequestId = string | number;

export interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  /** As it came: nothing of it was checked. */
  readonly params: unknown;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** What is answered to a frame that holds no request; `null` where it has no id that can be told. */
interface RequestRefusal {
  readonly id: RequestId | null;
  readonly error: RpcError;
}

const [NO_JSON, NO_REQUEST, NO_METHOD, WRONG_PARAMS, NOT_DONE] = [-32700, -32600, -32601, -32602, -32603];

const MAX_ID_LENGTH = 128;
const DECODER = new TextDecoder("utf-8", { fatal: true });

export function readRequest(frame: Uint8Array): Result<RpcRequest, RequestRefusal> {
  let value: unknown;
  try {
    value = JSON.parse(DECODER.decode(frame));
  } catch {
    return refuseRequest(null, NO_JSON, "A frame holds one request as JSON in UTF-8, and this one does not.");
  }
  if (Array.isArray(value)) {
    return refuseRequest(null, NO_REQUEST, "Batches are not taken: send each request in a frame of its own.");
  }
  if (!isJsonObject(value)) return refuseRequest(null, NO_REQUEST, "A request is a JSON object.");
  const { id, jsonrpc, method, params } = value;
  if (typeof id !== "number" && !(typeof id === "string" && id.length <= MAX_ID_LENGTH)) {
    const allowed = `a number, or a text of at most ${MAX_ID_LENGTH} characters`;
    return refuseRequest(null, NO_REQUEST, `A request has an \`id\`, ${allowed}: each is answered.`);
  }
  if (jsonrpc !== "2.0")
    return refuseRequest(id, NO_REQUEST, 'A request has `jsonrpc` with the value `"2.0"`.');
  if (typeof method !== "string")
    return refuseRequest(id, NO_REQUEST, "A request has a `method`, which is a text.");
  return done({ id, method, params });
}

function refuseRequest(id: RequestId | null, code: number, message: string): Refused<RequestRefusal> {
  return refused({ id, error: { code, message } });
}

export function frameTooLong(length: number, max: number): RpcError {
  return { code: NO_REQUEST, message: `A frame of ${length} bytes is announced; at most ${max} are taken.` };
}

function wrongParams(message: string): RpcError {
  return { code: WRONG_PARAMS, message };
}

export function notDone({ code, message, hint, retryAfterSeconds }: CapabilityFault): RpcError {
  const data = { code, hint, retry_after_seconds: retryAfterSeconds };
  return { code: NOT_DONE, message: `${code}: ${message}`, data };
}

export function errorText(id: RequestId | null, error: RpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}
