/**
 * The master key: nothing is encrypted with it. From it come the keys of tenants, one for each purpose; and small secrets are
 * sealed with one of those, so that a sealed text opens for its tenant and its purpose alone.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { done, type Result, refused } from "@metier/base/result";
import { addKey, type KeyRing, type MasterKeyPlaces, readKeyRing } from "./key-ring.ts";

/** Whose key, and for what. */
export interface KeyUse {
  readonly tenant: string;
  readonly purpose: string;
}

export interface MasterKey {
  /** The id of the key under which everything new is put. */
  readonly newest: string;
  /** Of all keys that are here, the newest first. */
  readonly ids: readonly string[];
  /** 32 bytes. `undefined`: there is no key of that id. */
  derive(use: KeyUse, keyId: string): Buffer | undefined;
  seal(use: KeyUse, text: string): string;
  /** Refused when it was changed, belongs to another tenant or purpose, or its key is gone. */
  unseal(use: KeyUse, sealed: string): Result<string>;
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^metier1\.(?<id>[0-9a-f]{16})\.(?<body>[\w-]+)$/;

export function openMasterKey(places: MasterKeyPlaces): Result<MasterKey> {
  const ring = readKeyRing(places);
  return ring.ok ? done(makeMasterKey(ring.value, places)) : ring;
}

/** From now on everything new is under a new key; what is there stays readable under its own. */
export function rotateMasterKey(places: MasterKeyPlaces): Result<MasterKey> {
  const ring = addKey(places);
  return ring.ok ? done(makeMasterKey(ring.value, places)) : ring;
}

function makeMasterKey(ring: KeyRing, places: MasterKeyPlaces): MasterKey {
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
  const derive = ({ tenant, purpose }: KeyUse, id: string): Buffer | undefined => {
    const name = JSON.stringify([id, purpose, tenant]);
    const before = derived.get(name);
    const bytes = before ? undefined : find(id);
    if (before || bytes === undefined) return before;
    const info = JSON.stringify([purpose, tenant]);
    const key = Buffer.from(hkdfSync("sha256", bytes, "metier-durable-1", info, 32));
    derived.set(name, key);
    return key;
  };
  const [{ id: newest }] = ring;
  return {
    newest,
    get ids() {
      return known.map(({ id }) => id);
    },
    derive,
    seal: (use, text) => sealText(use, text, newest, derive(use, newest)),
    unseal(use, sealed) {
      const { id = "", body = "" } = SEALED.exec(sealed)?.groups ?? {};
      const key = derive(use, id);
      const text = key && openText(use, Buffer.from(body, "base64url"), key);
      if (text !== undefined) return done(text);
      const why = key || id === "" ? "it was changed, or belongs elsewhere" : "its master key is not here";
      return refused({
        message: `A sealed value for \`${use.purpose}\` cannot be opened: ${why}.`,
        hint: "Restore the master key, or store the value again.",
      });
    },
  };
}

function sealText(use: KeyUse, text: string, id: string, key: Buffer | undefined): string {
  if (key === undefined) throw new Error("The newest key of the ring is always there.");
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(boundTo(use));
  const body = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `metier1.${id}.${body.toString("base64url")}`;
}

/** `undefined` when it is damaged, or bound to something else: which of the two, nobody can tell. */
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
