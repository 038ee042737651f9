/**
 * Tokens that say who a run's command asks for. Keys exist only in this process's memory and rotate; what is remembered
 * about a token, including its nonces, is forgotten when it expires.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { done, type Result } from "@metier/base/result";
import type { CapabilityCaller } from "../capability.ts";
import { rememberChecked } from "./checked-tokens.ts";
import {
  CHAT_CLAIM_NAMES,
  chatClaims,
  LEEWAY_SECONDS,
  MAX_TOKEN_LENGTH,
  readToken,
  refuseToken,
  runClaims,
  type TokenRefusal,
} from "./read-token.ts";
import { createSigner } from "./sign-token.ts";

export interface CallerTokens {
  /** For one command of a run. Also claims the caller's `runId`, `skill` and `declared`. */
  mint(caller: CapabilityCaller, ttlMs: number): Promise<MintedToken>;
  /** Accepts each nonce once per token. `runId`: the run whose socket the request came through. */
  verify(
    token: string | undefined,
    nonce: string | undefined,
    expected?: { readonly runId?: string | undefined },
  ): Promise<Result<CapabilityCaller, TokenRefusal>>;
  /** New tokens get a new key; the old one verifies until its last token expires. */
  rotate(): void;
}

interface MintedToken {
  readonly token: string;
  readonly jti: string;
  /** Refused from now on, even before it expires. */
  revoke(): void;
}

const TYPE = "metier-caller+jwt";
const ISSUER = "metier";
const AUDIENCE = "metier-capabilities";
const KEY_BYTES = 32;
const KEY_LIFE_MS = 60 * 60 * 1000;
const LEEWAY_MS = LEEWAY_SECONDS * 1000;

const MAX_NONCE_LENGTH = 128;
/** Requests per token. A command that asks more often gets no more answers. */
const MAX_NONCES = 10_000;

interface SigningKey {
  readonly id: string;
  readonly secret: Uint8Array;
  readonly sign: ReturnType<typeof createSigner>;
  readonly madeAt: number;
  /** When the last token it signed expires, with leeway. */
  endsAt: number;
}

export function createCallerTokens({ now = Date.now }: { now?(): number } = {}): CallerTokens {
  const keys = createKeys(now);
  const live = new Map<string, { readonly endsAt: number; readonly nonces: Set<string> }>();
  const forgetEnded = (): void => {
    for (const [jti, { endsAt }] of live) if (endsAt <= now()) live.delete(jti);
    keys.forgetEnded();
  };
  const checked = rememberChecked();
  const checkToken = async (token: string | undefined): ReturnType<typeof readToken> => {
    forgetEnded();
    const read = await readToken(token, {
      typ: TYPE,
      isHeader: ({ kid }) => typeof kid === "string",
      findKey: ({ kid }) => keys.find(kid as string)?.secret,
      audience: AUDIENCE,
      issuer: ISSUER,
      now: now(),
    });
    if (token !== undefined && read.ok) checked.keep(token, read.value, now());
    return read;
  };

  return {
    async mint(caller, ttlMs) {
      const key = keys.current();
      forgetEnded();
      const issuedAt = Math.floor(now() / 1000);
      const exp = Math.ceil((now() + ttlMs) / 1000);
      const jti = randomUUID();
      const claims = { ...chatClaims(caller), ...runClaims(caller), iss: ISSUER, aud: AUDIENCE };
      const token = key.sign({ ...claims, jti, iat: issuedAt, exp });
      if (token.length > MAX_TOKEN_LENGTH) {
        throw new TypeError(
          `The caller's data makes a token of ${token.length} characters; the limit for a variable is ${MAX_TOKEN_LENGTH}.`,
        );
      }
      const endsAt = exp * 1000 + LEEWAY_MS;
      key.endsAt = Math.max(key.endsAt, endsAt);
      live.set(jti, { endsAt, nonces: new Set() });
      return { token, jti, revoke: () => void live.delete(jti) };
    },
    async verify(token, nonce, { runId } = {}) {
      const recalled = checked.recall(token, now());
      const read = recalled ? done(recalled) : await checkToken(token);
      if (!read.ok) return read;
      const { caller, claims } = read.value;
      const known = live.get(claims.jti as string);
      if (known === undefined || caller.runId !== runId) return refuseToken("claims");
      if (nonce === undefined || nonce.trim() === "") return refuseToken("missing");
      if (nonce.length > MAX_NONCE_LENGTH) return refuseToken("format");
      if (known.nonces.has(nonce) || known.nonces.size >= MAX_NONCES) return refuseToken("replayed");
      known.nonces.add(nonce);
      return done(caller);
    },
    rotate: () => void keys.rotate(),
  };
}

function createKeys(now: () => number) {
  const keys = new Map<string, SigningKey>();
  let current: SigningKey | undefined;
  const rotate = (): SigningKey => {
    const [id, secret] = [randomUUID(), randomBytes(KEY_BYTES)];
    current = { id, secret, sign: createSigner({ typ: TYPE, kid: id }, secret), madeAt: now(), endsAt: 0 };
    keys.set(current.id, current);
    return current;
  };
  return {
    /** Rotates from time to time. */
    current: () => (current === undefined || now() - current.madeAt >= KEY_LIFE_MS ? rotate() : current),
    find: (id: string) => keys.get(id),
    rotate,
    forgetEnded(): void {
      for (const [id, key] of keys) if (key !== current && key.endsAt <= now()) keys.delete(id);
    },
  };
}

// Tokens that tell a provider in another process who it works for. Each provider has its own key, so that none can
// forge tokens for another or for the broker. `verifyBridgeToken` is the other side, for bridges in TypeScript.

/** For one provider. */
export interface BridgeTokens {
  /** For one call. `ttlMs` defaults to the longest a call may take. */
  mint(caller: CapabilityCaller, ttlMs?: number): Promise<string>;
  /** The key in base64url, for the bridge's `ASH_CONTEXT_TOKEN_SECRET` and `METIER_CONTEXT_TOKEN_SECRET`. */
  exportSecret(): string;
}

const BRIDGE_TYPE = "ASH_CONTEXT";
const VERSION = 1;
const TTL_MS = 300_000;
const BRIDGE_CLAIMS = [...CHAT_CLAIM_NAMES, "ver", "aud", "jti", "iat", "exp"].sort();

/** `namespace`: the audience of its tokens. */
export function createBridgeTokens(namespace: string): BridgeTokens {
  const secret = randomBytes(KEY_BYTES);
  const sign = createSigner({ typ: BRIDGE_TYPE, ver: VERSION }, secret);
  return {
    async mint(caller, ttlMs = TTL_MS) {
      const now = Date.now();
      const claims: Readonly<Record<string, string | number>> = {
        ...chatClaims(caller),
        ver: VERSION,
        aud: namespace,
        jti: randomUUID().replaceAll("-", ""),
        iat: Math.floor(now / 1000),
        exp: Math.ceil((now + ttlMs) / 1000),
      };
      // The canonical form that other readers of these tokens expect.
      const sorted: Record<string, string | number | undefined> = {};
      for (const name of BRIDGE_CLAIMS) sorted[name] = claims[name];
      return sign(sorted);
    },
    exportSecret: () => secret.toString("base64url"),
  };
}

/** `secret`: from the bridge's environment. Without an audience, the token may be for any provider. */
export async function verifyBridgeToken(
  token: string | undefined,
  secret: string,
  expected: { readonly audience?: string | undefined; now?(): number } = {},
): Promise<Result<CapabilityCaller, TokenRefusal>> {
  const { audience, now = Date.now } = expected;
  const read = await readToken(token, {
    typ: BRIDGE_TYPE,
    isHeader: ({ ver }) => ver === VERSION,
    findKey: () => (secret === "" ? undefined : readSecret(secret)),
    audience,
    now: now(),
  });
  return read.ok ? done(read.value.caller) : read;
}

/** Hex if possible, then base64url, then the text itself: other issuers use any of these. */
function readSecret(secret: string): Uint8Array {
  if (secret.length % 2 === 0 && /^[0-9a-f]+$/i.test(secret)) return Buffer.from(secret, "hex");
  return /^[A-Za-z0-9_-]+={0,2}$/.test(secret) ? Buffer.from(secret, "base64url") : Buffer.from(secret);
}
