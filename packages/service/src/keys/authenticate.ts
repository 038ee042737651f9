/**
 * Identifies the sender of a request from its headers, or answers 401, 403 or 429. `METIER_ADMIN_KEY` is the first
 * admin key, and works only while the tenant `default` has no other admin key: once there is one, the environment
 * needn't be trusted.
 */
import { isSameSecret } from "@metier/base/digest";
import { UsageError } from "@metier/base/errors";
import { done, type Refused, type Result } from "@metier/base/result";
import type { RequestClient } from "../http/browser-guard.ts";
import { type HttpRefusal, refuse } from "../http/refusal.ts";
import type { TenantStore } from "../tenants/tenant-store.ts";
import { identifyByCookie } from "./cookie-gate.ts";
import { DEFAULT_TENANT, type Identity } from "./identity.ts";
import type { KeyCheck, KeyStore } from "./key-store.ts";
import type { OidcPerson } from "./oidc-person.ts";
import { LONGEST_TOKEN, looksLikeToken } from "./oidc-tokens.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { KEY_SCOPES, ROLE_SCOPES } from "./scopes.ts";
import { createSignInLimit } from "./sign-in-limit.ts";
import type { SignIn, SignInGrounds, SignIns } from "./sign-ins.ts";

const SHORTEST_ADMIN_KEY = 24;
const LONGEST_CREDENTIAL = 512;
const HOW = "Send `Authorization: Bearer <key>` or `x-api-key: <key>`.";
const CHALLENGE = { "WWW-Authenticate": 'Bearer realm="metier"' };
/** For the audit log, whoever has it and whatever its text. */
const ADMIN_KEY_ID = "environment";
/** For someone with a token, until their identity here is known. */
const OIDC_KEY_ID = "oidc";
/** How long a sign-in through the issuer is valid: what it says about someone may change. */
const VOUCHED_MS = 12 * 3_600_000;

type Identified = Result<Identity, HttpRefusal>;

/** Someone with a token, until it expires. */
interface TokenHolder extends OidcPerson {
  readonly expiresAt: number;
}

export interface Authenticator {
  /** Whose request it is: by its key or token, or else by its cookie. */
  identify(request: Pick<Request, "method" | "headers">, client: RequestClient): Promise<Identified>;
  /** Turns a key into a cookie, which is returned once. Wrong keys are counted as everywhere. */
  signIn(key: string, client: RequestClient): Promise<Result<NewSignIn, HttpRefusal>>;
  /** The same for someone whom an issuer vouches for, once `vouch` has asked it. */
  signInBy(
    vouch: () => Promise<Result<OidcPerson, HttpRefusal>>,
    client: RequestClient,
  ): Promise<Result<NewSignIn, HttpRefusal>>;
}

interface NewSignIn {
  readonly identity: Identity;
  readonly cookie: string;
}

interface AuthenticatorParts {
  readonly keys: KeyStore;
  readonly signIns: SignIns;
  readonly tenants: Pick<TenantStore, "isActive">;
  readonly people: Pick<Pseudonyms, "meet">;
  /** Absent: tokens aren't accepted. */
  readonly checkToken?: ((token: string) => Promise<Result<TokenHolder, HttpRefusal>>) | undefined;
  /** `METIER_ADMIN_KEY`. */
  readonly adminKey?: string | undefined;
  readonly mostFailures: number;
  /** Whether only this machine can reach the service. */
  readonly isOnLoopback: boolean;
  now(): number;
  onFailure(): void;
}

/** Throws `UsageError` for an admin key that is too short, or that HTTP headers don't allow. */
export function checkAdminKey(adminKey: string): void {
  if (adminKey.length < SHORTEST_ADMIN_KEY) {
    throw new UsageError(
      `METIER_ADMIN_KEY has ${adminKey.length} characters; it needs at least ${SHORTEST_ADMIN_KEY}.`,
      {
        hint: "Generate one with `openssl rand -base64 32`, or unset it to have an admin key created on first start.",
      },
    );
  }
  if (adminKey.length > LONGEST_CREDENTIAL || !/^[!-~]+$/.test(adminKey)) {
    throw new UsageError("METIER_ADMIN_KEY is too long, or has a character that HTTP headers do not allow.", {
      hint: `Use at most ${LONGEST_CREDENTIAL} visible ASCII characters without spaces.`,
    });
  }
}

export function createAuthenticator(parts: AuthenticatorParts): Authenticator {
  const { signIns, now } = parts;
  const limited = openLimit(parts);
  const { checkCredential, recognize } = openChecks(parts);
  const check = (credential: Credential, client: RequestClient): Promise<Identified> =>
    limited(client, credential.text, () => checkCredential(credential));
  const begin = async (identity: Identity, grounds: SignInGrounds): Promise<NewSignIn> => {
    const { cookie, id, csrf } = await signIns.begin(identity, now(), grounds);
    return { identity: { ...identity, signIn: { id, csrf } }, cookie };
  };
  return {
    async identify(request, client) {
      const credential = readCredential(request.headers);
      if (credential === "unclear")
        return refuse(401, "key_unclear", "This request has two API keys.", HOW, CHALLENGE);
      if (credential !== undefined) return check(credential, client);
      const person = await identifyByCookie({ ...parts, recognize }, request, client);
      if (person === undefined)
        return refuse(401, "key_missing", "This request has no API key.", HOW, CHALLENGE);
      return person.ok ? admit(parts, person.value) : person;
    },
    async signIn(key, client) {
      const identity = await check({ text: key, isBearer: false }, client);
      if (!identity.ok) return identity;
      const unstored = identity.value.keyId === ADMIN_KEY_ID ? key : undefined;
      return done(await begin(identity.value, { unstored }));
    },
    async signInBy(vouch, client) {
      const until = now() + VOUCHED_MS;
      let person: OidcPerson | undefined;
      const identity = await limited(client, "", async () => {
        const vouched = await vouch();
        if (!vouched.ok) return vouched;
        person = vouched.value;
        return admit(parts, toIdentity(person, until));
      });
      if (!identity.ok || person === undefined) return identity as Refused<HttpRefusal>;
      const { userId, role } = person;
      return done(await begin(identity.value, { vouched: { userId, role, until } }));
    },
  };
}

type Limited = (
  client: RequestClient,
  credential: string,
  check: () => Promise<Identified>,
) => Promise<Identified>;

/** Counts wrong credentials, and remembers right ones. */
function openLimit({ mostFailures, now, onFailure }: AuthenticatorParts): Limited {
  const limit = createSignInLimit(mostFailures);
  return async ({ address }, credential, check) => {
    const seconds = limit.waitFor(address, credential, now());
    if (seconds > 0) return refuseForNow(seconds);
    const found = await check();
    if (found.ok) limit.succeed(address, credential, now());
    else {
      onFailure();
      if (GUESSES.has(found.refusal.code)) limit.fail(address, now());
    }
    return found;
  };
}

interface CredentialChecks {
  checkCredential(credential: Credential): Promise<Identified>;
  /** Who a sign-in stands for. */
  recognize(signIn: SignIn): Promise<KeyCheck>;
}

function openChecks(parts: AuthenticatorParts): CredentialChecks {
  const { keys, adminKey, checkToken, now } = parts;
  const checkAdmin = async (): Promise<KeyCheck> => {
    const isSuperseded = (await keys.admins(now())).length > 0;
    const identity = { keyId: ADMIN_KEY_ID, tenant: DEFAULT_TENANT, scopes: new Set(KEY_SCOPES) };
    return isSuperseded ? { kind: "revoked" } : { kind: "known", identity };
  };
  return {
    async checkCredential({ text, isBearer }) {
      const isAdmin = adminKey !== undefined && isSameSecret(text, adminKey);
      if (checkToken !== undefined && isBearer && !isAdmin && looksLikeToken(text)) {
        const holder = await checkToken(text);
        return holder.ok ? admit(parts, toIdentity(holder.value, holder.value.expiresAt)) : holder;
      }
      const found = isAdmin ? await checkAdmin() : await keys.check(text, now());
      if (found.kind === "known") return admit(parts, found.identity);
      return refuse(401, `key_${found.kind}`, MESSAGES[found.kind], HINTS[found.kind], CHALLENGE);
    },
    async recognize(signIn) {
      const { tenant, keyId, vouched } = signIn;
      if (vouched) return { kind: "known", identity: toIdentity({ tenant, ...vouched }, vouched.until) };
      if (keyId !== ADMIN_KEY_ID) return keys.recognize(tenant, keyId, now());
      return adminKey !== undefined && signIn.isSameKey(adminKey) ? checkAdmin() : { kind: "unknown" };
    },
  };
}

function toIdentity(
  { tenant, userId, role }: Pick<OidcPerson, "tenant" | "userId" | "role">,
  expiresAt: number,
): Identity {
  return { keyId: OIDC_KEY_ID, tenant, userId, scopes: new Set(ROLE_SCOPES[role]), expiresAt };
}

/** The last check, whatever was shown: does the tenant exist, and is the person not being deleted? */
async function admit({ tenants, people }: AuthenticatorParts, identity: Identity): Promise<Identified> {
  const { tenant, userId, keyId } = identity;
  const [isActive, person] = await Promise.all([
    tenants.isActive(tenant),
    userId === undefined ? undefined : people.meet(tenant, userId),
  ]);
  if (!isActive || person?.isLeaving) {
    const message = isActive ? "This user is being deleted." : "This key's tenant was deleted.";
    return refuse(401, "key_revoked", message, HINTS.revoked, CHALLENGE);
  }
  if (person === undefined) return done(identity);
  const { pseudonym } = person;
  return done(
    keyId === OIDC_KEY_ID
      ? { ...identity, keyId: `${OIDC_KEY_ID}:${pseudonym}`, actor: pseudonym }
      : { ...identity, actor: `${pseudonym} (${keyId})` },
  );
}

/** Whether a key id belongs to a token: it is valid only while the person is known. */
export function isOidcKeyId(keyId: string): boolean {
  return keyId.startsWith(`${OIDC_KEY_ID}:`);
}

/** Errors that someone who guesses would cause. */
const GUESSES: ReadonlySet<string> = new Set([
  "key_unknown",
  "token_invalid",
  "sign_in_unbound",
  "sign_in_failed",
]);

const MESSAGES = {
  unknown: "Unknown API key.",
  revoked: "This API key is no longer valid: it was revoked, or METIER_ADMIN_KEY was replaced.",
  expired: "This API key has expired.",
} as const;

const HINTS = {
  unknown: `Check that you copied the whole key. ${HOW}`,
  revoked: "Ask an admin for a new key (`POST /v1/keys`).",
  expired: "Ask an admin for a new key (`POST /v1/keys`).",
} as const;

function refuseForNow(seconds: number): Refused<HttpRefusal> {
  const message = "Too many wrong API keys came from this address.";
  return refuse(429, "too_many_failures", message, `Wait ${seconds} s, then send the right key.`, {
    "Retry-After": String(seconds),
  });
}

interface Credential {
  readonly text: string;
  /** Tokens only come this way. */
  readonly isBearer: boolean;
}

/** Two different credentials count as none: nobody can tell which one was meant. */
function readCredential(headers: Headers): Credential | "unclear" | undefined {
  const [, bearer] = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "") ?? [];
  const plain = headers.get("x-api-key")?.trim() || undefined;
  if (bearer !== undefined && plain !== undefined && bearer !== plain) return "unclear";
  if (bearer !== undefined) return { text: bearer.slice(0, LONGEST_TOKEN + 1), isBearer: true };
  return plain === undefined ? undefined : { text: plain.slice(0, LONGEST_CREDENTIAL + 1), isBearer: false };
}
