/**
 * A skill's small store: one JSON file per key in its data folder, used by programs outside and by scripts inside a
 * sandbox. A value is replaced as a whole, so processes need no lock. A script may put anything there: links are not
 * followed, sizes are bounded, folders are not emptied, and unreadable files are set aside.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

export const MAX_KEYS = 1000;
export const MAX_VALUE_BYTES: number = 256 * 1024;
export const MAX_STORE_BYTES: number = 4 * 1024 * 1024;

const ENDING = ".store.json";
const ASIDE = ".corrupt";
/** For a file name; with the extension and a temporary suffix it stays below file system limits. */
const MAX_NAME = 200;

/** The key or value cannot be stored: which one, and what is allowed. */
export class StoreFault extends Error {}

export interface KeyValues {
  /** `undefined` if there is none. */
  get(key: string): unknown;
  set(key: string, value: unknown): void;
  /** Returns whether it existed. */
  delete(key: string): boolean;
  /** By key. */
  all(): Record<string, unknown>;
  clear(): void;
}

/** `onCorrupt` is called for each file that was set aside, with the reason. */
export function openKeyValues(
  folder: string,
  onCorrupt: (file: string, reason: string) => void = () => undefined,
): KeyValues {
  const fileOf = (key: string): string => join(folder, nameOf(key));
  const read = (file: string): unknown => {
    const found = readValue(file);
    if (found.ok) return found.value;
    if (found.reason === undefined) return undefined;
    setAside(file);
    onCorrupt(file, found.reason);
    return undefined;
  };
  return {
    get: (key) => read(fileOf(key)),
    set(key, value) {
      const file = fileOf(key);
      const text = toText(key, value);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      checkRoom(folder, file, Buffer.byteLength(text));
      replace(file, text);
    },
    delete(key) {
      const file = fileOf(key);
      return read(file) !== undefined && remove(file);
    },
    all() {
      const found = listNames(folder).flatMap((name) => {
        const key = keyOf(name);
        const value = key === undefined ? undefined : read(join(folder, name));
        return key === undefined || value === undefined ? [] : [[key, value] as const];
      });
      return Object.fromEntries(found.sort(([a], [b]) => (a < b ? -1 : 1)));
    },
    clear() {
      for (const name of listNames(folder)) remove(join(folder, name));
    },
  };
}

/**
 * Any string can be a key: characters that a file name cannot hold, or a file system could confuse, are written as
 * `%41`.
 */
function nameOf(key: unknown): string {
  if (typeof key !== "string" || key === "" || !key.isWellFormed()) {
    throw new StoreFault("A key must be a non-empty string.");
  }
  const name = [...Buffer.from(key)].map((byte, at) => {
    const character = String.fromCharCode(byte);
    const isPlain = /[a-z0-9_-]/.test(character) || (character === "." && at > 0);
    return isPlain ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  });
  const written = name.join("");
  if (written.length <= MAX_NAME) return written + ENDING;
  throw new StoreFault(
    `The key \`${key.slice(0, 40)}…\` is too long; the limit is about 60 to 200 characters.`,
  );
}

/** `undefined` for a file that is not ours. */
function keyOf(name: string): string | undefined {
  if (!name.endsWith(ENDING)) return undefined;
  try {
    const key = decodeURIComponent(name.slice(0, -ENDING.length));
    return nameOf(key) === name ? key : undefined;
  } catch {
    return undefined; // Not written by us: not UTF-8, or too long.
  }
}

function toText(key: string, value: unknown): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (fault) {
    throw new StoreFault(`The value of \`${key}\` is not valid JSON: ${(fault as Error).message}.`);
  }
  if (text === undefined)
    throw new StoreFault(`The value of \`${key}\` is not JSON; delete the key instead.`);
  const bytes = Buffer.byteLength(text) + 1;
  if (bytes <= MAX_VALUE_BYTES) return `${text}\n`;
  throw new StoreFault(
    `The value of \`${key}\` has ${bytes} bytes; the limit is ${MAX_VALUE_BYTES} bytes. Store it in a file in the data folder.`,
  );
}

function checkRoom(folder: string, file: string, bytes: number): void {
  const others = listNames(folder).filter((name) => join(folder, name) !== file);
  if (others.length >= MAX_KEYS) {
    throw new StoreFault(`The store has ${others.length} keys; the limit is ${MAX_KEYS}. Delete some first.`);
  }
  const sizes = others.map((name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  const size = sizes.reduce((sum, each) => sum + each, bytes);
  if (size <= MAX_STORE_BYTES) return;
  throw new StoreFault(
    `The store would have ${size} bytes; the limit is ${MAX_STORE_BYTES} bytes. Delete something first.`,
  );
}

type Reading =
  | { readonly ok: true; readonly value: unknown }
  /** Without a reason, the file does not exist. */
  | { readonly ok: false; readonly reason?: string };

const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

function readValue(file: string): Reading {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, OPEN_FLAGS);
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { ok: false, reason: "it is not a regular file" };
    if (stats.size > MAX_VALUE_BYTES) return { ok: false, reason: `it has ${stats.size} bytes` };
    return { ok: true, value: JSON.parse(readFileSync(descriptor, "utf8")) };
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { ok: false };
    if (code !== undefined && code !== "ELOOP" && code !== "ENXIO") throw fault;
    return { ok: false, reason: code === undefined ? message : "it is not a regular file" };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Kept for inspection; one per key. */
function setAside(file: string): void {
  try {
    renameSync(file, `${file}${ASIDE}`);
  } catch {
    // Another process was faster, the folder is read-only, or a folder is in the way: the file stays.
  }
}

/** Returns whether it existed. A folder of that name is not ours, and stays. */
function remove(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch (fault) {
    if (["ENOENT", "EISDIR", "EPERM"].includes((fault as NodeJS.ErrnoException).code ?? "")) return false;
    throw fault;
  }
}

/** A reader or another writer sees either the old value or the new one. */
function replace(file: string, text: string): void {
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(temporary, text, { flag: "wx", mode: 0o600 });
    if (lstatSync(file, { throwIfNoEntry: false })?.isDirectory()) setAside(file);
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The store's files, including those set aside, which use space too. */
function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith(ENDING) || name.endsWith(ENDING + ASIDE));
  } catch (fault) {
    if (["ENOENT", "ENOTDIR"].includes((fault as NodeJS.ErrnoException).code ?? "")) return [];
    throw fault;
  }
}
