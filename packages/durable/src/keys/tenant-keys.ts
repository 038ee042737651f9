/**
 * The keys of tenants: each has a random one, sealed with the master key and stored as a record, which encrypts
 * everything of the tenant. A new master key seals those keys again and leaves their data alone; a tenant whose key is
 * destroyed can't be read by anyone. Data from before tenants had keys is under keys derived from the master key, and
 * still opens.
 */
import { createHmac, randomBytes } from "node:crypto";
import { dropOldest } from "@metier/base/turns";
import type { RecordStore, StoredRecord } from "../record-store.ts";
import { forAllTenants, forTenant } from "../tenant-scope.ts";
import { deriveKey, type KeySet, type KeyUse, type MasterKey, sealedUnder, sealWith } from "./master-key.ts";

export interface TenantKeys {
  /** Created if there is none. Two processes that ask at the same time get the same one. */
  of(tenant: string): Promise<KeySet>;
  /**
   * Whether there was one. What it encrypted is lost forever, here immediately and in other processes within a minute.
   */
  destroy(tenant: string): Promise<boolean>;
  /** Seals all keys with the newest master key; returns how many weren't. */
  rewrap(): Promise<number>;
}

interface TenantKeyParts {
  readonly records: Pick<RecordStore, "get" | "put" | "delete" | "listAll">;
  readonly master: MasterKey;
  /** Default: the clock. */
  readonly now?: () => number;
}

interface KnownKey {
  readonly at: number;
  readonly keys: Promise<KeySet>;
}

const KIND = "tenant-key";
const ID = "key";
const PURPOSE = "tenant-key";
const KEY_BYTES = 32;
/** After this a key is looked up again: another process may have destroyed it. */
const KNOWN_MS = 60_000;
const MOST_KNOWN = 10_000;

export function openTenantKeys({ records, master, now = Date.now }: TenantKeyParts): TenantKeys {
  const known = new Map<string, KnownKey>();
  const find = async (tenant: string, before: KnownKey | undefined): Promise<KeySet> => {
    const stored = (await records.get(keyOf(tenant))) ?? (await make(tenant));
    const bytes = openStored(master, stored);
    if (bytes !== undefined) return combine(bytes, tenant, master);
    const earlier = await before?.keys.catch(() => undefined);
    // A process with a newer master key has sealed it anew, and the key is the one that is known here.
    if (earlier !== undefined && earlier.newest === stored.body.key) return earlier;
    throw new Error(
      `The key of tenant \`${tenant}\` cannot be opened: it was changed, or it is sealed with master key ${describe(stored)}, which is missing here. Set METIER_MASTER_KEY to the keys of the other processes.`,
    );
  };
  const make = async (tenant: string): Promise<StoredRecord> => {
    const bytes = randomBytes(KEY_BYTES);
    const made = await records.put(keyOf(tenant), sealKey(master, tenant, bytes), 0);
    const stored = made ?? (await records.get(keyOf(tenant)));
    if (stored === undefined)
      throw new Error(`The key of tenant \`${tenant}\` was removed while it was being created.`);
    return stored;
  };
  return {
    of(tenant) {
      const before = known.get(tenant);
      if (before !== undefined && now() - before.at < KNOWN_MS) return before.keys;
      const keys = forTenant(tenant, () => find(tenant, before));
      const entry = { at: now(), keys };
      known.delete(tenant);
      known.set(tenant, entry);
      // Whoever asked hears of it, and the next one looks again.
      keys.catch(() => known.get(tenant) === entry && known.delete(tenant));
      dropOldest(known, MOST_KNOWN);
      return keys;
    },
    async destroy(tenant) {
      known.delete(tenant);
      const wasThere = await forTenant(tenant, () => records.delete(keyOf(tenant)));
      known.delete(tenant);
      return wasThere;
    },
    rewrap: () => forAllTenants(() => rewrapAll(records, master)),
  };
}

async function rewrapAll(records: TenantKeyParts["records"], master: MasterKey): Promise<number> {
  let count = 0;
  for (const stored of await records.listAll(KIND)) {
    if (sealedUnder(String(stored.body.sealed)) === master.newest) continue;
    const bytes = openStored(master, stored);
    // One that cannot be opened here stays as it is: whoever needs it is told.
    if (bytes === undefined) continue;
    const body = sealKey(master, stored.tenant, bytes);
    if (await records.put(keyOf(stored.tenant), body, stored.revision)) count += 1;
  }
  return count;
}

function keyOf(tenant: string) {
  return { tenant, kind: KIND, id: ID };
}

function sealKey(master: MasterKey, tenant: string, bytes: Buffer) {
  const sealed = master.seal({ tenant, purpose: PURPOSE }, bytes.toString("base64url"));
  return { key: identify(bytes), sealed };
}

function openStored(master: MasterKey, { tenant, body: { sealed } }: StoredRecord): Buffer | undefined {
  const text = master.unseal({ tenant, purpose: PURPOSE }, typeof sealed === "string" ? sealed : "");
  const bytes = text.ok ? Buffer.from(text.value, "base64url") : undefined;
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}

function describe({ body: { sealed } }: StoredRecord): string {
  return `\`${(typeof sealed === "string" && sealedUnder(sealed)) || "unknown"}\``;
}

/** Distinguishes keys and reveals nothing about them. */
function identify(bytes: Buffer): string {
  return createHmac("sha256", bytes).update("metier tenant key id").digest("hex").slice(0, 16);
}

/** The tenant's own key for everything new; those of the master key for what older versions wrote. */
function combine(bytes: Buffer, tenant: string, master: MasterKey): KeySet {
  const own = identify(bytes);
  const derived = new Map<string, Buffer>();
  const derive = (use: KeyUse, id: string): Buffer | undefined => {
    if (id !== own) return master.derive(use, id);
    if (use.tenant !== tenant) return undefined;
    const key = derived.get(use.purpose) ?? deriveKey(bytes, use);
    // Secrets have a purpose each, and need their key once.
    if (!use.purpose.startsWith("secret/")) derived.set(use.purpose, key);
    return key;
  };
  return sealWith({ newest: own, listIds: () => [own, ...master.ids], derive });
}
