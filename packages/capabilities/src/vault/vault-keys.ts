/**
 * Where the key of a vault is: in the keychain of the system, or in a file that only the user can read. Two small files in
 * the folder of the vault say so; each is made once. An entry names its key, so both kinds may be in use side by side.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { flushFolder, makeOwnedName, removeLeftovers } from "@metier/base/files";
import { isJsonObject } from "@metier/base/json";
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
    makePrivateFolder(folder);
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
        makePrivateFolder(folder);
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

// Files that only their owner may see: made once and never replaced, whoever else makes them at the same time.

const MAX_BYTES = 4096;
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** `undefined` when there is none. Throws `CapabilityStateError` when others could have read or written it. */
export function readPrivate(file: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(file, OPEN_FLAGS);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    const why = code === "ELOOP" ? "it is a link, and a key is only read from a file in place" : message;
    throw refuseFile(file, why, `Look at \`ls -l '${file}'\` and put the file itself there.`);
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile() || stats.size > MAX_BYTES) {
      throw refuseFile(file, "it is not a small regular file", `Remove it: \`rm -r '${file}'\`.`);
    }
    checkOwner(file, stats, "600");
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** Whether it is ours: `false` when another process was faster, whose file is whole by then. */
function makePrivate(file: string, text: string): boolean {
  const folder = dirname(file);
  const temporary = join(folder, makeOwnedName({ prefix: `.${basename(file)}.`, suffix: ".tmp" }));
  removeLeftovers(file);
  const descriptor = openSync(temporary, "wx", 0o600);
  try {
    writeFileSync(descriptor, text);
    fsyncSync(descriptor);
    linkSync(temporary, file); // Unlike a rename, it fails when the name is taken.
    flushFolder(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    closeSync(descriptor);
    rmSync(temporary, { force: true });
  }
}

/** A folder that is there must be this user's alone. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkOwner(folder, statSync(folder), "700");
}

/** Names the one command that sets it right. Systems without such owners have other means. */
function checkOwner(path: string, { uid, mode }: Stats, wanted: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (uid !== user) {
    throw refuseFile(
      path,
      `it belongs to user ${uid}, and you are ${user}`,
      `Run \`sudo chown ${user} '${path}'\`.`,
    );
  }
  if ((mode & 0o077) !== 0) {
    const is = (mode & 0o777).toString(8);
    throw refuseFile(path, `others than you can reach it (mode ${is})`, `Run \`chmod ${wanted} '${path}'\`.`);
  }
}

function refuseFile(path: string, why: string, hint: string): CapabilityStateError {
  return new CapabilityStateError(`The vault is not used, because of \`${path}\`: ${why}.`, hint);
}
