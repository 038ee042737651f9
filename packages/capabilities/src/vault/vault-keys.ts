/**
 * Where the key of a vault is: in the keychain of the system, or in a file that only the user can read. Two small files in
 * the folder of the vault say so; each is made once. An entry names its key, so both kinds may be in use side by side.
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
  /** The thumbprint of RFC 7638: tells keys apart and says nothing about them. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

export interface VaultKeys {
  /** For what is written from now on; made if there is none yet. */
  current(): Promise<VaultKey>;
  /** Rejects with `CapabilityStateError` when that key cannot be had now. */
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
        chosen = undefined; // What the user sets right works without a new start.
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
        `A secret in \`${folder}\` is locked with a key that cannot be had now${why}.`,
        "Unlock the keychain of the system or restore `key.json`; or unlink the account and sign in again.",
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
  return readKeyFile(file) ?? makeKeyFile(file); // Ours, or that of a process that was faster.
}

/** `undefined` where no key was ever put into a keychain. */
async function readKeychainKey(
  accountFile: string,
  keychain: Keychain | undefined,
): Promise<string | undefined> {
  const account = readField(accountFile, "account", ACCOUNT);
  if (account === undefined) return undefined;
  if (keychain === undefined) throw new Error("its program is not on PATH");
  const text = await keychain.find(account);
  if (text === undefined || !KEY.test(text)) throw new Error(`it has no entry \`${account}\` with a key`);
  return text;
}

/** The key is in the keychain before anyone is told of it; of two that do this at once, one is told of. */
async function makeKeychainKey(accountFile: string, to: Keychain): Promise<string | undefined> {
  const account = `key-${randomBytes(16).toString("hex")}`;
  const text = newKey();
  await to.store(account, text);
  if ((await to.find(account)) !== text) throw new Error("it did not keep the key");
  const isOurs = makePrivate(accountFile, `${JSON.stringify({ version: 1, account })}\n`);
  if (!isOurs) await to.remove(account).catch(() => undefined); // An entry that nobody knows of harms nobody.
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
    "Restore it from a copy. Without it, what the vault holds is lost: remove it and sign in again.",
  );
}

function parseField(text: string, field: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed[field] : undefined;
  } catch {
    return undefined; // What the parser says would quote the key.
  }
}

function reportKeychain(path: string, keychain: Keychain | undefined, why: string): Diagnostic {
  return {
    code: "vault.keychain-unavailable",
    severity: "warning",
    path,
    message: `The keychain of the system${keychain ? ` (\`${keychain.name}\`)` : ""} cannot be used: ${why}. The key of the vault is kept in \`${join(path, "key.json")}\`.`,
    hint: "Unlock the keychain, or leave it at that: only you can read the file.",
  };
}

/** `undefined` when there is none. Throws `CapabilityStateError` when others could have read or written it. */
export function readVaultFile(file: string): string | undefined {
  return useOrThrow(file, readPrivate(file));
}

/** A folder that is there must be this user's alone. */
export function makeVaultFolder(folder: string): void {
  useOrThrow(folder, makePrivateFolder(folder));
}

function useOrThrow<Value>(path: string, read: Result<Value>): Value {
  if (read.ok) return read.value;
  const { message, hint = "" } = read.refusal;
  throw new CapabilityStateError(`The vault is not used, because of \`${path}\`: ${message}.`, hint);
}
