/**
 * What keeps other pages in the same browser away. A name that leads to this machine for a moment (DNS rebinding) is no name
 * of this service; a change that a page of another origin sends is not done, whatever cookie the browser adds to it.
 */
import type { IncomingMessage } from "node:http";
import { isLoopbackHost } from "@metier/base/net";
import { done, type Result } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import { type HttpRefusal, refuse } from "./refusal.ts";

/** Where a request came from, as far as it was not the client who says so. */
export interface RequestClient {
  readonly address: string;
  /** It came by https, to this server or to a proxy in front of it. */
  readonly isSecure: boolean;
  /** Of the sign-in cookie. Ports of one machine share their cookies, so that there each has a name of its own. */
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

/** A service that only this machine reaches has only names of this machine. */
export function checkHost(headers: Headers, isOnLoopback: boolean): Result<undefined, HttpRefusal> {
  if (!isOnLoopback || isLoopbackHost(hostName(headers))) return done(undefined);
  return refuse(
    403,
    "wrong_host",
    `This service is for this machine only, and was asked for as ${showValue(hostName(headers))}.`,
    "Open it as `http://127.0.0.1` or `http://localhost` with its port. A proxy in front of it must send such a `Host`, or the service must listen on another address (`--host`).",
  );
}

/** Without the port; browsers send it in lower case. */
export function hostName(headers: Headers): string {
  return (headers.get("host") ?? "").replace(/:\d+$/, "").toLowerCase();
}

/** A browser says where a request comes from, and no page can change what it says. */
export function checkOrigin(headers: Headers): Result<undefined, HttpRefusal> {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isOwn = site === null ? isSameHost(origin, headers.get("host")) : site === "same-origin";
  if (isOwn) return done(undefined);
  const from = origin === null ? "without saying where it comes from" : `from ${showValue(origin)}`;
  return refuse(
    403,
    "cross_origin",
    `This change came ${from}, and only the service's own page may send it.`,
    "Use the page of this service, or an API key: programs send no cookie.",
  );
}

/** For what has no cookie yet: a program says nothing about its origin, a browser always does. */
export function checkOriginIfSaid(headers: Headers): Result<undefined, HttpRefusal> {
  const isSaid = headers.has("origin") || headers.has("sec-fetch-site");
  return isSaid ? checkOrigin(headers) : done(undefined);
}

function isSameHost(origin: string | null, host: string | null): boolean {
  return origin !== null && host !== null && URL.parse(origin)?.host === host.toLowerCase();
}
