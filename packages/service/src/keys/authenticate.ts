/**
 * From a request's headers to who it is from, or to a 401 or 429. `METIER_ADMIN_KEY` is the first admin key, and acts only
 * while no other admin key does: whoever has made one of their own need not trust the environment any longer.
 */
import { isSameSecret } from "@metier/base/digest";
import { UsageError } from "@metier/base/errors";
import { done, type Refused, type Result } from "@metier/base/result";
import type { RequestClient } from "../http/browser-guard.ts";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import { identifyByCookie } from "./cookie-gate.ts";
import { DEFAULT_TENANT, type Identity } from "./identity.ts";
import type { KeyCheck, KeyStore } from "./key-store.ts";
import { KEY_SCOPES } from "./scopes.ts";
import { createSignInLimit } from "./sign-in-limit.ts";
import type { SignIn, SignIns } from "./sign-ins.ts";

const SHORTEST_ADMIN_KEY = 24;
const LONGEST_CREDENTIAL = 512;
const HOW = "Send `Authorization: Bearer <key>` or `x-api-key: <key>`.";
const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="metier"' };
/** Whoever has it, whatever its text: for the audit log. */
const ADMIN_KEY_ID = "environment";

type Identified = Result<Identity, HttpRefusal>;

export interface Authenticator {
  /** Whose request it is: by its key, or else by its cookie. */
  identify(request: Pick<Request, "method" | "headers">, client: RequestClient): Promise<Identified>;
  /** A key becomes a cookie, which is given once. Wrong ones are counted as everywhere. */
  signIn(key: string, client: RequestClient): Promise<Result<NewSignIn, HttpRefusal>>;
}

interface NewSignIn {
  readonly identity: Identity;
  readonly cookie: string;
}

interface AuthenticatorParts {
  readonly keys: KeyStore;
  readonly signIns: SignIns;
  /** `METIER_ADMIN_KEY`. */
  readonly adminKey?: string | undefined;
  readonly mostFailures: number;
  /** Whether only this machine reaches the service. */
  readonly isOnLoopback: boolean;
  now(): number;
  onFailure(): void;
}

/** Throws `UsageError` for an admin key that is too short, or that no header can carry. */
export function checkAdminKey(adminKey: string): void {
  if (adminKey.length < SHORTEST_ADMIN_KEY) {
    throw new UsageError(
      `METIER_ADMIN_KEY has ${adminKey.length} characters; it needs ${SHORTEST_ADMIN_KEY} or more.`,
      {
        hint: "Make one with `openssl rand -base64 32`, or unset it: an admin key is then made on first start.",
      },
    );
  }
  if (adminKey.length > LONGEST_CREDENTIAL || !/^[!-~]+$/.test(adminKey)) {
    throw new UsageError("METIER_ADMIN_KEY has a character that no header can carry, or is too long.", {
      hint: `Use at most ${LONGEST_CREDENTIAL} visible ASCII characters without spaces.`,
    });
  }
}

export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { keys, signIns, adminKey, now } = parts;
  const limit = createSignInLimit(parts.mostFailures);
  const checkAdmin = async (): Promise<KeyCheck> => {
    const isSuperseded = (await keys.admins(now())).length > 0;
    const identity = { keyId: ADMIN_KEY_ID, tenant: DEFAULT_TENANT, scopes: new Set(KEY_SCOPES) };
    return isSuperseded ? { kind: "revoked" } : { kind: "known", identity };
  };
  const check = async (key: string, { address }: RequestClient): Promise<Identified> => {
    const seconds = limit.waitFor(address, key, now());
    if (seconds > 0) return refuseForNow(seconds);
    const isAdmin = adminKey !== undefined && isSameSecret(key, adminKey);
    const found = isAdmin ? await checkAdmin() : await keys.check(key, now());
    if (found.kind === "known") {
      limit.succeed(address, key, now());
      return done(found.identity);
    }
    parts.onFailure();
    if (found.kind === "unknown") limit.fail(address, now());
    return refuse(401, `key_${found.kind}`, MESSAGES[found.kind], HINTS[found.kind], CHALLENGE);
  };
  const recognize = async (signIn: SignIn): Promise<KeyCheck> => {
    if (signIn.keyId !== ADMIN_KEY_ID) return keys.recognize(signIn.tenant, signIn.keyId, now());
    return adminKey !== undefined && signIn.isSameKey(adminKey) ? checkAdmin() : { kind: "unknown" };
  };
  return {
    async identify(request, client) {
      const key = readCredential(request.headers);
      if (key === "unclear")
        return refuse(401, "key_unclear", "This request has two API keys.", HOW, CHALLENGE);
      if (key !== undefined) return check(key.text, client);
      const person = await identifyByCookie({ ...parts, recognize }, request, client);
      return person ?? refuse(401, "key_missing", "This request has no API key.", HOW, CHALLENGE);
    },
    async signIn(key, client) {
      const identity = await check(key, client);
      if (!identity.ok) return identity;
      const unstored = identity.value.keyId === ADMIN_KEY_ID ? key : undefined;
      const { cookie, id, csrf } = await signIns.begin(identity.value, now(), unstored);
      return done({ identity: { ...identity.value, signIn: { id, csrf } }, cookie });
    },
  };
}

const MESSAGES = {
  unknown: "This API key is not known.",
  revoked: "This API key no longer acts: it was revoked, or another admin key has replaced METIER_ADMIN_KEY.",
  expired: "This API key has expired.",
} as const;

const HINTS = {
  unknown: `Check that the whole key was copied. ${HOW}`,
  revoked: "Ask an admin for a new key (`POST /v1/keys`).",
  expired: "Ask an admin for a new key (`POST /v1/keys`).",
} as const;

function refuseForNow(seconds: number): Refused<HttpRefusal> {
  const message = "Too many wrong API keys came from this address.";
  return refuse(429, "too_many_failures", message, `Wait ${seconds} s, then send the right key.`, {
    "Retry-After": String(seconds),
  });
}

/** Two that differ are none: nobody can tell which one was meant. */
function readCredential(headers: Headers): { readonly text: string } | "unclear" | undefined {
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
  const plain = headers.get("x-api-key")?.trim() || undefined;
  if (bearer !== undefined && plain !== undefined && bearer !== plain) return "unclear";
  const text = bearer ?? plain;
  return text === undefined ? undefined : { text: text.slice(0, LONGEST_CREDENTIAL + 1) };
}
