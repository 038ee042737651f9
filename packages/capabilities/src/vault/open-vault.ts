/**
 * Providers' secrets for users, encrypted on disk: one file each, in a folder per provider and user. Only an opaque
 * reference leaves the vault, and it is useless to another user or provider.
 */
import { randomBytes } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { UsageError } from "@metier/base/errors";
import { removeFolder, writeAtomic } from "@metier/base/files";
import { type JsonObject, presentFields } from "@metier/base/json";
import { withLock } from "@metier/base/turns";
import type { FlattenedJWE } from "jose";
import type { ProviderVault } from "../capability.ts";
import { CapabilityStateError, damagedFile, digestName, readStateFile } from "../state-files.ts";
import type { Keychain } from "./keychain.ts";
import { makeVaultFolder, openKeys, readVaultFile, type VaultKey, type VaultKeys } from "./vault-keys.ts";

export interface Vault {
  /** One provider's secrets for one user. */
  open(namespace: string, userId: string): ProviderVault;
  /** Removes all of it. Needs no key. */
  clear(namespace: string, userId: string): void;
}

export interface VaultOptions {
  /** `<home>/.metier/vault`. Created with the first secret. */
  readonly folder: string;
  /** Where the key is stored, if the machine has a keychain (`findKeychain`). Absent: in a file in the folder. */
  readonly keychain?: Keychain | undefined;
  onDiagnostic?(diagnostic: Diagnostic): void;
}

const REFERENCE = /^vlt_[0-9a-f]{32}$/;
const ENDING = ".jwe";
const MAX_BYTES = 256 * 1024;

export function openVault({ folder, keychain, onDiagnostic = () => undefined }: VaultOptions): Vault {
  const keys = openKeys({ folder, keychain, onDiagnostic });
  return {
    open: (namespace, userId) => openSection(folder, keys, [namespace, userId]),
    clear: (namespace, userId) => removeFolder(sectionFolder(folder, [namespace, userId])),
  };
}

/** The provider's namespace and the user's id. */
type SectionOwner = readonly [string, string];

function sectionFolder(folder: string, owner: SectionOwner): string {
  return join(folder, digestName(JSON.stringify(owner)));
}

function openSection(folder: string, keys: VaultKeys, owner: SectionOwner): ProviderVault {
  const own = sectionFolder(folder, owner);
  const fileOf = (ref: string): string | undefined => (isVaultRef(ref) ? join(own, ref + ENDING) : undefined);
  /** Includes the reference, so that no entry can replace another. */
  const boundTo = (ref: string): string => JSON.stringify(["metier-vault", 1, ...owner, ref]);
  const sealAs = async (ref: string, secret: JsonObject): Promise<string> => {
    const bytes = Buffer.byteLength(JSON.stringify(secret));
    if (bytes > MAX_BYTES) {
      throw new UsageError(`A secret has ${bytes} bytes; the vault's limit is ${MAX_BYTES} bytes.`);
    }
    return seal(secret, await keys.current(), boundTo(ref));
  };
  return {
    async put(secret) {
      const ref = `vlt_${randomBytes(16).toString("hex")}`;
      writeAtomic(join(own, ref + ENDING), await sealAs(ref, secret));
      return ref;
    },
    async get(ref) {
      const file = fileOf(ref);
      const sealed = file === undefined ? undefined : readStateFile(file);
      if (file === undefined || sealed === undefined) return undefined;
      const id = await keyIdOf(sealed);
      if (id === undefined) throw damagedFile(file, "it is not a vault entry");
      const secret = await unseal(sealed, await keys.find(id), boundTo(ref));
      if (secret === undefined)
        throw damagedFile(file, "it was changed, or belongs to another vault or entry");
      return secret;
    },
    async replace(ref, secret) {
      const file = fileOf(ref);
      if (file === undefined || !existsSync(file)) return false;
      const sealed = await sealAs(ref, secret);
      return withLock(file, () => existsSync(file) && writeAtomic(file, sealed));
    },
    async delete(ref) {
      const file = fileOf(ref);
      if (file === undefined || !existsSync(file)) return false;
      return withLock(file, () => {
        const wasThere = existsSync(file);
        rmSync(file, { force: true });
        return wasThere;
      });
    },
  };
}

/** Whether a text is a vault reference. */
export function isVaultRef(text: string): boolean {
  return REFERENCE.test(text);
}

export interface VaultState {
  readonly folder: string;
  /** `none`: nothing was ever stored. */
  readonly key: "keychain" | "file" | "none";
  /** The system's keychain program, if any. */
  readonly keychain?: string | undefined;
  readonly fault?: { readonly message: string; readonly hint?: string } | undefined;
}

/**
 * The vault's state, for a report: where its key is and whether others could reach it. Creates nothing and opens no
 * secret.
 */
export function describeVault({ folder, keychain }: Pick<VaultOptions, "folder" | "keychain">): VaultState {
  const known = { folder, keychain: keychain?.name };
  if (!existsSync(folder)) return { ...known, key: "none" };
  try {
    makeVaultFolder(folder);
    if (readVaultFile(join(folder, "keychain.json")) !== undefined) return { ...known, key: "keychain" };
    return { ...known, key: readVaultFile(join(folder, "key.json")) === undefined ? "none" : "file" };
  } catch (error) {
    if (!(error instanceof CapabilityStateError)) throw error;
    const { message, hint } = error;
    const key = existsSync(join(folder, "keychain.json")) ? "keychain" : "file";
    return { ...known, key, fault: presentFields({ message, hint }) };
  }
}

/**
 * An entry is a JWE (`dir`, `A256GCM`), handled by `jose`. Its binding is not stored: the reader must know it, so a
 * moved or renamed entry cannot be opened.
 */
async function seal(secret: JsonObject, key: VaultKey, boundTo: string): Promise<string> {
  const { FlattenedEncrypt } = await import("jose");
  const encoder = new TextEncoder();
  const { aad: _, ...sealed } = await new FlattenedEncrypt(encoder.encode(JSON.stringify(secret)))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid: key.id })
    .setAdditionalAuthenticatedData(encoder.encode(boundTo))
    .encrypt(key.bytes);
  return `${JSON.stringify(sealed)}\n`;
}

/** Which key a sealed text needs; `undefined` if it is not ours. */
async function keyIdOf(sealed: unknown): Promise<string | undefined> {
  const { decodeProtectedHeader } = await import("jose");
  try {
    return decodeProtectedHeader(sealed as FlattenedJWE).kid;
  } catch {
    return undefined; // Damaged; the caller reports it.
  }
}

/** `undefined` if it is damaged or bound to something else. */
async function unseal(sealed: unknown, key: VaultKey, boundTo: string): Promise<JsonObject | undefined> {
  const { base64url, flattenedDecrypt } = await import("jose");
  const bound = { ...(sealed as FlattenedJWE), aad: base64url.encode(boundTo) };
  const allowed = { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] };
  try {
    const { plaintext } = await flattenedDecrypt(bound, key.bytes, allowed);
    return JSON.parse(new TextDecoder().decode(plaintext)) as JsonObject;
  } catch {
    return undefined; // The two cases cannot be told apart.
  }
}
