/**
 * A request with a sign-in cookie. It has exactly the scopes of the key it was signed in with, while that key is valid;
 * and because browsers add cookies automatically, a change must also prove that the service's own page sent it.
 */
import { isSameSecret } from "@metier/base/digest";
import { done, type Result } from "@metier/base/result";
import { checkHost, checkOrigin, type RequestClient } from "../http/browser-guard.ts";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import type { Identity } from "./identity.ts";
import type { KeyCheck } from "./key-store.ts";
import type { SignIn, SignIns } from "./sign-ins.ts";

const CSRF_HEADER = "x-metier-csrf";
const READING: ReadonlySet<string> = new Set(["GET", "HEAD"]);

interface CookieGateParts {
  readonly signIns: SignIns;
  /** Whether only this machine reaches the service. */
  readonly isOnLoopback: boolean;
  now(): number;
  /** The identity of the key that was signed in with. */
  recognize(signIn: SignIn): Promise<KeyCheck>;
}

/** `undefined`: the request has no such cookie. */
export async function identifyByCookie(
  { signIns, isOnLoopback, now, recognize }: CookieGateParts,
  { method, headers }: Pick<Request, "method" | "headers">,
  { cookieName }: Pick<RequestClient, "cookieName">,
): Promise<Result<Identity, HttpRefusal> | undefined> {
  const cookie = readCookie(headers, cookieName);
  if (cookie === undefined) return undefined;
  const host = checkHost(headers, isOnLoopback);
  if (!host.ok) return host;
  const signIn = await signIns.find(cookie, now());
  if (signIn === undefined) return refuseSignedOut("You are signed out, or were inactive for 12 hours.");
  const key = await recognize(signIn);
  if (key.kind !== "known") {
    await signIns.end(signIn);
    return refuseSignedOut("The key you signed in with is no longer valid.");
  }
  const change = READING.has(method) ? done(undefined) : checkChange(headers, signIn);
  return change.ok ? done({ ...key.identity, signIn: { id: signIn.id, csrf: signIn.csrf } }) : change;
}

function checkChange(headers: Headers, { csrf }: SignIn): Result<undefined, HttpRefusal> {
  const origin = checkOrigin(headers);
  if (!origin.ok) return origin;
  const sent = headers.get(CSRF_HEADER);
  if (sent !== null && isSameSecret(sent, csrf)) return done(undefined);
  const message =
    sent === null
      ? "This change has a sign-in cookie but no `X-Metier-CSRF` header."
      : "The `X-Metier-CSRF` header does not match this sign-in.";
  return refuse(
    403,
    "csrf",
    message,
    "Send the `csrf` value from `GET /v1/me` in that header. Programs should send an API key instead of a cookie.",
  );
}

function refuseSignedOut(message: string): Result<never, HttpRefusal> {
  return refuse(401, "signed_out", message, "Sign in again, or send an API key.");
}

export function readCookie(headers: Headers, name: string): string | undefined {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Gone with the browser at the latest; never sent from other sites, and never visible to scripts. */
export function writeCookie({ cookieName, isSecure }: RequestClient, cookie: string): string {
  const attributes = ["Path=/", "HttpOnly", "SameSite=Strict", ...(isSecure ? ["Secure"] : [])];
  const ending = cookie === "" ? ["Max-Age=0"] : [];
  return [`${cookieName}=${cookie}`, ...attributes, ...ending].join("; ");
}

/** For a sign-in in progress at an identity provider. */
export function boundCookieName({ cookieName }: Pick<RequestClient, "cookieName">): string {
  return `${cookieName}_oidc`;
}

/** It must be sent when the identity provider, which is another site, redirects the browser back. */
export function writeBoundCookie(
  client: RequestClient,
  path: string,
  cookie: string,
  seconds: number,
): string {
  const attributes = [`Path=${path}`, "HttpOnly", "SameSite=Lax", `Max-Age=${seconds}`];
  const secure = client.isSecure ? ["Secure"] : [];
  return [`${boundCookieName(client)}=${cookie}`, ...attributes, ...secure].join("; ");
}
