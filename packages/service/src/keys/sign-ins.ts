/**
 * People who signed in with a browser. A cookie with a random id stands for their key, so that no key is in the
 * browser; only the id's SHA-256 is stored, with the key's id or what the OIDC issuer said about them. Sign-ins survive
 * a restart, and end after a while without use.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { isSameSecret } from "@metier/base/digest";
import { presentFields } from "@metier/base/json";
import { choiceShape, countShape, fitShape, recordShape, textShape } from "@metier/base/shape";
import { forAllTenants, forTenant, type RecordStore, type StoredRecord } from "@metier/durable";
import { findRecords } from "./find-records.ts";
import type { Identity } from "./identity.ts";
import { KEY_ROLES, type KeyRole } from "./scopes.ts";

const KIND = "sign-in";
const COOKIE_TEXT = /^[A-Za-z0-9_-]{43}$/;
const IDLE_MS = 12 * 3_600_000;
/** Not every request is worth a write. */
const NOTE_EVERY_MS = 60_000;

/** Someone whom the issuer of an OIDC sign-in vouched for, until then. */
interface VouchedPerson {
  readonly userId: string;
  readonly role: KeyRole;
  /** Milliseconds since 1970. */
  readonly until: number;
}

interface SignInBody {
  readonly keyId: string;
  readonly usedAt: number;
  /** For a key that isn't stored: proves that it is still the same one. */
  readonly proof?: string | undefined;
  readonly vouched?: VouchedPerson | undefined;
}

const vouchedShape = recordShape<VouchedPerson>({
  userId: textShape,
  role: choiceShape(...KEY_ROLES),
  until: countShape,
});

const bodyShape = recordShape<SignInBody>(
  { keyId: textShape, usedAt: countShape, proof: textShape, vouched: vouchedShape },
  ["proof", "vouched"],
);

export interface SignIn {
  /** Public: it doesn't reveal the cookie. */
  readonly id: string;
  readonly tenant: string;
  readonly keyId: string;
  /** What a change needs besides the cookie. */
  readonly csrf: string;
  /** For someone without a key. */
  readonly vouched?: VouchedPerson | undefined;
  /** Whether this is the text of the key that was signed in with, if it isn't stored. */
  isSameKey(text: string): boolean;
}

/** What a sign-in stands for besides a stored key. */
export interface SignInGrounds {
  /** The text of a key that the key store does not have. */
  readonly unstored?: string | undefined;
  readonly vouched?: VouchedPerson | undefined;
}

export interface SignIns {
  /** The cookie is returned once. */
  begin(
    identity: Pick<Identity, "tenant" | "keyId">,
    now: number,
    grounds?: SignInGrounds,
  ): Promise<SignIn & { readonly cookie: string }>;
  /** `undefined`: there is none, it was ended, or it was idle for too long. Finding it counts as use. */
  find(cookie: string, now: number): Promise<SignIn | undefined>;
  isOpen(signIn: Pick<SignIn, "id" | "tenant">, now: number): Promise<boolean>;
  end(signIn: Pick<SignIn, "id" | "tenant">): Promise<void>;
  /** This user's sign-ins, with any of these keys. */
  forgetUser(tenant: string, userId: string, keyIds: readonly string[]): Promise<void>;
  /** Those that were idle for too long. */
  forgetIdle(now: number): Promise<void>;
}

export function openSignIns(records: RecordStore): SignIns {
  const read = (stored: StoredRecord | undefined, now: number): SignInBody | undefined => {
    const body = stored && fitShape(bodyShape, stored.body);
    if (body === undefined || now - body.usedAt >= IDLE_MS) return undefined;
    return body.vouched !== undefined && body.vouched.until <= now ? undefined : body;
  };
  return {
    async begin({ tenant, keyId }, now, { unstored, vouched } = {}) {
      const cookie = randomBytes(32).toString("base64url");
      const id = digestOf(cookie);
      const proof = unstored === undefined ? undefined : bind(cookie, unstored);
      const body: SignInBody = { keyId, usedAt: now, proof, vouched };
      const stored = presentFields({ ...body, vouched: vouched && { ...vouched } });
      await forTenant(tenant, () => records.put({ tenant, kind: KIND, id }, stored, 0));
      return { ...describe(cookie, tenant, body), cookie };
    },
    async find(cookie, now) {
      if (!COOKIE_TEXT.test(cookie)) return undefined;
      const stored = await forAllTenants(() => records.find(KIND, digestOf(cookie)));
      const body = read(stored, now);
      if (stored === undefined || body === undefined) return undefined;
      // If two requests come at once, one of them notes it: that is enough.
      if (now - body.usedAt >= NOTE_EVERY_MS) {
        const noted = { ...stored.body, usedAt: now };
        await forTenant(stored.tenant, () => records.put(stored, noted, stored.revision));
      }
      return describe(cookie, stored.tenant, body);
    },
    async isOpen({ id, tenant }, now) {
      const stored = await forTenant(tenant, () => records.get({ tenant, kind: KIND, id }));
      return read(stored, now) !== undefined;
    },
    async end({ id, tenant }) {
      await forTenant(tenant, () => records.delete({ tenant, kind: KIND, id }));
    },
    forgetUser: (tenant, userId, keyIds) =>
      forTenant(tenant, async () => {
        const isOwn = ({ body }: StoredRecord): boolean => {
          const { keyId, vouched } = fitShape(bodyShape, body) ?? {};
          return vouched?.userId === userId || (keyId !== undefined && keyIds.includes(keyId));
        };
        for (const stored of await findRecords(records, { tenant, kind: KIND }, isOwn))
          await records.delete(stored);
      }),
    forgetIdle: (now) =>
      forAllTenants(async () => {
        for (const stored of await records.listAll(KIND)) {
          if (read(stored, now) === undefined) await records.delete(stored);
        }
      }),
  };
}

function describe(cookie: string, tenant: string, { keyId, proof, vouched }: SignInBody): SignIn {
  return {
    vouched,
    id: digestOf(cookie),
    tenant,
    keyId,
    csrf: bind(cookie, "csrf"),
    isSameKey: (text) => proof !== undefined && isSameSecret(bind(cookie, text), proof),
  };
}

function digestOf(cookie: string): string {
  return createHash("sha256").update(cookie).digest("hex");
}

/** It can't be made without the cookie, and doesn't reveal it. */
function bind(cookie: string, text: string): string {
  return createHmac("sha256", cookie).update(text).digest("base64url");
}
