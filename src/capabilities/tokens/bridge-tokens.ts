/**
 * Tokens that tell a provider in another process for whom it works. Each provider has a key of its own, so that none can
 * make tokens for another, or for the broker. `verifyBridgeToken` is the other side, for bridges written in TypeScript.
 */
import { randomBytes, randomUUID } from "node:crypto";
import type { CapabilityCaller } from "../capability.ts";
import { chatClaims } from "./claims.ts";
import { ALGORITHM, readToken } from "./read-token.ts";
import type { TokenReading } from "./token-reading.ts";

/** Of one provider. */
export interface BridgeTokens {
  /** For one call. `ttlMs` defaults to the longest that a call may take. */
  mint(caller: CapabilityCaller, ttlMs?: number): Promise<string>;
  /** The key in base64url, for `ASH_CONTEXT_TOKEN_SECRET` and `METIER_CONTEXT_TOKEN_SECRET` of the bridge. */
  exportSecret(): string;
}

const TYPE = "ASH_CONTEXT";
const VERSION = 1;
const KEY_BYTES = 32;
const TTL_MS = 300_000;

/** `namespace`: the audience of its tokens. */
export function createBridgeTokens(namespace: string): BridgeTokens {
  const secret = randomBytes(KEY_BYTES);
  return {
    async mint(caller, ttlMs = TTL_MS) {
      const { SignJWT } = await import("jose");
      const now = Date.now();
      const claims = {
        ...chatClaims(caller),
        ver: VERSION,
        aud: namespace,
        jti: randomUUID().replaceAll("-", ""),
        iat: Math.floor(now / 1000),
        exp: Math.ceil((now + ttlMs) / 1000),
      };
      return new SignJWT(sortKeys(claims))
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, ver: VERSION })
        .sign(secret);
    },
    exportSecret: () => secret.toString("base64url"),
  };
}

/** `secret`: as the bridge finds it in its environment. Without an audience the token may be for any provider. */
export async function verifyBridgeToken(
  token: string | undefined,
  secret: string,
  expected: { readonly audience?: string; now?(): number } = {},
): Promise<TokenReading> {
  const { audience, now = Date.now } = expected;
  const read = await readToken(token, {
    typ: TYPE,
    isHeader: ({ ver }) => ver === VERSION,
    findKey: () => (secret === "" ? undefined : readSecret(secret)),
    ...(audience !== undefined && { audience }),
    now: now(),
  });
  return read.ok ? { ok: true, caller: read.caller } : read;
}

/** Hex where it can be that, then base64url, then the text itself: other issuers write it in any of these ways. */
function readSecret(secret: string): Uint8Array {
  if (secret.length % 2 === 0 && /^[0-9a-f]+$/i.test(secret)) return Buffer.from(secret, "hex");
  return /^[A-Za-z0-9_-]+={0,2}$/.test(secret) ? Buffer.from(secret, "base64url") : Buffer.from(secret);
}

/** The canonical form that other readers of these tokens are used to. */
function sortKeys<Value>(claims: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(claims).sort(([a], [b]) => (a < b ? -1 : 1)));
}
