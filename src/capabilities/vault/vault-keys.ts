/**
 * Where the key of a vault is: in the keychain of the system, or in a file that only the user can read. Two small files in
 * the folder of the vault say so; each is made once. An entry names its key, so both kinds may be in use side by side.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Diagnostic } from "../../foundation/diagnostic.ts";
import { isJsonObject } from "../json-object.ts";
import { CapabilityStateError } from "../state-error.ts";
import type { Keychain } from "./keychain.ts";
import { makePrivate, makePrivateFolder, readPrivate } from "./private-file.ts";
import { makeKey, type VaultKey } from "./seal.ts";

const KEY_BYTES = 32;
const KEY = /^[\w-]{43}$/;
const ACCOUNT = /^key-[0-9a-f]{32}$/;

export interface VaultKeys {
  /** For what is written from now on; made if there is none yet. */
  current(): Promise<VaultKey>;
  /** Rejects with `CapabilityStateError` when that key cannot be had now. */
  find(id: string): Promise<VaultKey>;
}

export interface KeyPlaces {
  readonly folder: string;
  readonly keychain?: Keychain | undefined;
  onDiagnostic(diagnostic: Diagnostic): void;
}

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
  const fromFile = (): Promise<VaultKey> | undefined => {
    const text = readField(keyFile, "key", KEY);
    return text === undefined ? undefined : remember(text);
  };
  const makeFile = async (): Promise<VaultKey> => {
    const found = fromFile();
    if (found) return found;
    makePrivate(keyFile, `${JSON.stringify({ version: 1, key: newKey() })}\n`);
    return fromFile() ?? makeFile(); // Ours, or that of a process that was faster.
  };
  /** `undefined` where no key was ever put into a keychain. */
  const fromKeychain = async (): Promise<VaultKey | undefined> => {
    const account = readField(accountFile, "account", ACCOUNT);
    if (account === undefined) return undefined;
    if (keychain === undefined) throw new Error("its program is not on PATH");
    const text = await keychain.find(account);
    if (text === undefined || !KEY.test(text)) throw new Error(`it has no entry \`${account}\` with a key`);
    return remember(text);
  };
  /** The key is in the keychain before anyone is told of it; of two that do this at once, one is told of. */
  const makeInKeychain = async (to: Keychain): Promise<VaultKey | undefined> => {
    const account = `key-${randomBytes(16).toString("hex")}`;
    const text = newKey();
    await to.store(account, text);
    if ((await to.find(account)) !== text) throw new Error("it did not keep the key");
    const isOurs = makePrivate(accountFile, `${JSON.stringify({ version: 1, account })}\n`);
    if (!isOurs) await to.remove(account).catch(() => undefined); // An entry that nobody knows of harms nobody.
    return fromKeychain();
  };
  const choose = async (): Promise<VaultKey> => {
    makePrivateFolder(folder);
    try {
      const kept = (await fromKeychain()) ?? (await fromFile());
      const made = kept ?? (keychain && (await makeInKeychain(keychain)));
      if (made) return made;
    } catch (error) {
      if (error instanceof CapabilityStateError) throw error;
      onDiagnostic(reportKeychain(folder, keychain, (error as Error).message));
    }
    return makeFile();
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
        makePrivateFolder(folder);
        await fromFile();
      }
      const why = known.has(id) ? "" : await whyNot(fromKeychain);
      const key = known.get(id);
      if (key) return key;
      throw new CapabilityStateError(
        `A secret in \`${folder}\` is locked with a key that cannot be had now${why}.`,
        "Unlock the keychain of the system or restore `key.json`; or unlink the account and sign in again.",
      );
    },
  };
}

async function whyNot(look: () => Promise<unknown>): Promise<string> {
  try {
    await look();
    return "";
  } catch (error) {
    return `: the keychain cannot be used, ${(error as Error).message}`;
  }
}

function newKey(): string {
  return randomBytes(KEY_BYTES).toString("base64url");
}

function readField(file: string, field: string, form: RegExp): string | undefined {
  const text = readPrivate(file);
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
