/** Everything the service says no with: a status, a stable code, what happened, and what to do. One shape on the wire. */
import type { JsonObject } from "@metier/base/json";
import { type Refused, refused } from "@metier/base/result";

type RefusalStatus = 401 | 403 | 404 | 405 | 409 | 410 | 413 | 422 | 429 | 503;

export interface HttpRefusal {
  readonly status: RefusalStatus;
  /** Stable: programs compare it. */
  readonly code: string;
  /** What, which value, what is allowed. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** From when on it can be tried again, in milliseconds since 1970. */
  readonly retryAt?: number | undefined;
}

export function refuse(
  status: RefusalStatus,
  code: string,
  message: string,
  hint: string,
  headers?: Readonly<Record<string, string>>,
): Refused<HttpRefusal> {
  return refused({ status, code, message, hint, headers });
}

/** Also for what belongs to another tenant: that it exists is not told. */
export function refuseMissing(what: string, id: string, list: string): Refused<HttpRefusal> {
  return refuse(404, "not_found", `No ${what} has the id \`${id}\`.`, `List them with \`GET ${list}\`.`);
}

export function refuseRequest(message: string, hint: string): Refused<HttpRefusal> {
  return refuse(422, "invalid_request", message, hint);
}

/** There is no room now; from `retryAt` on there may be. */
export function refuseUntil(
  retryAt: number,
  now: number,
  { code, message, hint }: Pick<HttpRefusal, "code" | "message" | "hint">,
): Refused<HttpRefusal> {
  const seconds = Math.max(1, Math.ceil((retryAt - now) / 1000));
  const headers = { "Retry-After": String(seconds) };
  return refused({ status: 429, code, message, hint, headers, retryAt });
}

/** As it is sent. */
export function errorBody({ code, message, hint, retryAt }: Omit<HttpRefusal, "status">): JsonObject {
  const when = retryAt === undefined ? {} : { retryAt: new Date(retryAt).toISOString() };
  return { error: { code, message, hint, ...when } };
}
