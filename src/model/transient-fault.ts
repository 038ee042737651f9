/** Which faults of a model call may be gone a moment later. */
import { ModelCutError } from "./model-cut-error.ts";

/** What the AI SDK's errors and the error events of streams have in common. */
interface FaultShape {
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly cause?: unknown;
}

/** A refused connection is not among them: nobody listens there, and waiting does not start a server. */
const NETWORK_CODES = new Set([
  "ECONNRESET",
  "ETIMEDOUT",
  "EPIPE",
  "EAI_AGAIN",
  "UND_ERR_SOCKET",
  "UND_ERR_HEADERS_TIMEOUT",
  "UND_ERR_BODY_TIMEOUT",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const LASTING_CODES = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

/** Error events inside a stream carry a word instead of a status. */
const TRANSIENT_TYPES = new Set([
  "overloaded_error",
  "rate_limit_error",
  "rate_limit_exceeded",
  "api_error",
  "server_error",
  "timeout_error",
]);

export function isTransient(error: unknown): boolean {
  if (error instanceof ModelCutError) return true;
  const chain = causes(error);
  if (chain.some(({ code }) => LASTING_CODES.has(String(code)))) return false;
  if (chain.some(({ code }) => NETWORK_CODES.has(String(code)))) return true;
  const [{ statusCode, isRetryable, type, code } = {}] = chain;
  if (typeof statusCode === "number") return isTransientStatus(statusCode);
  if (typeof isRetryable === "boolean") return isRetryable;
  return TRANSIENT_TYPES.has(String(type)) || TRANSIENT_TYPES.has(String(code));
}

export function responseHeaders(error: unknown): Readonly<Record<string, string>> {
  return causes(error).find((fault) => fault.responseHeaders)?.responseHeaders ?? {};
}

/** In one line, for people. */
export function describeTransient(error: unknown): string {
  const [fault] = causes(error);
  const message = error instanceof Error ? error.message : "the provider reported an error";
  return typeof fault?.statusCode === "number" ? `${fault.statusCode}: ${message}` : message;
}

function isTransientStatus(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** The fault and what lies behind it; bounded, for a cause may name itself. */
function causes(error: unknown): readonly FaultShape[] {
  const chain: FaultShape[] = [];
  let current = error;
  while (typeof current === "object" && current !== null && chain.length < 8) {
    chain.push(current);
    current = (current as FaultShape).cause;
  }
  return chain;
}
