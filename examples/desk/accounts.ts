/** The accounts of a desk. Each is a folder with `account.json`, a maildir in `mail` and iCalendar files in `calendar`. */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readStart, writeOnce } from "./files.ts";
import { invalidInput } from "./operation.ts";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

interface StoredAccount {
  readonly name: string;
  readonly email: string;
  /** A digest is enough: the passcode is random and long. */
  readonly passcodeDigest: string;
}

/** An id becomes part of a path, so it has no dots and no slashes. */
const ACCOUNT_ID = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** One plain address, with nothing in it that could end a header or start a second address. */
export const ADDRESS_PATTERN = '^[^\\s<>()\\[\\],;:"\\\\@]{1,64}@[^\\s<>()\\[\\],;:"\\\\@]{1,253}$';
const FOLDERS = ["mail/cur", "mail/new", "mail/tmp", "calendar"];
const MAX_ACCOUNT_BYTES = 10_000;

export function deskRoot(): string {
  return process.env.DESK_ROOT || join(homedir(), ".metier", "desk");
}

/** Adds an account and returns its passcode. */
export function addAccount(root: string, { id, name, email }: Account): string {
  if (!ACCOUNT_ID.test(id))
    throw invalidInput(`\`${id}\` is not an account name: use a-z, 0-9, \`-\` and \`_\`.`);
  if (!new RegExp(ADDRESS_PATTERN).test(email))
    throw invalidInput(`\`${email}\` is not a mail address: pass \`--email\`.`);
  const passcode = randomBytes(12).toString("base64url");
  const stored: StoredAccount = { name, email, passcodeDigest: digestOf(passcode).toString("hex") };
  if (!writeOnce(join(root, id, "account.json"), `${JSON.stringify(stored, null, 2)}\n`))
    throw invalidInput(`The account \`${id}\` exists already in ${root}.`);
  for (const folder of FOLDERS) mkdirSync(join(root, id, folder), { recursive: true, mode: 0o700 });
  return passcode;
}

export function findAccount(root: string, id: string): Account | undefined {
  const stored = readAccount(root, id);
  return stored && { id, name: stored.name, email: stored.email };
}

export function checkPasscode(root: string, id: string, passcode: string): Account | undefined {
  const stored = readAccount(root, id);
  if (!stored) return undefined;
  const fits = timingSafeEqual(digestOf(passcode), Buffer.from(stored.passcodeDigest, "hex"));
  return fits ? { id, name: stored.name, email: stored.email } : undefined;
}

function readAccount(root: string, id: string): StoredAccount | undefined {
  const bytes = ACCOUNT_ID.test(id)
    ? readStart(join(root, id, "account.json"), MAX_ACCOUNT_BYTES)
    : undefined;
  return bytes && (JSON.parse(bytes.toString()) as StoredAccount);
}

function digestOf(passcode: string): Buffer {
  return createHash("sha256").update(passcode).digest();
}
