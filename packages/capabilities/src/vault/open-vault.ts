/**
 * Secrets that providers keep for users, encrypted on disk: one file each, in a folder for each provider and user. Outside
 * there is only an opaque reference, and it opens nothing for another user or provider.
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
  /** What one provider keeps for one user. */
  open(namespace: string, userId: string): ProviderVault;
  /** All of that goes. No key is needed for it. */
  clear(namespace: string, userId: string): void;
}

export interface VaultOptions {
  /** `<home>/.metier/vault`. Made when the first secret comes. */
  readonly folder: string;
  /** Where the key is kept, when the machine has one (`findKeychain`). Absent: in a file of the folder. */
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
  /** With the reference in it, no entry can be put in the place of another. */
  const boundTo = (ref: string): string => JSON.stringify(["metier-vault", 1, ...owner, ref]);
  const sealAs = async (ref: string, secret: JsonObject): Promise<string> => {
    const bytes = Buffer.byteLength(JSON.stringify(secret));
    if (bytes > MAX_BYTES) {
      throw new UsageError(`A secret has ${bytes} bytes; the vault takes at most ${MAX_BYTES}.`);
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
      if (id === undefined) throw damagedFile(file, "it is no entry of a vault");
      const secret = await unseal(sealed, await keys.find(id), boundTo(ref));
      if (secret === undefined) throw damagedFile(file, "it was changed, or belongs elsewhere");
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

/** Whether a text is a reference into a vault. */
export function isVaultRef(text: string): boolean {
  return REFERENCE.test(text);
}

export interface VaultState {
  readonly folder: string;
  /** `none`: nothing was ever put in. */
  readonly key: "keychain" | "file" | "none";
  /** The program of the system's keychain, where there is one. */
  readonly keychain?: string | undefined;
  readonly fault?: { readonly message: string; readonly hint?: string } | undefined;
}

/** How the vault stands, for a report: where its key is and whether others could reach it. Makes nothing, opens no secret. */
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
 * An entry is a JWE (`dir`, `A256GCM`), made and opened by `jose`. What it is bound to is not written down: who decrypts
 * must know it, so an entry that was moved or renamed opens for nobody.
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

/** Which key a sealed text needs; `undefined` when it is none of ours. */
async function keyIdOf(sealed: unknown): Promise<string | undefined> {
  const { decodeProtectedHeader } = await import("jose");
  try {
    return decodeProtectedHeader(sealed as FlattenedJWE).kid;
  } catch {
    return undefined; // Damaged; the caller says so.
  }
}

/** `undefined` when it is damaged, or bound to something else. */
async function unseal(sealed: unknown, key: VaultKey, boundTo: string): Promise<JsonObject | undefined> {
  const { base64url, flattenedDecrypt } = await import("jose");
  const bound = { ...(sealed as FlattenedJWE), aad: base64url.encode(boundTo) };
  const allowed = { keyManagementAlgorithms: ["dir"], contentEncryptionAlgorithms: ["A256GCM"] };
  try {
    const { plaintext } = await flattenedDecrypt(bound, key.bytes, allowed);
    return JSON.parse(new TextDecoder().decode(plaintext)) as JsonObject;
  } catch {
    return undefined; // Which of the two it is, nobody can tell.
  }
}
