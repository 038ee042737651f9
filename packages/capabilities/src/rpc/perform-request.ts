/**
 * Handles one request from a run's socket. Checks, in order: the method exists, this door may be used, the token, the
 * params; only then the broker.
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
  /** Accepts only tokens of this run. */
  readonly runId: string;
  /** Asked before every change. Absent: nobody can be asked, so the answer is no. */
  readonly confirm?: ConfirmMutation | undefined;
  readonly onAudit?: ((entry: AuditEntry) => void) | undefined;
  /**
   * Why nothing is performed now, as a sentence for the caller (`capability_access_denied`). Checked for every request.
   */
  whyHeld?(): string | undefined;
  /** Gets what the broker threw; the caller only learns that the host failed. */
  onFault?(fault: unknown): void;
}

interface RpcAnswer {
  /** The answer, as JSON. */
  readonly text: string;
  /** It was refused before its caller was known. */
  readonly isStranger: boolean;
}

/** What a request came through. */
interface Door {
  readonly signal: AbortSignal;
  /** What a request needs on a door that others can reach. */
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
    const message = "The host failed to handle the request.";
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
    const message = `Unknown method; the methods are ${Object.keys(METHODS).join(", ")}.`;
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

// JSON-RPC 2.0 requests and answers in a frame. One request, one answer: batches are not supported.

export type RequestId = string | number;

export interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  /** As received, unchecked. */
  readonly params: unknown;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** The answer to a frame without a request; `null` if it has no readable id. */
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
    return refuseRequest(null, NO_JSON, "A frame must hold one request as JSON in UTF-8; this one does not.");
  }
  if (Array.isArray(value)) {
    return refuseRequest(
      null,
      NO_REQUEST,
      "Batches are not supported: send each request in a separate frame.",
    );
  }
  if (!isJsonObject(value)) return refuseRequest(null, NO_REQUEST, "A request must be a JSON object.");
  const { id, jsonrpc, method, params } = value;
  if (typeof id !== "number" && !(typeof id === "string" && id.length <= MAX_ID_LENGTH)) {
    const allowed = `a number, or a string of at most ${MAX_ID_LENGTH} characters`;
    return refuseRequest(
      null,
      NO_REQUEST,
      `A request must have an \`id\`, ${allowed}: every request is answered.`,
    );
  }
  if (jsonrpc !== "2.0")
    return refuseRequest(id, NO_REQUEST, 'A request must have `jsonrpc` with the value `"2.0"`.');
  if (typeof method !== "string")
    return refuseRequest(id, NO_REQUEST, "A request must have a `method` string.");
  return done({ id, method, params });
}

function refuseRequest(id: RequestId | null, code: number, message: string): Refused<RequestRefusal> {
  return refused({ id, error: { code, message } });
}

export function frameTooLong(length: number, max: number): RpcError {
  return { code: NO_REQUEST, message: `The frame has ${length} bytes; the limit is ${max} bytes.` };
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
