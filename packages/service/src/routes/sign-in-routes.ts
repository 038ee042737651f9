/** Signing in with a browser: a key becomes a cookie, and the page asks who it speaks for. */
import { presentFields } from "@metier/base/json";
import { done } from "@metier/base/result";
import { tableShape } from "@metier/base/shape";
import type { ApiMe } from "../api.ts";
import { checkHost, checkOriginIfSaid } from "../http/browser-guard.ts";
import { boundedText, objectOf, TEXT_FIELD } from "../http/query-shapes.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { writeCookie } from "../keys/cookie-gate.ts";
import type { Identity } from "../keys/identity.ts";
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
  summary: "Sign in with a key: the answer sets a cookie, which stands for it in this browser.",
  body: tableShape<SignInBody>({ key: boundedText(MOST_KEY, 1) }, ["key"]),
  answers: {
    200: { about: "Who you are; send `csrf` back as `X-Metier-CSRF` with every change.", schema: meSchema },
  },
  async handle({ body: { key }, headers, client }, context) {
    const host = checkHost(headers, context.isOnLoopback);
    if (!host.ok) return host;
    // Nobody is signed in by another page, as somebody else.
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
  summary: "Sign out: the cookie counts no longer, in this browser or anywhere else. A key stays as it is.",
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
  summary: "Who asks, and what they may do.",
  answers: { 200: { about: "The key behind this request.", schema: meSchema } },
  handle: async ({ identity }, context) => replyWith(describeMe(identity, context)),
});

export const SIGN_IN_ROUTES: readonly ServiceRoute[] = [signIn, signOut, readMe];
