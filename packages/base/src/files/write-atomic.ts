/**
 * Writing and removing so that a kill leaves the old or the new: whole files, names that say whose they are (the next
 * process removes what a killed one left), and folders that a program has closed to everyone.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { isAlive } from "../programs.ts";
import { markOf, randomMark } from "../text.ts";

interface WriteOptions {
  /** Asked right before the file is replaced; `false` leaves everything as it is. */
  onlyIf?(): boolean;
  /** Whether the text must outlast a power cut. Default: yes; a cache need not. */
  readonly flush?: boolean;
  /** Of a new file. Default: 0600. */
  readonly mode?: number;
}

/** What is large may come in pieces, so that nobody has to hold it as one. */
type FileContent = string | Uint8Array | readonly (string | Uint8Array)[];

/** Keeps the mode and owner of a file that is there, and writes through a link to its target. */
export function writeAtomic(file: string, content: FileContent, options: WriteOptions = {}): boolean {
  const target = followLink(resolve(file));
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  return replaceFile(target, content, options);
}

/** As `writeAtomic`, in a folder that is there; a link of that name is replaced, not followed. */
export function replaceFile(target: string, content: FileContent, options: WriteOptions = {}): boolean {
  const replacement = beginReplacing(target, options);
  try {
    const pieces = typeof content === "string" || content instanceof Uint8Array ? [content] : content;
    for (const piece of pieces) replacement.write(piece);
    return replacement.finish();
  } finally {
    replacement.drop();
  }
}

/** A file that is written piece by piece, and takes the place of another when it is whole. */
export interface Replacement {
  write(piece: string | Uint8Array): void;
  /** Whether it was put in place. */
  finish(): boolean;
  /** Leaves everything as it was, unless it was finished. */
  drop(): void;
}

export function beginReplacing(
  target: string,
  { onlyIf, flush = true, mode = 0o600 }: WriteOptions = {},
): Replacement {
  const existing = lstatSync(target, { throwIfNoEntry: false });
  const replaced = existing?.isFile() ? existing : undefined;
  const folder = dirname(target);
  const temporary = join(folder, makeOwnedName(frameOf(target)));
  let descriptor: number | undefined = openSync(temporary, "wx", replaced ? 0o600 : mode);
  const close = (): void => {
    if (descriptor !== undefined) closeSync(descriptor);
    descriptor = undefined;
  };
  return {
    write: (piece) => writeFileSync(descriptor ?? -1, piece),
    finish() {
      if (descriptor === undefined) return false;
      if (replaced) keepModeAndOwner(descriptor, replaced);
      if (flush) fsyncSync(descriptor);
      close();
      if (onlyIf?.() === false) return false;
      renameSync(temporary, target);
      if (flush) flushFolder(folder);
      return true;
    },
    drop() {
      close();
      rmSync(temporary, { force: true });
    },
  };
}

/** Removes what killed writers of a file left beside it. */
export function removeLeftovers(file: string): void {
  const target = followLink(resolve(file));
  if (existsSync(dirname(target))) removeAbandoned(dirname(target), frameOf(target));
}

function frameOf(target: string): NameFrame {
  return { prefix: `.${basename(target)}.`, suffix: ".tmp" };
}

/** Where a link leads, also when nothing is there yet. */
function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "ENOENT") throw fault;
  }
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return path; // No link: a file that is yet to be made.
  }
}

function keepModeAndOwner(descriptor: number, existing: Stats): void {
  if (existing.uid !== process.getuid?.()) tryToKeepOwner(descriptor, existing);
  fchmodSync(descriptor, existing.mode & 0o7777);
}

/** Root editing a user's file must not take it from them. Anyone else cannot give files away and keeps the new one. */
function tryToKeepOwner(descriptor: number, { uid, gid }: Stats): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "EPERM") throw fault;
  }
}

const CANNOT_FLUSH = new Set(["EISDIR", "EPERM", "EACCES", "EINVAL", "ENOTSUP"]);

/** Makes the rename itself durable, where the system lets folders be flushed. */
export function flushFolder(folder: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, "r");
    fsyncSync(descriptor);
  } catch (fault) {
    if (!CANNOT_FLUSH.has((fault as NodeJS.ErrnoException).code ?? "")) throw fault;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Nothing takes so long; a number may have passed to another process meanwhile. */
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;
const OWNER = /^(?<pid>\d+)-(?<host>[0-9a-f]{8})-[0-9a-f]{16}$/;

/** What stands around the part that names the owner. */
interface NameFrame {
  readonly prefix?: string;
  readonly suffix?: string;
}

export function makeOwnedName({ prefix = "", suffix = "" }: NameFrame = {}): string {
  return `${prefix}${process.pid}-${hostMark()}-${randomMark()}${suffix}`;
}

/** What the system does not let go is left to a later attempt. */
export function removeAbandoned(folder: string, { prefix = "", suffix = "" }: NameFrame = {}): void {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(prefix) || !name.endsWith(suffix)) continue;
    const owner = OWNER.exec(name.slice(prefix.length, name.length - suffix.length))?.groups;
    const path = join(folder, name);
    if (owner && isAbandoned(owner, path)) tryToRemove(path);
  }
}

export function tryToRemove(folder: string): void {
  try {
    removeFolder(folder);
  } catch {
    // Held by someone, or not ours: the next one tries again.
  }
}

/** A process of another machine that shares this folder cannot be asked, so only time tells. */
function isAbandoned({ pid, host }: Readonly<Record<string, string>>, path: string): boolean {
  if (host === hostMark() && !isAlive(Number(pid))) return true;
  const madeAt = lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - madeAt > ABANDONED_AFTER_MS;
}

let mark: string | undefined;

function hostMark(): string {
  mark ??= markOf(hostname()).slice(0, 8);
  return mark;
}

export function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    if (!["EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    openFolders(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** To their owner, who alone can do so. */
function openFolders(root: string): void {
  const pending = [root];
  for (const folder of pending) {
    chmodSync(folder, 0o700);
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries) if (entry.isDirectory()) pending.push(join(folder, entry.name));
  }
}
