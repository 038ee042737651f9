/**
 * People who signed in with a browser. A cookie with a random id stands for their key, so that no key lies in a browser; of
 * the id only its SHA-256 is stored, with the id of the key. They outlive a restart, and end when nobody uses them for a while.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { isSameSecret } from "@metier/base/digest";
import { presentFields } from "@metier/base/json";
import { countShape, fitShape, recordShape, textShape } from "@metier/base/shape";
import type { RecordStore, StoredRecord } from "@metier/durable";
import type { Identity } from "./identity.ts";

const KIND = "sign-in";
const COOKIE_TEXT = /^[A-Za-z0-9_-]{43}$/;
const IDLE_MS = 12 * 3_600_000;
/** Not every request is worth a write. */
const NOTE_EVERY_MS = 60_000;

interface SignInBody {
  readonly keyId: string;
  readonly usedAt: number;
  /** Of a key that is not stored: what shows that it is still the same one. */
  readonly proof?: string | undefined;
}

const bodyShape = recordShape<SignInBody>({ keyId: textShape, usedAt: countShape, proof: textShape }, [
  "proof",
]);

export interface SignIn {
  /** Public: nobody gets from it to the cookie. */
  readonly id: string;
  readonly tenant: string;
  readonly keyId: string;
  /** What a change must bring, besides the cookie. */
  readonly csrf: string;
  /** Whether this is the text of the key that was signed in with, of one that is not stored. */
  isSameKey(text: string): boolean;
}

export interface SignIns {
  /** `unstored`: the text of a key that the key store does not have. The cookie is given once. */
  begin(identity: Identity, now: number, unstored?: string): Promise<SignIn & { readonly cookie: string }>;
  /** `undefined`: there is none, it was ended, or nobody has used it for too long. Finding it is using it. */
  find(cookie: string, now: number): Promise<SignIn | undefined>;
  isOpen(signIn: Pick<SignIn, "id" | "tenant">, now: number): Promise<boolean>;
  end(signIn: Pick<SignIn, "id" | "tenant">): Promise<void>;
  /** Those that nobody has used for too long. */
  forgetIdle(now: number): Promise<void>;
}

export function openSignIns(records: RecordStore): SignIns {
  const read = (stored: StoredRecord | undefined, now: number): SignInBody | undefined => {
    const body = stored && fitShape(bodyShape, stored.body);
    return body !== undefined && now - body.usedAt < IDLE_MS ? body : undefined;
  };
  return {
    async begin({ tenant, keyId }, now, unstored) {
      const cookie = randomBytes(32).toString("base64url");
      const id = digestOf(cookie);
      const proof = unstored === undefined ? undefined : bind(cookie, unstored);
      await records.put({ tenant, kind: KIND, id }, presentFields({ keyId, usedAt: now, proof }), 0);
      return { ...describe(cookie, tenant, { keyId, usedAt: now, proof }), cookie };
    },
    async find(cookie, now) {
      if (!COOKIE_TEXT.test(cookie)) return undefined;
      const stored = await records.find(KIND, digestOf(cookie));
      const body = read(stored, now);
      if (stored === undefined || body === undefined) return undefined;
      // Of two requests at once, one notes it: that is enough.
      if (now - body.usedAt >= NOTE_EVERY_MS)
        await records.put(stored, { ...stored.body, usedAt: now }, stored.revision);
      return describe(cookie, stored.tenant, body);
    },
    async isOpen({ id, tenant }, now) {
      return read(await records.get({ tenant, kind: KIND, id }), now) !== undefined;
    },
    async end({ id, tenant }) {
      await records.delete({ tenant, kind: KIND, id });
    },
    async forgetIdle(now) {
      for (const stored of await records.listAll(KIND)) {
        if (read(stored, now) === undefined) await records.delete(stored);
      }
    },
  };
}

function describe(cookie: string, tenant: string, { keyId, proof }: SignInBody): SignIn {
  return {
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

/** Nobody makes it without the cookie, nor gets the cookie from it. */
function bind(cookie: string, text: string): string {
  return createHmac("sha256", cookie).update(text).digest("base64url");
}
