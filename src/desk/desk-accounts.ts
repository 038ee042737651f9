/**
 * The accounts of a desk: a folder for each, with `account.json`, `mail` and `calendar`. Whoever knows the passcode of an
 * account may link it; only a slow hash of the passcode is kept.
 */
import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "../capabilities/json-object.ts";
import { damagedFile, readStateFile } from "../capabilities/state-files.ts";
import { replaceFile } from "../host/write-atomic.ts";

export interface DeskAccount {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** So that no id leads out of the folder of the desk. */
const ACCOUNT_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const HASH = /^scrypt:([0-9a-f]{32}):([0-9a-f]{64})$/;
const FOLDERS = ["mail/cur", "mail/new", "mail/tmp", "calendar"];
/** Without letters and digits that are taken for one another. */
const PASSCODE_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";

export function isAccountId(id: string): boolean {
  return ACCOUNT_ID.test(id);
}

export function accountFolder(root: string, id: string): string {
  return join(root, id);
}

/** `undefined`: there is no such account. */
export function findAccount(root: string, id: string): DeskAccount | undefined {
  const read = readAccount(root, id);
  return read && { id, name: read.name, email: read.email };
}

/** An unknown account takes as long as a wrong passcode. */
export function checkPasscode(root: string, id: string, passcode: string): DeskAccount | undefined {
  const read = readAccount(root, id);
  const [, salt = "00".repeat(16), hash = "00".repeat(32)] = HASH.exec(read?.passcode ?? "") ?? [];
  const fits = timingSafeEqual(hashPasscode(passcode, salt), Buffer.from(hash, "hex"));
  return fits && read ? { id, name: read.name, email: read.email } : undefined;
}

/** `false`: there is one of that id. */
export function addAccount(root: string, { id, name, email }: DeskAccount, passcode: string): boolean {
  const folder = accountFolder(root, id);
  const file = join(folder, "account.json");
  if (existsSync(file)) return false;
  for (const part of FOLDERS) mkdirSync(join(folder, part), { recursive: true, mode: 0o700 });
  const salt = randomBytes(16).toString("hex");
  const hashed = `scrypt:${salt}:${hashPasscode(passcode, salt).toString("hex")}`;
  replaceFile(file, `${JSON.stringify({ version: 1, name, email, passcode: hashed }, null, 2)}\n`);
  return true;
}

export function makePasscode(): string {
  const letters = [...randomBytes(16)].map((byte) => PASSCODE_LETTERS[byte % PASSCODE_LETTERS.length]);
  return (letters.join("").match(/.{4}/g) ?? []).join("-");
}

function hashPasscode(passcode: string, salt: string): Buffer {
  return scryptSync(passcode.normalize("NFKC"), Buffer.from(salt, "hex"), 32);
}

interface StoredAccount {
  readonly name: string;
  readonly email: string;
  readonly passcode: string;
}

function readAccount(root: string, id: string): StoredAccount | undefined {
  if (!isAccountId(id)) return undefined;
  const file = join(accountFolder(root, id), "account.json");
  const read = readStateFile(file);
  if (read === undefined) return undefined;
  const { name, email, passcode } = isJsonObject(read) ? read : {};
  if (typeof name !== "string" || typeof email !== "string" || typeof passcode !== "string")
    throw damagedFile(file, "it has no `name`, `email` or `passcode`");
  return { name, email, passcode };
}
