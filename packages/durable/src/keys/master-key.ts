/**
 * The master key: nothing is encrypted with it directly. It derives keys for each tenant and purpose; these seal small
 * secrets, including the tenants' own keys (`tenant-keys.ts`), so that a sealed text only opens for its tenant and
 * purpose.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { done, type Result, refused } from "@metier/base/result";
import { addKey, type KeyRing, type MasterKeyPlaces, readKeyRing, type SharedKeyPlace } from "./key-ring.ts";

/** Whose key, and for what. */
export interface KeyUse {
  readonly tenant: string;
  readonly purpose: string;
}

/** Keys with ids: encrypted data names its key. */
export interface KeySet {
  /** The id of the key for everything new. */
  readonly newest: string;
  /** Of all available keys, newest first. */
  readonly ids: readonly string[];
  /** 32 bytes. `undefined`: there is no key with that id. */
  derive(use: KeyUse, keyId: string): Buffer | undefined;
  seal(use: KeyUse, text: string): string;
  /** Refused if it was changed, belongs to another tenant or purpose, or its key is gone. */
  unseal(use: KeyUse, sealed: string): Result<string>;
}

export type MasterKey = KeySet;

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^metier1\.(?<id>[0-9a-f]{16})\.(?<body>[\w-]+)$/;

export function openMasterKey(places: SharedKeyPlace): Result<MasterKey> {
  const ring = readKeyRing(places);
  return ring.ok ? done(makeMasterKey(ring.value, places)) : ring;
}

/** From now on, everything new uses a new key; existing data stays readable under its own. */
export function rotateMasterKey(places: MasterKeyPlaces): Result<MasterKey> {
  const ring = addKey(places);
  return ring.ok ? done(makeMasterKey(ring.value, places)) : ring;
}

function makeMasterKey(ring: KeyRing, places: SharedKeyPlace): MasterKey {
  const derived = new Map<string, Buffer>();
  let known = ring;
  const find = (id: string): Buffer | undefined => {
    const bytesOf = (): Buffer | undefined => known.find((key) => key.id === id)?.bytes;
    if (bytesOf() === undefined) {
      // Another process may have rotated it since.
      const now = readKeyRing(places);
      if (now.ok) known = now.value;
    }
    return bytesOf();
  };
  const derive = (use: KeyUse, id: string): Buffer | undefined => {
    const name = JSON.stringify([id, use.purpose, use.tenant]);
    const before = derived.get(name);
    const bytes = before ? undefined : find(id);
    if (before || bytes === undefined) return before;
    const key = deriveKey(bytes, use);
    derived.set(name, key);
    return key;
  };
  const [{ id: newest }] = ring;
  return sealWith({ newest, listIds: () => known.map(({ id }) => id), derive });
}

/** Derives the key for this tenant and purpose from a key that encrypts nothing itself. */
export function deriveKey(bytes: Buffer, { tenant, purpose }: KeyUse): Buffer {
  const info = JSON.stringify([purpose, tenant]);
  return Buffer.from(hkdfSync("sha256", bytes, "metier-durable-1", info, 32));
}

interface DerivedKeys extends Pick<KeySet, "newest" | "derive"> {
  listIds(): readonly string[];
}

export function sealWith({ newest, listIds, derive }: DerivedKeys): KeySet {
  return {
    newest,
    get ids() {
      return listIds();
    },
    derive,
    seal: (use, text) => sealText(use, text, newest, derive(use, newest)),
    unseal(use, sealed) {
      const id = sealedUnder(sealed) ?? "";
      const { body = "" } = SEALED.exec(sealed)?.groups ?? {};
      const key = derive(use, id);
      const text = key && openText(use, Buffer.from(body, "base64url"), key);
      if (text !== undefined) return done(text);
      const why = key || id === "" ? "it was changed, or belongs elsewhere" : "its master key is missing";
      return refused({
        message: `A sealed value for \`${use.purpose}\` cannot be opened: ${why}.`,
        hint: "Restore the master key, or store the value again.",
      });
    },
  };
}

/** The id of its key, which reveals nothing about the key. `undefined`: it isn't a sealed text. */
export function sealedUnder(sealed: string): string | undefined {
  return SEALED.exec(sealed)?.groups?.id;
}

function sealText(use: KeyUse, text: string, id: string, key: Buffer | undefined): string {
  if (key === undefined) throw new Error("The newest key of the ring is always there.");
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(use));
  const body = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `metier1.${id}.${body.toString("base64url")}`;
}

/** `undefined` if it is damaged, or bound to something else: nobody can tell which. */
function openText(use: KeyUse, body: Buffer, key: Buffer): string | undefined {
  if (body.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv(CIPHER, key, body.subarray(0, NONCE_BYTES))
    .setAAD(boundTo(use))
    .setAuthTag(body.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString("utf8");
  } catch {
    return undefined; // Told by the caller.
  }
}

function boundTo({ tenant, purpose }: KeyUse): Buffer {
  return Buffer.from(JSON.stringify(["metier-sealed", 1, purpose, tenant]));
}
