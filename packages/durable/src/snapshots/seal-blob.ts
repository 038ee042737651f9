/**
 * One tenant's bytes as they are stored: named by a keyed digest, and encrypted with a key derived from the tenant's
 * key and that name. No key encrypts two contents, the same content is the same blob, and neither name nor bytes reveal
 * anything without the tenant's key.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from "node:crypto";
import type { KeySet, KeyUse } from "../keys/master-key.ts";
import { DamagedSnapshotError } from "../snapshot-store.ts";

export type BlobKind = "part" | "manifest";

export interface TenantBlobs {
  /** The prefix of all its blob names, one for each key. */
  prefixes(): readonly string[];
  nameOf(kind: BlobKind, bytes: Uint8Array): string;
  /** Under the name that `nameOf` returned. */
  seal(name: string, bytes: Uint8Array): Buffer;
  /** Throws if it was changed, is a different blob, or its key is gone. */
  open(kind: BlobKind, name: string, sealed: Uint8Array): Buffer;
}

const CIPHER = "aes-256-gcm";
const MARK = Buffer.from("MTR1");
const HEADER_BYTES = MARK.length + 8;
const TAG_BYTES = 16;
/** Allowed once per key; here every key is used once. */
const NONCE = Buffer.alloc(12);

export function sealFor(keys: KeySet, tenant: string): TenantBlobs {
  const names: KeyUse = { tenant, purpose: "snapshot-names" };
  const contents: KeyUse = { tenant, purpose: "snapshot-contents" };
  const keyFor = (use: KeyUse, id: string): Buffer => {
    const key = keys.derive(use, id);
    if (key === undefined)
      throw damagedSnapshot(
        `it needs the key \`${id}\`, which is missing: a master key is missing, or its tenant was removed`,
      );
    return key;
  };
  const digest = (id: string, kind: BlobKind, bytes: Uint8Array): Buffer =>
    createHmac("sha256", keyFor(names, id)).update(`${kind}\0`).update(bytes).digest();
  /** The first part is the same for all of a tenant's blobs, so that they can be listed. */
  const prefix = (id: string): string =>
    `${createHmac("sha256", keyFor(names, id)).update("tenant").digest("hex").slice(0, 16)}/`;
  const fullName = (id: string, hash: Buffer): string => `${prefix(id)}${hash.toString("hex")}`;
  const blobKey = (id: string, name: string): Buffer =>
    createHmac("sha256", keyFor(contents, id)).update(name).digest();
  return {
    prefixes: () => keys.ids.map(prefix),
    nameOf: (kind, bytes) => fullName(keys.newest, digest(keys.newest, kind, bytes)),
    seal(name, bytes) {
      const header = Buffer.concat([MARK, Buffer.from(keys.newest, "hex")]);
      const cipher = createCipheriv(CIPHER, blobKey(keys.newest, name), NONCE).setAAD(header);
      return Buffer.concat([header, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
    },
    open(kind, name, sealed) {
      const blob = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      const header = blob.subarray(0, HEADER_BYTES);
      if (blob.length < HEADER_BYTES + TAG_BYTES || !header.subarray(0, MARK.length).equals(MARK)) {
        throw damagedSnapshot("a part of it has the wrong format");
      }
      const id = header.subarray(MARK.length).toString("hex");
      const bytes = decrypt(blob, header, blobKey(id, name));
      const [given, is] = [Buffer.from(name), Buffer.from(fullName(id, digest(id, kind, bytes)))];
      if (given.length !== is.length || !timingSafeEqual(given, is))
        throw damagedSnapshot("a part of it was exchanged");
      return bytes;
    },
  };
}

function decrypt(blob: Buffer, header: Buffer, key: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, NONCE).setAAD(header).setAuthTag(blob.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(blob.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    throw damagedSnapshot("a part of it was changed, or belongs to someone else");
  }
}

export function damagedSnapshot(why: string): DamagedSnapshotError {
  return new DamagedSnapshotError(why);
}
