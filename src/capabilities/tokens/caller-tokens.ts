/**
 * Tokens that say for whom a command of a run asks. Keys live in the memory of this process alone and change from time to
 * time; what is remembered of a token, its nonces included, is forgotten when the token has ended.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { CapabilityCaller } from "../capability.ts";
import { chatClaims, runClaims } from "./claims.ts";
import { ALGORITHM, LEEWAY_SECONDS, MAX_TOKEN_LENGTH, readToken } from "./read-token.ts";
import { type TokenReading, tokenFault } from "./token-reading.ts";

export interface CallerTokens {
  /** For one command of a run. The caller's `runId`, `skill` and `declared` are claims of it too. */
  mint(caller: CapabilityCaller, ttlMs: number): Promise<MintedToken>;
  /** Each nonce is accepted once with a token. `runId`: the run whose socket the request came through. */
  verify(
    token: string | undefined,
    nonce: string | undefined,
    expected?: { readonly runId?: string },
  ): Promise<TokenReading>;
  /** New tokens get a new key; the old one verifies until the last of its tokens has ended. */
  rotate(): void;
}

export interface MintedToken {
  readonly token: string;
  readonly jti: string;
  /** It is refused from now on, whatever its end. */
  revoke(): void;
}

export interface CallerTokensOptions {
  /** Milliseconds since 1970. */
  now?(): number;
}

const TYPE = "metier-caller+jwt";
const ISSUER = "metier";
const AUDIENCE = "metier-capabilities";
const KEY_BYTES = 32;
const KEY_LIFE_MS = 60 * 60 * 1000;
const LEEWAY_MS = LEEWAY_SECONDS * 1000;

const MAX_NONCE_LENGTH = 128;
/** With one token. A command that asks more often than this is not answered any more. */
const MAX_NONCES = 10_000;

interface SigningKey {
  readonly id: string;
  readonly secret: Uint8Array;
  readonly madeAt: number;
  /** Of the tokens it has made, the last one's; with the leeway. */
  endsAt: number;
}

interface LiveToken {
  readonly endsAt: number;
  readonly nonces: Set<string>;
}

export function createCallerTokens({ now = Date.now }: CallerTokensOptions = {}): CallerTokens {
  const keys = new Map<string, SigningKey>();
  const live = new Map<string, LiveToken>();
  let current: SigningKey | undefined;

  const rotate = (): SigningKey => {
    current = { id: randomUUID(), secret: randomBytes(KEY_BYTES), madeAt: now(), endsAt: 0 };
    keys.set(current.id, current);
    return current;
  };
  const forgetEnded = (): void => {
    for (const [jti, { endsAt }] of live) if (endsAt <= now()) live.delete(jti);
    for (const [id, key] of keys) if (key !== current && key.endsAt <= now()) keys.delete(id);
  };
  const currentKey = (): SigningKey =>
    current === undefined || now() - current.madeAt >= KEY_LIFE_MS ? rotate() : current;

  return {
    async mint(caller, ttlMs) {
      const key = currentKey();
      forgetEnded();
      const issuedAt = Math.floor(now() / 1000);
      const exp = Math.ceil((now() + ttlMs) / 1000);
      const jti = randomUUID();
      const { SignJWT } = await import("jose");
      const claims = { ...chatClaims(caller), ...runClaims(caller), iss: ISSUER, aud: AUDIENCE };
      const token = await new SignJWT({ ...claims, jti, iat: issuedAt, exp })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: key.id })
        .sign(key.secret);
      if (token.length > MAX_TOKEN_LENGTH) {
        throw new TypeError(
          `What is known of the caller makes a token of ${token.length} characters; at most ${MAX_TOKEN_LENGTH} fit into a variable.`,
        );
      }
      const endsAt = exp * 1000 + LEEWAY_MS;
      key.endsAt = Math.max(key.endsAt, endsAt);
      live.set(jti, { endsAt, nonces: new Set() });
      return { token, jti, revoke: () => void live.delete(jti) };
    },
    async verify(token, nonce, { runId } = {}) {
      forgetEnded();
      const read = await readToken(token, {
        typ: TYPE,
        isHeader: ({ kid }) => typeof kid === "string",
        findKey: ({ kid }) => keys.get(kid as string)?.secret,
        audience: AUDIENCE,
        issuer: ISSUER,
        now: now(),
      });
      if (!read.ok) return read;
      const known = live.get(read.claims.jti as string);
      if (known === undefined || read.caller.runId !== runId) return tokenFault("claims");
      if (nonce === undefined || nonce.trim() === "") return tokenFault("missing");
      if (nonce.length > MAX_NONCE_LENGTH) return tokenFault("format");
      if (known.nonces.has(nonce) || known.nonces.size >= MAX_NONCES) return tokenFault("replayed");
      known.nonces.add(nonce);
      return { ok: true, caller: read.caller };
    },
    rotate: () => void rotate(),
  };
}
