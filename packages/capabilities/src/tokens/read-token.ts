/**
 * Verifies a compact JWT, in order: form, header, signature, claims. The algorithm is fixed before a key is chosen, so
 * nothing in a token decides how it is checked. `jose` does the cryptography.
 */
import { isJsonObject, presentFields } from "@metier/base/json";
import { done, type Refusal, type Refused, type Result, refused } from "@metier/base/result";
import type { CapabilityCaller } from "../capability.ts";

export const ALGORITHM = "HS256";

/** Two processes' clocks may differ by this much, either way. */
export const LEEWAY_SECONDS = 30;

/** Below the limit for one process variable on any system. */
export const MAX_TOKEN_LENGTH: number = 96 * 1024;

/** No token of ours lives this long; with it, `jose` rejects tokens issued in the future. */
const MAX_AGE_SECONDS = 24 * 60 * 60;

interface TokenCheck {
  readonly typ: string;
  /** Chosen by the header; nothing if no key of ours signed it. */
  findKey(header: Claims): Uint8Array | undefined;
  /** Whether the rest of the header is valid. */
  isHeader(header: Claims): boolean;
  readonly audience?: string | undefined;
  readonly issuer?: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

export interface VerifiedToken {
  readonly caller: CapabilityCaller;
  readonly claims: Claims;
  /** Milliseconds since 1970; its claims are invalid from then on. */
  readonly endsAt: number;
}

/** Which check failed, and nothing more. */
const TOKEN_REFUSALS = {
  missing: "The request has no token or no nonce.",
  format: "The token does not have three dot-separated parts, or it or the nonce is too long.",
  decode: "A part of the token cannot be decoded.",
  header: "The token's header is not accepted.",
  signature: "The token's signature is not valid.",
  claims: "The token is for something else, or has expired.",
  replayed: "The token and nonce were already used.",
} as const;

export interface TokenRefusal extends Refusal {
  readonly code: keyof typeof TOKEN_REFUSALS;
}

export function refuseToken(code: TokenRefusal["code"]): Refused<TokenRefusal> {
  return refused({ code, message: TOKEN_REFUSALS[code] });
}

export async function readToken(
  token: string | undefined,
  check: TokenCheck,
): Promise<Result<VerifiedToken, TokenRefusal>> {
  if (token === undefined || token.trim() === "") return refuseToken("missing");
  const parts = token.length > MAX_TOKEN_LENGTH ? [] : token.split(".");
  const [head = "", payload = "", signature = ""] = parts;
  if (parts.length !== 3 || head === "" || payload === "") return refuseToken("format");
  const header = parts.every((part) => BASE64URL.test(part)) ? readObject(head) : undefined;
  if (header === undefined) return refuseToken("decode");
  if (header.alg !== ALGORITHM || header.typ !== check.typ || !check.isHeader(header)) {
    return refuseToken("header");
  }
  const key = check.findKey(header);
  if (key === undefined || !isCanonical(signature)) return refuseToken("signature");
  return verify(token, key, check);
}

async function verify(
  token: string,
  key: Uint8Array,
  { audience, issuer, now }: TokenCheck,
): Promise<Result<VerifiedToken, TokenRefusal>> {
  const { jwtVerify, errors } = await import("jose");
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      requiredClaims: ["sub", "exp", "jti"],
      maxTokenAge: MAX_AGE_SECONDS,
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(now),
      ...presentFields({ audience, issuer }),
    });
    const caller = toCaller(payload);
    return caller ? done({ caller, claims: payload, endsAt: endOf(payload) }) : refuseToken("claims");
  } catch (error) {
    if (error instanceof errors.JOSEError) return refuseToken(FAILED[error.code] ?? "header");
    throw error;
  }
}

/** Both are numbers, since `jose` requires them. */
function endOf({ exp = 0, iat = 0 }: { readonly exp?: number; readonly iat?: number }): number {
  return (Math.min(exp, iat + MAX_AGE_SECONDS) + LEEWAY_SECONDS) * 1000;
}

/** From the `jose` error; the rest are headers that ask for more than is accepted. */
const FAILED: Readonly<Record<string, TokenRefusal["code"]>> = {
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "signature",
  ERR_JWT_EXPIRED: "claims",
  ERR_JWT_CLAIM_VALIDATION_FAILED: "claims",
  ERR_JWT_INVALID: "decode",
};

const BASE64URL = /^[A-Za-z0-9_-]*$/;

function readObject(part: string): Claims | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return isJsonObject(value) ? (value as Claims) : undefined;
  } catch {
    return undefined; // The fault says that it cannot be decoded.
  }
}

/** A signature has one spelling: the unused bits of its last character are zero. */
function isCanonical(part: string): boolean {
  return Buffer.from(part, "base64url").toString("base64url") === part;
}

// Converts between a token's claims and its caller. Only strings; blank ones are left out.

type Claims = Readonly<Record<string, unknown>>;

/** What every token says besides `sub`. */
const CHAT_CLAIMS = {
  chat_id: "chatId",
  chat_type: "chatType",
  chat_title: "chatTitle",
  provider: "provider",
  session_key: "sessionKey",
  thread_id: "threadId",
  source_username: "sourceUsername",
  source_display_name: "sourceDisplayName",
  message_id: "messageId",
  current_user_message: "currentUserMessage",
  timezone: "timezone",
} as const satisfies Record<string, keyof CapabilityCaller>;

/** All fields that `chatClaims` may contain. */
export const CHAT_CLAIM_NAMES: readonly string[] = ["sub", ...Object.keys(CHAT_CLAIMS)];

/** Only in the broker's own tokens: a bridge learns nothing about the run. */
const RUN_CLAIMS = { run_id: "runId", skill: "skill" } as const satisfies Record<
  string,
  keyof CapabilityCaller
>;

/** A token travels in a variable, which systems limit; a message this long completes no sign-in anyway. */
const MAX_MESSAGE = 16_384;

/** `sub` and the chat. Throws for a caller without a user, since nothing can be done for one. */
export function chatClaims(caller: CapabilityCaller): Record<string, string> {
  if (isBlank(caller.userId)) throw new TypeError("A token needs a user id, but the caller has none.");
  const { current_user_message: message = "", ...claims } = textClaims(caller, CHAT_CLAIMS);
  const isCarried = message !== "" && message.length <= MAX_MESSAGE;
  return { sub: caller.userId, ...claims, ...(isCarried && { current_user_message: message }) };
}

/** The run and what its skill declares. */
export function runClaims(caller: CapabilityCaller): Record<string, string | readonly string[] | undefined> {
  return { ...textClaims(caller, RUN_CLAIMS), capabilities: caller.declared };
}

/**
 * `undefined`: the claims name no user. In a run, a missing claim about capabilities means none: only callers outside a
 * run may use all.
 */
function toCaller(claims: Claims): CapabilityCaller | undefined {
  const { sub, capabilities } = claims;
  if (typeof sub !== "string" || isBlank(sub)) return undefined;
  const texts = Object.fromEntries(
    Object.entries({ ...CHAT_CLAIMS, ...RUN_CLAIMS }).flatMap(([claim, field]) => {
      const value = claims[claim];
      return typeof value === "string" && !isBlank(value) ? [[field, value]] : [];
    }),
  ) as Omit<CapabilityCaller, "userId" | "declared">;
  const declared = Array.isArray(capabilities) ? capabilities.filter((id) => typeof id === "string") : [];
  const isRestricted = capabilities !== undefined || texts.runId !== undefined;
  return presentFields({ userId: sub, ...texts, declared: isRestricted ? declared : undefined });
}

function textClaims(
  caller: CapabilityCaller,
  fields: Readonly<Record<string, keyof CapabilityCaller>>,
): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [claim, field] of Object.entries(fields)) {
    const value = caller[field];
    if (typeof value === "string" && !isBlank(value)) texts[claim] = value;
  }
  return texts;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}
