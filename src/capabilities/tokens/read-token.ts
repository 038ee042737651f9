/**
 * Verifies a compact JWT, in this order: form, header, signature, claims. The algorithm is fixed before a key is chosen,
 * so nothing in a token decides how it is checked. The cryptography is that of `jose`.
 */
import type { CapabilityCaller } from "../capability.ts";
import { type Claims, toCaller } from "./claims.ts";
import { type TokenFault, type TokenFaultCode, tokenFault } from "./token-reading.ts";

export const ALGORITHM = "HS256";

/** Clocks of two processes may differ by so much, either way. */
export const LEEWAY_SECONDS = 30;

/** Below what one variable of a process may have on any system. */
export const MAX_TOKEN_LENGTH: number = 96 * 1024;

/** No token of ours lives so long: with it `jose` checks that a token was not issued in the future. */
const MAX_AGE = "1 day";

export interface TokenCheck {
  readonly typ: string;
  /** By the header; nothing: no key of ours made it. */
  findKey(header: Claims): Uint8Array | undefined;
  /** Whether the rest of the header is as it must be. */
  isHeader(header: Claims): boolean;
  readonly audience?: string;
  readonly issuer?: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface VerifiedToken {
  readonly ok: true;
  readonly caller: CapabilityCaller;
  readonly claims: Claims;
}

export async function readToken(
  token: string | undefined,
  check: TokenCheck,
): Promise<VerifiedToken | TokenFault> {
  if (token === undefined || token.trim() === "") return tokenFault("missing");
  const parts = token.length > MAX_TOKEN_LENGTH ? [] : token.split(".");
  const [head = "", payload = "", signature = ""] = parts;
  if (parts.length !== 3 || head === "" || payload === "") return tokenFault("format");
  const header = parts.every((part) => BASE64URL.test(part)) ? readObject(head) : undefined;
  if (header === undefined) return tokenFault("decode");
  if (header.alg !== ALGORITHM || header.typ !== check.typ || !check.isHeader(header)) {
    return tokenFault("header");
  }
  const key = check.findKey(header);
  if (key === undefined || !isCanonical(signature)) return tokenFault("signature");
  return verify(token, key, check);
}

async function verify(
  token: string,
  key: Uint8Array,
  { audience, issuer, now }: TokenCheck,
): Promise<VerifiedToken | TokenFault> {
  const { jwtVerify, errors } = await import("jose");
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      requiredClaims: ["sub", "exp", "jti"],
      maxTokenAge: MAX_AGE,
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(now),
      ...(audience !== undefined && { audience }),
      ...(issuer !== undefined && { issuer }),
    });
    const caller = toCaller(payload);
    return caller ? { ok: true, caller, claims: payload } : tokenFault("claims");
  } catch (error) {
    if (error instanceof errors.JOSEError) return tokenFault(FAILED[error.code] ?? "header");
    throw error;
  }
}

/** By what `jose` says; the rest of it are headers that ask for more than is accepted. */
const FAILED: Readonly<Record<string, TokenFaultCode>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "signature",
  ERR_JWT_EXPIRED: "claims",
  ERR_JWT_CLAIM_VALIDATION_FAILED: "claims",
  ERR_JWT_INVALID: "decode",
};

const BASE64URL = /^[A-Za-z0-9_-]*$/;

function readObject(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Claims)
      : undefined;
  } catch {
    return undefined; // The fault says that it cannot be decoded.
  }
}

/** A signature has one spelling: the unused bits of its last character are zero. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, "base64url").toString("base64url") === part;
}
