/**
 * A token (JWT) that its issuer signed for this service. Every problem is a 401 that says which rule it breaks; if the
 * signature isn't the issuer's, nothing more is said.
 */
import { done, type Refused, type Result } from "@metier/base/result";
import { showValue } from "@metier/base/text";
import type { JWTHeaderParameters, JWTPayload } from "jose";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { IssuerUnavailable, type OidcIssuer } from "./oidc-issuer.ts";
import type { OidcSettings } from "./oidc-settings.ts";

/** Algorithms with which only the issuer can sign: whoever can check a shared secret could also sign with it. */
const ALGORITHMS = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];
/** A text that is too long has lost its end. */
const TOKEN_TEXT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?$/;
export const LONGEST_TOKEN = 8_192;
const SKEW_SECONDS = 5;
/** RFC 9068's name for an access token, and what most issuers use. */
const ACCESS_TYPES: ReadonlySet<string> = new Set(["at+jwt", "application/at+jwt", "jwt"]);
/** From a token that tells a client who signed in; it isn't for this service. */
const ID_TOKEN_CLAIMS = ["nonce", "at_hash", "c_hash", "s_hash"] as const;
const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="metier", error="invalid_token"' };
const HINT = "Get a new access token for this service from your identity provider.";

interface VerifiedToken {
  readonly claims: JWTPayload;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

interface VerifyParts {
  readonly settings: Pick<OidcSettings, "audience">;
  issuer(): Promise<OidcIssuer>;
  now(): number;
}

export function looksLikeToken(text: string): boolean {
  return TOKEN_TEXT.test(text);
}

export async function verifyToken(
  { settings, issuer, now }: VerifyParts,
  token: string,
): Promise<Result<VerifiedToken, HttpRefusal>> {
  if (token.length > LONGEST_TOKEN) return refuseToken(`it has more than ${LONGEST_TOKEN} characters`);
  const { jwtVerify } = await import("jose");
  try {
    const { server, keys } = await issuer();
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: server.issuer,
      audience: settings.audience,
      algorithms: ALGORITHMS,
      requiredClaims: ["exp", "sub"],
      currentDate: new Date(now()),
      clockTolerance: SKEW_SECONDS,
    });
    const wrong = checkKind(payload, protectedHeader);
    if (wrong !== undefined) return refuseToken(wrong);
    return done({ claims: payload, expiresAt: (payload.exp ?? 0) * 1000 });
  } catch (fault) {
    if (fault instanceof IssuerUnavailable) return refuseForNow();
    return explain(fault);
  }
}

function checkKind(claims: JWTPayload, { typ }: JWTHeaderParameters): string | undefined {
  const isAccess = typ === undefined || ACCESS_TYPES.has(typ.toLowerCase());
  if (!isAccess) return `its type ${showValue(typ)} is not an access token`;
  if (ID_TOKEN_CLAIMS.some((name) => name in claims))
    return "it is an ID token, which is only for the client that signed the user in";
  // It would need a proof that this service doesn't ask for.
  return "cnf" in claims ? "it is bound to its sender's key" : undefined;
}

/** By jose's codes: its messages name keys and values. */
async function explain(fault: unknown): Promise<Refused<HttpRefusal>> {
  const { errors } = await import("jose");
  if (fault instanceof errors.JWTExpired)
    return refuse(401, "token_expired", "This token has expired.", HINT, CHALLENGE);
  if (fault instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason } = fault;
    if (reason === "missing") return refuseToken(`it has no \`${claim}\` claim`);
    if (claim === "nbf") return refuseToken("it is not valid yet");
    return refuseToken(`its \`${claim}\` claim does not match this service`);
  }
  return refuseToken("its issuer did not sign it for this service");
}

function refuseToken(why: string): Refused<HttpRefusal> {
  return refuse(401, "token_invalid", `Token not accepted: ${why}.`, HINT, CHALLENGE);
}

export function refuseForNow(): Refused<HttpRefusal> {
  const message = "The identity provider is not responding, so tokens cannot be checked.";
  return refuse(503, "issuer_unavailable", message, "Try again later, or use an API key.", {
    "Retry-After": "10",
  });
}
