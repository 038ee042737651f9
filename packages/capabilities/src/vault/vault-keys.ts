/**
 * Where a vault's key is: in the system keychain, or in a file that only the user can read. Two small files in the
 * vault folder record it; each is created once. An entry names its key, so both kinds can be in use together.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { makePrivate, makePrivateFolder, readPrivate } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
import type { Result } from "@metier/base/result";
import { CapabilityStateError } from "../state-files.ts";
import type { Keychain } from "./keychain.ts";

export interface VaultKey {
  /** The RFC 7638 thumbprint: identifies a key without revealing anything about it. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

export interface VaultKeys {
  /** For new entries; created if there is none yet. */
  current(): Promise<VaultKey>;
  /** Rejects with `CapabilityStateError` if that key is not available. */
  find(id: string): Promise<VaultKey>;
}

interface KeyPlaces {
  readonly folder: string;
  readonly keychain?: Keychain | undefined;
  onDiagnostic(diagnostic: Diagnostic): void;
}

const KEY_BYTES = 32;
const KEY = /^[\w-]{43}$/;
const ACCOUNT = /^key-[0-9a-f]{32}$/;

export function openKeys({ folder, keychain, onDiagnostic }: KeyPlaces): VaultKeys {
  const keyFile = join(folder, "key.json");
  const accountFile = join(folder, "keychain.json");
  const known = new Map<string, VaultKey>();
  let chosen: Promise<VaultKey> | undefined;

  const remember = async (text: string): Promise<VaultKey> => {
    const key = await makeKey(Buffer.from(text, "base64url"));
    known.set(key.id, key);
    return key;
  };
  const choose = async (): Promise<VaultKey> => {
    makeVaultFolder(folder);
    try {
      const kept = (await readKeychainKey(accountFile, keychain)) ?? readKeyFile(keyFile);
      const made = kept ?? (keychain && (await makeKeychainKey(accountFile, keychain)));
      if (made !== undefined) return await remember(made);
    } catch (error) {
      if (error instanceof CapabilityStateError) throw error;
      onDiagnostic(reportKeychain(folder, keychain, (error as Error).message));
    }
    return remember(makeKeyFile(keyFile));
  };
  return {
    async current() {
      chosen ??= choose();
      try {
        return await chosen;
      } catch (error) {
        chosen = undefined; // A fix by the user works without a restart.
        throw error;
      }
    },
    async find(id) {
      if (!known.has(id)) {
        makeVaultFolder(folder);
        const text = readKeyFile(keyFile);
        if (text !== undefined) await remember(text);
      }
      const look = async (): Promise<void> => {
        const text = await readKeychainKey(accountFile, keychain);
        if (text !== undefined) await remember(text);
      };
      const why = known.has(id) ? "" : await whyNot(look);
      const key = known.get(id);
      if (key) return key;
      throw new CapabilityStateError(
        `The key for a secret in \`${folder}\` is not available${why}.`,
        "Unlock the system keychain or restore `key.json`; or unlink the account and sign in again.",
      );
    },
  };
}

async function makeKey(bytes: Uint8Array): Promise<VaultKey> {
  const { base64url, calculateJwkThumbprint } = await import("jose");
  return { id: await calculateJwkThumbprint({ kty: "oct", k: base64url.encode(bytes) }), bytes };
}

function newKey(): string {
  return randomBytes(KEY_BYTES).toString("base64url");
}

function readKeyFile(file: string): string | undefined {
  return readField(file, "key", KEY);
}

function makeKeyFile(file: string): string {
  const found = readKeyFile(file);
  if (found !== undefined) return found;
  makePrivate(file, `${JSON.stringify({ version: 1, key: newKey() })}\n`);
  return readKeyFile(file) ?? makeKeyFile(file); // Ours, or that of a faster process.
}

/** `undefined` if no key was ever stored in a keychain. */
async function readKeychainKey(
  accountFile: string,
  keychain: Keychain | undefined,
): Promise<string | undefined> {
  const account = readField(accountFile, "account", ACCOUNT);
  if (account === undefined) return undefined;
  if (keychain === undefined) throw new Error("its program is not on PATH");
  const text = await keychain.find(account);
  if (text === undefined || !KEY.test(text)) throw new Error(`it has no key in the entry \`${account}\``);
  return text;
}

/** The key is in the keychain before it is announced; of two concurrent attempts, one is announced. */
async function makeKeychainKey(accountFile: string, to: Keychain): Promise<string | undefined> {
  const account = `key-${randomBytes(16).toString("hex")}`;
  const text = newKey();
  await to.store(account, text);
  if ((await to.find(account)) !== text) throw new Error("it did not store the key");
  const isOurs = makePrivate(accountFile, `${JSON.stringify({ version: 1, account })}\n`);
  if (!isOurs) await to.remove(account).catch(() => undefined); // An unannounced entry does no harm.
  return readKeychainKey(accountFile, to);
}

async function whyNot(look: () => Promise<unknown>): Promise<string> {
  try {
    await look();
    return "";
  } catch (error) {
    return `: the keychain cannot be used, ${(error as Error).message}`;
  }
}

function readField(file: string, field: string, form: RegExp): string | undefined {
  const text = readVaultFile(file);
  if (text === undefined) return undefined;
  const value = parseField(text, field);
  if (typeof value === "string" && form.test(value)) return value;
  throw new CapabilityStateError(
    `\`${file}\` is damaged: it has no usable \`${field}\`.`,
    "Restore it from a backup. Without it, the vault's contents are lost: remove the vault and sign in again.",
  );
}

function parseField(text: string, field: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed[field] : undefined;
  } catch {
    return undefined; // The parser's message would quote the key.
  }
}

function reportKeychain(path: string, keychain: Keychain | undefined, why: string): Diagnostic {
  return {
    code: "vault.keychain-unavailable",
    severity: "warning",
    path,
    message: `The system keychain${keychain ? ` (\`${keychain.name}\`)` : ""} cannot be used: ${why}. The vault's key is stored in \`${join(path, "key.json")}\`.`,
    hint: "Unlock the keychain, or leave it: only you can read the file.",
  };
}

/** `undefined` if there is none. Throws `CapabilityStateError` if others could have read or written it. */
export function readVaultFile(file: string): string | undefined {
  return useOrThrow(file, readPrivate(file));
}

/** An existing folder must belong to this user alone. */
export function makeVaultFolder(folder: string): void {
  useOrThrow(folder, makePrivateFolder(folder));
}

function useOrThrow<Value>(path: string, read: Result<Value>): Value {
  if (read.ok) return read.value;
  const { message, hint = "" } = read.refusal;
  throw new CapabilityStateError(`The vault is disabled because of \`${path}\`: ${message}.`, hint);
}
