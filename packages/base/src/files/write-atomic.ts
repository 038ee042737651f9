/**
 * Writes and removes so that a kill leaves either the old or the new state: whole files, names that show their owner
 * (so that the next process can clean up after a killed one), and folders that a program has locked.
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
  /** Whether the text must survive a power cut. Default: yes; a cache need not. */
  readonly flush?: boolean;
  /** The mode of a new file. Default: 0600. */
  readonly mode?: number;
}

/** Large content may come in pieces, so that nobody has to hold it all. */
type FileContent = string | Uint8Array | readonly (string | Uint8Array)[];

/** Keeps the mode and owner of an existing file, and writes through a link to its target. */
export function writeAtomic(file: string, content: FileContent, options: WriteOptions = {}): boolean {
  const target = followLink(resolve(file));
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  return replaceFile(target, content, options);
}

/** Like `writeAtomic`, in an existing folder; a link with that name is replaced, not followed. */
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

/** A file written piece by piece that replaces another once it is complete. */
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

/** Removes what killed writers left next to a file. */
export function removeLeftovers(file: string): void {
  const target = followLink(resolve(file));
  if (existsSync(dirname(target))) removeAbandoned(dirname(target), frameOf(target));
}

function frameOf(target: string): NameFrame {
  return { prefix: `.${basename(target)}.`, suffix: ".tmp" };
}

/** The target of a link, even if nothing is there yet. */
function followLink(path: string): string {
  try {
    return realpathSync(path);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "ENOENT") throw fault;
  }
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return path; // Not a link: a file that doesn't exist yet.
  }
}

function keepModeAndOwner(descriptor: number, existing: Stats): void {
  if (existing.uid !== process.getuid?.()) tryToKeepOwner(descriptor, existing);
  fchmodSync(descriptor, existing.mode & 0o7777);
}

/** Root editing a user's file must not take it from them. Other users can't give files away and keep the new one. */
function tryToKeepOwner(descriptor: number, { uid, gid }: Stats): void {
  try {
    fchownSync(descriptor, uid, gid);
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== "EPERM") throw fault;
  }
}

const CANNOT_FLUSH = new Set(["EISDIR", "EPERM", "EACCES", "EINVAL", "ENOTSUP"]);

/** Makes the rename itself durable, if the system can flush folders. */
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

/** Nothing takes this long; by then, the process number may belong to another process. */
const ABANDONED_AFTER_MS = 24 * 60 * 60_000;
const OWNER = /^(?<pid>\d+)-(?<host>[0-9a-f]{8})-[0-9a-f]{16}$/;

/** The text around the part that names the owner. */
interface NameFrame {
  readonly prefix?: string;
  readonly suffix?: string;
}

export function makeOwnedName({ prefix = "", suffix = "" }: NameFrame = {}): string {
  return `${prefix}${process.pid}-${hostMark()}-${randomMark()}${suffix}`;
}

/** What the system won't delete is left for a later attempt. */
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
    // In use, or not ours: the next one tries again.
  }
}

/** A process on another machine that shares this folder can't be checked, so only time tells. */
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

/** Makes them accessible to their owner, who alone can do so. */
function openFolders(root: string): void {
  const pending = [root];
  for (const folder of pending) {
    chmodSync(folder, 0o700);
    const entries = readdirSync(folder, { withFileTypes: true });
    for (const entry of entries) if (entry.isDirectory()) pending.push(join(folder, entry.name));
  }
}
