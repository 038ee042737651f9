/**
 * Blocks other pages in the same browser. A name that briefly points to this machine (DNS rebinding) isn't one of this
 * service's names; a change from a page of another origin is refused, whatever cookie the browser adds.
 */
import type { IncomingMessage } from "node:http";
import { isLoopbackHost } from "@metier/base/net";
import { done, type Result } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import { type HttpRefusal, refuse } from "./refusal.ts";

/** Where a request came from, as far as the client can't fake it. */
export interface RequestClient {
  readonly address: string;
  /** It came over https, to this server or a proxy in front of it. */
  readonly isSecure: boolean;
  /** The name of the sign-in cookie. Ports of one machine share cookies, so each has its own name there. */
  readonly cookieName: string;
}

export function describeClient(
  { socket }: IncomingMessage,
  headers: Headers,
  isOnLoopback: boolean,
): RequestClient {
  const passedOn = headers.get("x-forwarded-proto")?.split(",")[0]?.trim().toLowerCase();
  const forwarded = /(?:^|[;\s])proto="?https"?/i.test(headers.get("forwarded") ?? "");
  return {
    address: (socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
    isSecure: "encrypted" in socket || passedOn === "https" || forwarded,
    cookieName: isOnLoopback ? `metier_session_${socket.localPort}` : "metier_session",
  };
}

/** A service that only this machine reaches only has this machine's names. */
export function checkHost(headers: Headers, isOnLoopback: boolean): Result<undefined, HttpRefusal> {
  if (!isOnLoopback || isLoopbackHost(hostName(headers))) return done(undefined);
  return refuse(
    403,
    "wrong_host",
    `This service only answers on this machine, but the request asked for ${showValue(hostName(headers))}.`,
    "Open `http://127.0.0.1` or `http://localhost` with its port. A proxy in front must send that as `Host`; to serve other machines, listen on another address (`--host`).",
  );
}

/** Without the port; browsers send it in lowercase. */
export function hostName(headers: Headers): string {
  return (headers.get("host") ?? "").replace(/:\d+$/, "").toLowerCase();
}

/** A browser says where a request comes from, and no page can change that. */
export function checkOrigin(headers: Headers): Result<undefined, HttpRefusal> {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isOwn = site === null ? isSameHost(origin, headers.get("host")) : site === "same-origin";
  if (isOwn) return done(undefined);
  const from = origin === null ? "without an origin" : `from ${showValue(origin)}`;
  return refuse(
    403,
    "cross_origin",
    `This change came ${from}, but only the service's own page may send changes with a cookie.`,
    "Use this service's page, or send an API key instead of a cookie.",
  );
}

/** For requests without a cookie: a program sends no origin, a browser always does. */
export function checkOriginIfSaid(headers: Headers): Result<undefined, HttpRefusal> {
  const isSaid = headers.has("origin") || headers.has("sec-fetch-site");
  return isSaid ? checkOrigin(headers) : done(undefined);
}

function isSameHost(origin: string | null, host: string | null): boolean {
  return origin !== null && host !== null && URL.parse(origin)?.host === host.toLowerCase();
}
