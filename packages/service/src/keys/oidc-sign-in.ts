/**
 * Signing in on the page through the issuer: the authorization code flow with PKCE. What binds the answer to the
 * browser (state, nonce and code verifier) is derived from one random string in a cookie, so that any process of the
 * service can finish what another started, and nothing is stored in between.
 */
import { createHmac, randomBytes } from "node:crypto";
import { done, type Refused, type Result } from "@metier/base/result";
import type { AuthorizationServer } from "oauth4webapi";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { fetchBounded, IssuerUnavailable, type OidcIssuer } from "./oidc-issuer.ts";
import { checkIssuerAddress, type OidcClient } from "./oidc-settings.ts";
import { refuseForNow } from "./oidc-tokens.ts";

/** From leaving for the issuer until coming back. */
export const BOUND_SECONDS = 600;
const COOKIE_TEXT = /^([0-9a-z]{6,10})\.[A-Za-z0-9_-]{43}$/;
const TIMEOUT_MS = 10_000;

interface FlowParts {
  readonly client: OidcClient;
  issuer(): Promise<OidcIssuer>;
  now(): number;
}

export interface OidcSignIn {
  /** `cookie`: the browser keeps it until it comes back. */
  begin(
    redirect: string,
  ): Promise<Result<{ readonly location: string; readonly cookie: string }, HttpRefusal>>;
  /** What the issuer says about whoever comes back with this cookie. */
  finish(
    answer: URLSearchParams,
    cookie: string | undefined,
    redirect: string,
  ): Promise<Result<Readonly<Record<string, unknown>>, HttpRefusal>>;
}

export function openOidcSignIn(parts: FlowParts): OidcSignIn {
  const { client, issuer, now } = parts;
  return {
    async begin(redirect) {
      try {
        const { server } = await issuer();
        const cookie = `${now().toString(36)}.${randomBytes(32).toString("base64url")}`;
        const location = await authorizationAddress(server, client, redirect, cookie);
        return location === undefined ? refuseForNow() : done({ location, cookie });
      } catch (fault) {
        if (fault instanceof IssuerUnavailable) return refuseForNow();
        throw fault;
      }
    },
    async finish(answer, cookie, redirect) {
      const [, begun] = COOKIE_TEXT.exec(cookie ?? "") ?? [];
      const age = begun === undefined ? Number.NaN : now() - Number.parseInt(begun, 36);
      if (cookie === undefined || !(age >= 0 && age < BOUND_SECONDS * 1000)) return refuseUnbound();
      if (answer.get("state") !== bind(cookie, "state")) return refuseUnbound();
      try {
        return done(await exchange(parts, answer, cookie, redirect));
      } catch (fault) {
        return fault instanceof IssuerUnavailable ? refuseForNow() : refuseFailed();
      }
    },
  };
}

async function authorizationAddress(
  server: AuthorizationServer,
  client: OidcClient,
  redirect: string,
  cookie: string,
): Promise<string | undefined> {
  const { calculatePKCECodeChallenge } = await import("oauth4webapi");
  const address = URL.parse(server.authorization_endpoint ?? "");
  if (address === null || checkIssuerAddress(`${address.origin}${address.pathname}`) !== undefined)
    return undefined;
  const parameters = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: redirect,
    scope: "openid",
    state: bind(cookie, "state"),
    nonce: bind(cookie, "nonce"),
    code_challenge: await calculatePKCECodeChallenge(bind(cookie, "verifier")),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  return address.href;
}

/** Exchanges the code for an ID token, whose signature is checked although it comes straight from the issuer. */
async function exchange(
  { client: { id, secret }, issuer }: FlowParts,
  answer: URLSearchParams,
  cookie: string,
  redirect: string,
): Promise<Readonly<Record<string, unknown>>> {
  const oauth = await import("oauth4webapi");
  const { server } = await issuer();
  const client = { client_id: id };
  const parameters = oauth.validateAuthResponse(server, client, answer, bind(cookie, "state"));
  const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  const prove = methods.includes("client_secret_basic") ? oauth.ClientSecretBasic : oauth.ClientSecretPost;
  const request = {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    [oauth.customFetch]: fetchBounded,
    [oauth.allowInsecureRequests]: new URL(server.issuer).protocol === "http:",
  };
  const verifier = bind(cookie, "verifier");
  const proof = prove(secret);
  const response = await oauth.authorizationCodeGrantRequest(
    ...([server, client, proof, parameters, redirect, verifier, request] as const),
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
    expectedNonce: bind(cookie, "nonce"),
    requireIdToken: true,
  });
  await oauth.validateApplicationLevelSignature(server, response, request);
  const claims = oauth.getValidatedIdTokenClaims(tokens);
  if (claims === undefined) throw new Error("The identity provider returned no ID token.");
  return claims;
}

/** All different, and none reveals another or the cookie. */
function bind(cookie: string, purpose: "state" | "nonce" | "verifier"): string {
  return createHmac("sha256", cookie).update(`metier oidc ${purpose}`).digest("base64url");
}

function refuseUnbound(): Refused<HttpRefusal> {
  const minutes = BOUND_SECONDS / 60;
  const message = `This browser did not start a sign-in within the last ${minutes} minutes.`;
  return refuse(401, "sign_in_unbound", message, "Start again at `/v1/sign-in/oidc`.");
}

function refuseFailed(): Refused<HttpRefusal> {
  const message = "The identity provider did not sign you in, or its answer could not be verified.";
  return refuse(401, "sign_in_failed", message, "Start again at `/v1/sign-in/oidc`.");
}
