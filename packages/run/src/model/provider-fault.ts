/** Errors of a model call: which ones may pass, how long the provider asks to wait, and that wait. */
import { setTimeout as pause } from "node:timers/promises";
import { MetierError } from "@metier/base/errors";

/** What AI SDK errors and stream error events share. */
interface FaultShape {
  readonly statusCode?: unknown;
  readonly isRetryable?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly cause?: unknown;
}

/** A refused connection isn't among them: nobody listens there, and waiting doesn't start a server. */
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

/** Error events in a stream have a word instead of a status. */
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
  if (typeof statusCode === "number") return [408, 409, 429].includes(statusCode) || statusCode >= 500;
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

/** The error and its causes; bounded, because a cause may contain itself. */
function causes(error: unknown): readonly FaultShape[] {
  const chain: FaultShape[] = [];
  let current = error;
  while (typeof current === "object" && current !== null && chain.length < 8) {
    chain.push(current);
    current = (current as FaultShape).cause;
  }
  return chain;
}

/** How long a provider asks to wait, in milliseconds, from the headers of its error. */
export function readRetryHint(
  headers: Readonly<Record<string, string | undefined>>,
  now: number,
): number | undefined {
  const milliseconds = readNumber(headers["retry-after-ms"]);
  if (milliseconds !== undefined) return milliseconds;
  const after = headers["retry-after"];
  if (after !== undefined) {
    const seconds = readNumber(after);
    return seconds === undefined ? untilTime(Date.parse(after), now) : seconds * 1000;
  }
  const resets = Object.entries(headers).filter(([name]) => RESET_HEADER.test(name));
  // Whichever limit was hit, after the last reset none applies.
  const waits = resets.map(([, value = ""]) => readReset(value, now)).filter((wait) => wait !== undefined);
  return waits.length > 0 ? Math.max(...waits) : undefined;
}

/** `x-ratelimit-reset`, `x-ratelimit-reset-tokens`, `anthropic-ratelimit-requests-reset`. */
const RESET_HEADER = /^(?:x-ratelimit-reset(?:-\w+)?|anthropic-ratelimit-[\w-]+-reset)$/;

/** A time, or a duration such as `6m0s`; a bare number is a time if it is large. */
function readReset(value: string, now: number): number | undefined {
  const number = readNumber(value);
  if (number !== undefined) {
    if (number > 1e12) return untilTime(number, now);
    return number > 1e9 ? untilTime(number * 1000, now) : number * 1000;
  }
  return readSpan(value) ?? untilTime(Date.parse(value), now);
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

function readSpan(value: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|h|m|s))+$/.test(value)) return undefined;
  const parts = value.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g);
  return [...parts].reduce((sum, [, amount, unit = ""]) => sum + Number(amount) * (UNITS[unit] ?? 0), 0);
}

function readNumber(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

function untilTime(time: number, now: number): number | undefined {
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** The provider's stream ended before its answer did; what arrived is kept. */
export class ModelCutError extends MetierError {
  constructor(cause?: unknown) {
    const reason = rootMessage(cause);
    super("model.cut", `The model's answer was cut off${reason ? `: ${reason}` : ""}.`, {
      cause,
      hint: "Run it again. If it happens often, check the connection or the server's log.",
    });
  }
}

/** The socket's message; the layers above only say that something went wrong. */
function rootMessage(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return "";
  return (depth < 8 && rootMessage(error.cause, depth + 1)) || error.message;
}

/** A pause that ends early, with the signal's reason, if it is aborted. */
export async function waitFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await pause(milliseconds, undefined, { signal });
  } catch (error) {
    throw signal?.aborted ? signal.reason : error;
  }
}
