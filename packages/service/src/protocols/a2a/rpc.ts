/** JSON-RPC as A2A uses it: requests, answers, and refusals under the codes that its clients have classes for. */
import type { Json, JsonObject } from "@metier/base/json";
import { done, type Result } from "@metier/base/result";
import { jsonShape, recordShape, textShape } from "@metier/base/shape";
import { parseBody, readValue } from "../../http/read-request.ts";
import { type HttpRefusal, refuse, type ToldRefusal } from "../../http/refusal.ts";

export interface A2aRequest {
  readonly id?: Json;
  readonly method: string;
  readonly params?: Json;
}

const rpcShape = recordShape<A2aRequest>({ id: jsonShape, method: textShape, params: jsonShape }, [
  "id",
  "params",
]);

/** Each way in which a body is no request has its own code. As for the whole API, JSON is taken under any type. */
export function readRpc(headers: Headers, body: Buffer): Result<A2aRequest, HttpRefusal> {
  const parsed = parseBody(body);
  if (!parsed.ok) {
    const isJson = (headers.get("content-type") ?? JSON_TYPE).toLowerCase().startsWith(JSON_TYPE);
    const code = isJson ? "parse_error" : "content_type_not_supported";
    return refuse(422, code, parsed.refusal.message, parsed.refusal.hint);
  }
  const read = readValue(rpcShape, parsed.value, "request");
  if (!read.ok) return refuse(422, "invalid_rpc", read.refusal.message, read.refusal.hint);
  return done(read.value as A2aRequest);
}

const JSON_TYPE = "application/json";

/** The errors of A2A, by what the service says no with. The rest has the code for its status. */
const A2A_ERRORS: Readonly<Record<string, readonly [code: number, reason: string]>> = {
  not_found: [-32_001, "TASK_NOT_FOUND"],
  run_ended: [-32_002, "TASK_NOT_CANCELABLE"],
  part_of_run: [-32_002, "TASK_NOT_CANCELABLE"],
  push_not_supported: [-32_003, "PUSH_NOTIFICATION_NOT_SUPPORTED"],
  unsupported_operation: [-32_004, "UNSUPPORTED_OPERATION"],
  content_type_not_supported: [-32_005, "CONTENT_TYPE_NOT_SUPPORTED"],
  no_extended_card: [-32_007, "EXTENDED_AGENT_CARD_NOT_CONFIGURED"],
  version_not_supported: [-32_009, "VERSION_NOT_SUPPORTED"],
};
/** Reasons of A2A belong to its domain, all others to ours. */
const A2A_DOMAIN = "a2a-protocol.org";
/** Those of JSON-RPC. */
const RPC_ERRORS: Readonly<Record<string, number>> = {
  parse_error: -32_700,
  invalid_rpc: -32_600,
  method_not_found: -32_601,
};
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;
/** Of no class of A2A: a wrong key, a missing scope, a quota. */
const REFUSED = -32_000;

export function rpcError({ status, code, message, hint, retryAt }: ToldRefusal, id: Json = null): JsonObject {
  const [number, reason] = A2A_ERRORS[code] ?? [RPC_ERRORS[code] ?? codeOf(status), undefined];
  const details: JsonObject = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: reason ?? code.toUpperCase(),
    domain: reason === undefined ? "metier" : A2A_DOMAIN,
    metadata: { hint, ...(retryAt !== undefined && { retryAt: new Date(retryAt).toISOString() }) },
  };
  return { jsonrpc: "2.0", id, error: { code: number, message: `${message} ${hint}`, data: [details] } };
}

function codeOf(status: number): number {
  if (status === 422) return INVALID_PARAMS;
  return status >= 500 ? INTERNAL : REFUSED;
}

export function rpcResult(id: Json = null, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result };
}
