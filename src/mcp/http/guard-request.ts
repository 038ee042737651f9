/**
 * Who may speak with the server at all, before a byte of the body is read: a name by which it is known (a page that a
 * browser was led to under another name is refused), no foreign origin, and the token where there is one.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import { UsageError } from "../../foundation/errors.ts";

export interface Guard {
  /** Host names without a port; IPv6 addresses in brackets. */
  readonly hosts: readonly string[];
  readonly token?: string;
}

export interface Refused {
  readonly status: 401 | 403;
  readonly message: string;
}

export function guardRequest(headers: IncomingHttpHeaders, { hosts, token }: Guard): Refused | undefined {
  const names = [...hosts];
  const host = validateHostHeader(headers.host, names);
  if (!host.ok)
    return {
      status: 403,
      message: `${host.message}. That is no name of this server; \`--allow-host\` adds one.`,
    };
  const origin = validateOriginHeader(headers.origin, names);
  if (!origin.ok) return { status: 403, message: `${origin.message}. Pages of other sites are not served.` };
  if (token !== undefined && !isToken(headers.authorization, token)) {
    return { status: 401, message: "A bearer token is needed: `Authorization: Bearer …`." };
  }
  return undefined;
}

/** Throws `UsageError` for a token that nobody could send, or that everybody would. */
export function checkToken(token: string): void {
  if (/^[!-~]+$/.test(token)) return;
  throw new UsageError("The token is empty, or has a character that no header can carry.", {
    hint: "Give a long random value of visible ASCII characters without spaces.",
  });
}

/** Takes as long for a wrong token as for the right one. */
function isToken(authorization: string | undefined, token: string): boolean {
  const [, given = ""] = /^Bearer +(\S+) *$/i.exec(authorization ?? "") ?? [];
  return timingSafeEqual(digest(given), digest(token));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
