/** Every refusal of the service: a status, a stable code, what happened, and what to do. One shape on the wire. */
import type { JsonObject } from "@metier/base/json";
import { type Refused, refused } from "@metier/base/result";

type RefusalStatus = 401 | 403 | 404 | 405 | 409 | 410 | 413 | 422 | 429 | 503;

export interface HttpRefusal {
  readonly status: RefusalStatus;
  /** Stable: programs compare it. */
  readonly code: string;
  /** What happened, which value, what is allowed. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** When it can be tried again, in milliseconds since 1970. */
  readonly retryAt?: number | undefined;
}

/** An error response: a refusal, or a service error, which reveals nothing. */
export type ToldRefusal = Omit<HttpRefusal, "status"> & { readonly status: RefusalStatus | 500 };

export function refuse(
  status: RefusalStatus,
  code: string,
  message: string,
  hint: string,
  headers?: Readonly<Record<string, string>>,
): Refused<HttpRefusal> {
  return refused({ status, code, message, hint, headers });
}

/** The longest id that a message repeats: a body can bring a much longer one. */
const MOST_SHOWN = 256;

/** Also for what belongs to another tenant, so that its existence isn't revealed. */
export function refuseMissing(what: string, id: string, list: string): Refused<HttpRefusal> {
  const shown = id.slice(0, MOST_SHOWN);
  return refuse(404, "not_found", `No ${what} has the id \`${shown}\`.`, `List them with \`GET ${list}\`.`);
}

export function refuseRequest(message: string, hint: string): Refused<HttpRefusal> {
  return refuse(422, "invalid_request", message, hint);
}

export function refuseScope(needed: string): Refused<HttpRefusal> {
  return refuse(
    403,
    "scope_missing",
    `This key lacks the scope \`${needed}\`.`,
    `Use a key with the scope \`${needed}\`. An admin can create one with \`POST /v1/keys\`.`,
  );
}

/** There is no room now; from `retryAt` on, there may be. */
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
