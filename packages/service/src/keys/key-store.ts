/**
 * API keys: `metier_<id>_<secret>`. The id is public and finds the record; only the secret's SHA-256 is stored, and it
 * is compared in constant time. Revoked keys stay, so that names in the audit log keep their meaning.
 */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { presentFields } from "@metier/base/json";
import { choiceShape, countShape, fitShape, listShape, recordShape, textShape } from "@metier/base/shape";
import { forAllTenants, forTenant, type RecordStore, type StoredRecord } from "@metier/durable";
import { tellOf } from "./audit-line.ts";
import { findRecords } from "./find-records.ts";
import { DEFAULT_TENANT, type Identity } from "./identity.ts";
import { openPseudonyms } from "./pseudonyms.ts";
import { KEY_ROLES, KEY_SCOPES, type KeyRole, type KeyScope } from "./scopes.ts";

const KIND = "key";
const KEY_ID = /^[a-f0-9]{12}$/;
const KEY_TEXT = /^metier_([a-z0-9]{12})_([A-Za-z0-9_-]{43})$/;

export interface StoredKey {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  /** That it was made with; `scopes` says what it may do. */
  readonly role?: KeyRole | undefined;
  readonly scopes: readonly KeyScope[];
  readonly userId?: string | undefined;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

interface KeyBody {
  readonly digest: string;
  readonly name: string;
  /** That it was made with; `scopes` says what it may do. */
  readonly role?: KeyRole | undefined;
  readonly scopes: readonly KeyScope[];
  readonly userId?: string | undefined;
  readonly expiresAt?: number | undefined;
  readonly revokedAt?: number | undefined;
}

const keyBodyShape = recordShape<KeyBody>(
  {
    digest: textShape,
    name: textShape,
    role: choiceShape(...KEY_ROLES),
    scopes: listShape(choiceShape(...KEY_SCOPES)),
    userId: textShape,
    expiresAt: countShape,
    revokedAt: countShape,
  },
  ["role", "userId", "expiresAt", "revokedAt"],
);

type NewKey = Pick<StoredKey, "tenant" | "name" | "role" | "scopes" | "userId" | "expiresAt">;

/** `revoked` and `expired` mean that the secret was right: they aren't guesses. */
export type KeyCheck =
  | { readonly kind: "known"; readonly identity: Identity }
  | { readonly kind: "revoked" | "expired" | "unknown" };

/** Each queries the store for the key's tenant, whoever asks: that was decided before. */
export interface KeyStore {
  /** The text is returned once and can't be read again. `by`: who asks, for the audit log. */
  create(key: NewKey, by: string): Promise<{ readonly key: StoredKey; readonly text: string }>;
  check(text: string, now: number): Promise<KeyCheck>;
  /** The same for a key whose text was checked before. */
  recognize(tenant: string, id: string, now: number): Promise<KeyCheck>;
  /**
   * For long-running work after a key was checked. Nothing is known about a key that isn't stored, such as
   * METIER_ADMIN_KEY.
   */
  stillActs(identity: Omit<Identity, "scopes">, now: number): Promise<boolean>;
  /** In creation order, after the key `after`. */
  list(
    tenant: string,
    page: { readonly after: string | undefined; readonly limit: number },
  ): Promise<readonly StoredKey[]>;
  /** For any tenant. */
  find(id: string): Promise<StoredKey | undefined>;
  /** `undefined`: there is none. Revoking twice keeps the first time. */
  revoke(tenant: string, id: string, now: number, by: string): Promise<StoredKey | undefined>;
  /** The platform's admins: valid keys of the tenant `default` that may do everything. */
  admins(now: number): Promise<readonly StoredKey[]>;
  /** The ids of all keys of this user, including invalid ones. */
  ofUser(tenant: string, userId: string): Promise<readonly string[]>;
  /** Nothing is left of it. */
  forget(tenant: string, id: string): Promise<void>;
}

export function openKeyStore(records: RecordStore): KeyStore {
  const list: KeyStore["list"] = (tenant, page) =>
    forTenant(tenant, async () => (await records.list({ tenant, kind: KIND, ...page })).flatMap(readKey));
  const listWhole = (tenant: string): Promise<readonly StoredKey[]> =>
    forTenant(tenant, async () => (await findRecords(records, { tenant, kind: KIND })).flatMap(readKey));
  const get = (tenant: string, id: string): Promise<StoredRecord | undefined> =>
    forTenant(tenant, () => records.get({ tenant, kind: KIND, id }));
  return {
    list,
    create: (key, by) => forTenant(key.tenant, () => createKey(records, key, by)),
    async check(text, now) {
      const [, id = "", secret = ""] = KEY_TEXT.exec(text) ?? [];
      const stored = id === "" ? undefined : await forAllTenants(() => records.find(KIND, id));
      const body = stored && fitShape(keyBodyShape, stored.body);
      // An unknown id takes as long as a wrong secret.
      const isRight = isSameDigest(
        digestOf(secret),
        body?.digest ?? digestOf(randomBytes(8).toString("hex")),
      );
      if (stored === undefined || body === undefined || !isRight) return { kind: "unknown" };
      return judge(stored, body, now);
    },
    async recognize(tenant, id, now) {
      const stored = await get(tenant, id);
      const body = stored && fitShape(keyBodyShape, stored.body);
      return stored && body ? judge(stored, body, now) : { kind: "unknown" };
    },
    async stillActs({ tenant, keyId: id }, now) {
      const stored = await get(tenant, id);
      // Its record is deleted with its user.
      if (stored === undefined) return !KEY_ID.test(id);
      return readKey(stored).some((key) => isActing(key, now));
    },
    async find(id) {
      const stored = KEY_ID.test(id) ? await forAllTenants(() => records.find(KIND, id)) : undefined;
      return stored && readKey(stored)[0];
    },
    revoke: (tenant, id, now, by) => forTenant(tenant, () => revokeKey(records, { tenant, id }, now, by)),
    async admins(now) {
      const all = await listWhole(DEFAULT_TENANT);
      return all.filter((key) => key.scopes.includes("admin") && isActing(key, now));
    },
    async ofUser(tenant, userId) {
      return (await listWhole(tenant)).filter((key) => key.userId === userId).map(({ id }) => id);
    },
    async forget(tenant, id) {
      await forTenant(tenant, () => records.delete({ tenant, kind: KIND, id }));
    },
  };
}

async function createKey(
  records: RecordStore,
  { tenant, ...rest }: NewKey,
  by: string,
): Promise<{ readonly key: StoredKey; readonly text: string }> {
  const id = randomBytes(16).toString("hex").slice(0, 12);
  const secret = randomBytes(32).toString("base64url");
  const body = presentFields({ digest: digestOf(secret), ...rest });
  const { name, userId } = rest;
  const scopes = [...rest.scopes];
  // A person's key often has their name.
  const detail =
    userId === undefined
      ? { name, scopes }
      : { user: (await openPseudonyms(records).meet(tenant, userId)).pseudonym, scopes };
  const line = tellOf({ tenant, keyId: by }, "key.created", id, detail);
  const stored = await records.put({ tenant, kind: KIND, id }, { ...body, scopes }, 0, line);
  if (stored === undefined) throw new Error(`A key with the id \`${id}\` already exists.`);
  return { key: toKey(stored, body), text: `metier_${id}_${secret}` };
}

async function revokeKey(
  records: RecordStore,
  { tenant, id }: { readonly tenant: string; readonly id: string },
  now: number,
  by: string,
): Promise<StoredKey | undefined> {
  for (;;) {
    const stored = await records.get({ tenant, kind: KIND, id });
    const body = stored && fitShape(keyBodyShape, stored.body);
    if (stored === undefined || body === undefined) return undefined;
    if (body.revokedAt !== undefined) return toKey(stored, body);
    const line = tellOf({ tenant, keyId: by }, "key.revoked", id);
    const changed = await records.put(stored, { ...stored.body, revokedAt: now }, stored.revision, line);
    if (changed) return toKey(stored, { ...body, revokedAt: now });
  }
}

function judge({ id: keyId, tenant }: StoredRecord, body: KeyBody, now: number): KeyCheck {
  if (body.revokedAt !== undefined) return { kind: "revoked" };
  if (body.expiresAt !== undefined && body.expiresAt <= now) return { kind: "expired" };
  return { kind: "known", identity: { keyId, tenant, scopes: new Set(body.scopes), userId: body.userId } };
}

export function isActing({ revokedAt, expiresAt }: StoredKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}

function readKey(stored: StoredRecord): readonly StoredKey[] {
  const body = fitShape(keyBodyShape, stored.body);
  return body === undefined ? [] : [toKey(stored, body)];
}

function toKey({ id, tenant, createdAt }: StoredRecord, { digest: _, ...body }: KeyBody): StoredKey {
  return { id, tenant, createdAt, ...body };
}

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function isSameDigest(given: string, stored: string): boolean {
  const [a, b] = [Buffer.from(given, "hex"), Buffer.from(stored, "hex")];
  return a.length === b.length && timingSafeEqual(a, b);
}
