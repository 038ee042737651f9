/**
 * Signing in with a browser: a key, or an identity provider's statement, becomes a cookie, and the page asks who it
 * acts for.
 */
import { presentFields } from "@metier/base/json";
import { done } from "@metier/base/result";
import { mapShape, tableShape } from "@metier/base/shape";
import type { ApiMe, ApiSignInWays } from "../api-me.ts";
import { checkHost, checkOriginIfSaid, type RequestClient } from "../http/browser-guard.ts";
import { boundedText, objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { refuse } from "../http/refusal.ts";
import { defineRoute, type RouteOutcome, replyWith, type ServiceRoute } from "../http/route.ts";
import { boundCookieName, readCookie, writeBoundCookie, writeCookie } from "../keys/cookie-gate.ts";
import type { Identity } from "../keys/identity.ts";
import { BOUND_SECONDS } from "../keys/oidc-sign-in.ts";
import type { ServiceContext } from "../service-context.ts";

const GROUP = "signing in";
const MOST_KEY = 512;
const FLAG_FIELD = { type: "boolean" };
const meSchema = objectOf(
  {
    keyId: TEXT_FIELD,
    tenant: TEXT_FIELD,
    userId: TEXT_FIELD,
    scopes: { type: "array", items: TEXT_FIELD },
    csrf: TEXT_FIELD,
    mode: { enum: ["inspect", "serve"] },
    mayEditRules: FLAG_FIELD,
    version: TEXT_FIELD,
  },
  ["keyId", "tenant", "scopes", "mode", "mayEditRules", "version"],
);

interface SignInBody {
  readonly key: string;
}

function describeMe(identity: Identity, { version, person, rules }: ServiceContext): ApiMe {
  const { keyId, tenant, userId, scopes, signIn } = identity;
  const me = { keyId, tenant, userId, scopes: [...scopes], csrf: signIn?.csrf };
  return {
    ...presentFields(me),
    mode: person === undefined ? "serve" : "inspect",
    mayEditRules: rules?.mayEdit(identity) ?? false,
    version,
  };
}

const signIn = defineRoute<Record<never, never>, SignInBody>({
  method: "POST",
  path: "/v1/session",
  scope: "none",
  group: GROUP,
  summary: "Sign in with a key. The response sets a cookie that replaces it in this browser.",
  body: tableShape<SignInBody>({ key: boundedText(MOST_KEY, 1) }, ["key"]),
  answers: {
    200: { about: "Who you are; send `csrf` as `X-Metier-CSRF` with every change.", schema: meSchema },
  },
  async handle({ body: { key }, headers, client }, context) {
    const host = checkHost(headers, context.isOnLoopback);
    if (!host.ok) return host;
    // Another page must not sign anyone in as someone else.
    const origin = checkOriginIfSaid(headers);
    if (!origin.ok) return origin;
    const begun = await context.authenticate.signIn(key.trim(), client);
    if (!begun.ok) return begun;
    const { identity, cookie } = begun.value;
    return done({
      status: 200,
      body: { ...describeMe(identity, context) },
      headers: { "Set-Cookie": writeCookie(client, cookie) },
    });
  },
});

const signOut = defineRoute({
  method: "DELETE",
  path: "/v1/session",
  scope: "any",
  group: GROUP,
  summary: "Sign out. The cookie stops working everywhere; a key stays valid.",
  answers: { 200: { about: "Done.", schema: objectOf({ status: TEXT_FIELD }) } },
  async handle({ identity: { tenant, signIn: current }, client }, { signIns }) {
    if (current !== undefined) await signIns.end({ tenant, id: current.id });
    const headers = { "Set-Cookie": writeCookie(client, "") };
    return done({ status: 200, body: { status: "signed out" }, headers });
  },
});

const readMe = defineRoute({
  method: "GET",
  path: "/v1/me",
  scope: "any",
  group: GROUP,
  summary: "Show who you are and what you may do.",
  answers: { 200: { about: "The key behind this request.", schema: meSchema } },
  handle: async ({ identity }, context) => replyWith(describeMe(identity, context)),
});

const listWays = defineRoute({
  method: "GET",
  path: "/v1/sign-in",
  scope: "none",
  group: GROUP,
  summary: "List the ways to sign in on the page.",
  answers: { 200: { about: "The ways.", schema: objectOf({ key: FLAG_FIELD, oidc: FLAG_FIELD }) } },
  async handle(_request, { oidc }) {
    const ways: ApiSignInWays = { key: true, oidc: oidc !== undefined };
    return replyWith(ways);
  },
});

const CALLBACK = "/v1/sign-in/oidc/callback";

/** Where the identity provider redirects the browser: the address it came here by. */
function callbackOf(headers: Headers, { isSecure }: RequestClient): string | undefined {
  return URL.parse(CALLBACK, `${isSecure ? "https" : "http"}://${headers.get("host") ?? ""}`)?.href;
}

function refuseWithoutOidc(): RouteOutcome {
  const message = "This service only supports signing in with keys.";
  return refuse(404, "not_found", message, "Set `METIER_OIDC_CLIENT_ID` and the other OIDC settings.");
}

const beginOidc = defineRoute({
  method: "GET",
  path: "/v1/sign-in/oidc",
  scope: "none",
  group: GROUP,
  summary: "Sign in with the identity provider: redirects the browser there.",
  answers: { 303: { about: "A redirect to the identity provider.", type: "text/plain" } },
  async handle({ headers, client }, { oidc, isOnLoopback }) {
    const host = checkHost(headers, isOnLoopback);
    if (!host.ok) return host;
    const callback = callbackOf(headers, client);
    if (oidc === undefined || callback === undefined) return refuseWithoutOidc();
    const begun = await oidc.begin(callback);
    if (!begun.ok) return begun;
    const { location, cookie } = begun.value;
    const bound = writeBoundCookie(client, CALLBACK, cookie, BOUND_SECONDS);
    return done(new Response(null, { status: 303, headers: { Location: location, "Set-Cookie": bound } }));
  },
});

const finishOidc = defineRoute<Readonly<Record<string, string>>>({
  method: "GET",
  path: CALLBACK,
  scope: "none",
  group: GROUP,
  summary:
    "The identity provider redirects the browser here, which sets the same cookie as signing in with a key.",
  query: mapShape(boundedText(4_096)),
  answers: { 303: { about: "A redirect to the page.", type: "text/plain" } },
  async handle({ query, headers, client }, { oidc, isOnLoopback, authenticate }) {
    const host = checkHost(headers, isOnLoopback);
    if (!host.ok) return host;
    const callback = callbackOf(headers, client);
    if (oidc === undefined || callback === undefined) return refuseWithoutOidc();
    const bound = readCookie(headers, boundCookieName(client));
    const begun = await authenticate.signInBy(async () => {
      const claims = await oidc.finish(new URLSearchParams(query), bound, callback);
      return claims.ok ? oidc.readPerson(claims.value) : claims;
    }, client);
    if (!begun.ok) return begun;
    const answer = new Response(null, { status: 303, headers: { Location: "/" } });
    answer.headers.append("Set-Cookie", writeCookie(client, begun.value.cookie));
    answer.headers.append("Set-Cookie", writeBoundCookie(client, CALLBACK, "", 0));
    return done(answer);
  },
});

export const SIGN_IN_ROUTES: readonly ServiceRoute[] = [
  signIn,
  signOut,
  readMe,
  listWays,
  beginOidc,
  finishOidc,
];
