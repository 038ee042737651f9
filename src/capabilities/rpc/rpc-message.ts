/** Requests and answers of JSON-RPC 2.0, as they stand in a frame. One request, one answer: there are no batches. */
import type { CapabilityFault } from "../capability-fault.ts";
import type { TokenFault } from "../tokens/token-reading.ts";

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
  readonly data?: Readonly<Record<string, unknown>>;
}

export type ReadRequest =
  | { readonly ok: true; readonly request: RpcRequest }
  | { readonly ok: false; readonly id: RequestId | null; readonly error: RpcError };

const [NO_JSON, NO_REQUEST, NO_METHOD, WRONG_PARAMS, NOT_DONE] = [-32700, -32600, -32601, -32602, -32603];

const MAX_ID_LENGTH = 128;

export function readRequest(frame: Uint8Array): ReadRequest {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(frame));
  } catch {
    return refuse(null, NO_JSON, "A frame holds one request as JSON in UTF-8, and this one does not.");
  }
  if (Array.isArray(value)) {
    return refuse(null, NO_REQUEST, "Batches are not taken: send each request in a frame of its own.");
  }
  if (!isObject(value)) return refuse(null, NO_REQUEST, "A request is a JSON object.");
  const { id, jsonrpc, method, params } = value;
  if (!isRequestId(id)) {
    const allowed = `a number, or a text of at most ${MAX_ID_LENGTH} characters`;
    return refuse(null, NO_REQUEST, `A request has an \`id\`, ${allowed}: each is answered.`);
  }
  if (jsonrpc !== "2.0") return refuse(id, NO_REQUEST, 'A request has `jsonrpc` with the value `"2.0"`.');
  if (typeof method !== "string") return refuse(id, NO_REQUEST, "A request has a `method`, which is a text.");
  return { ok: true, request: { id, method, params } };
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "number" || (typeof id === "string" && id.length <= MAX_ID_LENGTH);
}

function refuse(id: RequestId | null, code: number, message: string): ReadRequest {
  return { ok: false, id, error: { code, message } };
}

export function frameTooLong(length: number, max: number): RpcError {
  return { code: NO_REQUEST, message: `A frame of ${length} bytes is announced; at most ${max} are taken.` };
}

export function unknownMethod(known: readonly string[]): RpcError {
  return { code: NO_METHOD, message: `There is no such method; there is ${known.join(", ")}.` };
}

export function wrongParams(message: string): RpcError {
  return { code: WRONG_PARAMS, message };
}

export function wrongToken({ code, message }: TokenFault): RpcError {
  return wrongParams(`Invalid context token (${code}): ${message}`);
}

export function notDone({ code, message, hint, retryAfterSeconds }: CapabilityFault): RpcError {
  const data = {
    code,
    ...(hint !== undefined && { hint }),
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
  };
  return { code: NOT_DONE, message: `${code}: ${message}`, data };
}

export function resultText(id: RequestId, result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

export function errorText(id: RequestId | null, error: RpcError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error });
}
