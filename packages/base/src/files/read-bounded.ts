/**
 * Reading what may be anything: regular files of a bounded size, and every file below a folder, whatever it is called. No
 * link is followed, and where it cannot be done within bounds it says so instead of giving a part.
 */
import { isUtf8 } from "node:buffer";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { namedEntries } from "./named-entries.ts";

type Encoding = "utf-8" | "utf-16le" | "utf-16be";

export type BoundedRead =
  | {
      readonly ok: true;
      readonly text: string;
      /** Invalid bytes were replaced, or the file is in another encoding. */
      readonly notUtf8: boolean;
      readonly encoding: Encoding;
      /** Bytes that were read. */
      readonly size: number;
      readonly stats: BigIntStats;
    }
  | {
      readonly ok: false;
      readonly reason: "unreadable" | "too-large" | "not-a-file";
      readonly message: string;
      readonly size?: number;
    };

/** A pipe that nobody writes to must not keep the open waiting. Windows has no such flag. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const WITH_NANOSECONDS = { bigint: true } as const;

/** Reused between calls, since most skill files fit; the text is a copy. */
let scratch: Buffer = Buffer.allocUnsafeSlow(65_536);
const MAX_SCRATCH = 1_048_576;

export function readBounded(file: string, maxBytes: number): BoundedRead {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, OPEN_FLAGS);
    return readDescriptor(descriptor, file, maxBytes);
  } catch (error) {
    return describeFailure(error, file);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function readDescriptor(descriptor: number, file: string, maxBytes: number): BoundedRead {
  const stats = fstatSync(descriptor, WITH_NANOSECONDS);
  if (!stats.isFile()) return notAFile(file);
  const expected = Number(stats.size);
  if (expected > maxBytes) return tooLarge(file, expected, maxBytes);
  // One byte more than expected: a short read then proves the end, also for a file that has grown since.
  let buffer = reserve(Math.max(expected, 4096) + 1);
  let size = readSync(descriptor, buffer, 0, buffer.length, null);
  while (size === buffer.length && size <= maxBytes) {
    const larger = Buffer.allocUnsafe(Math.min(size * 2, maxBytes + 1));
    buffer.copy(larger, 0, 0, size);
    buffer = larger;
    size += readSync(descriptor, buffer, size, buffer.length - size, null);
  }
  if (size > maxBytes) return tooLarge(file, size, maxBytes);
  return decode(buffer, size, stats);
}

function reserve(length: number): Buffer {
  if (length > MAX_SCRATCH) return Buffer.allocUnsafe(length);
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(MAX_SCRATCH);
  return scratch;
}

function decode(buffer: Buffer, size: number, stats: BigIntStats): BoundedRead {
  const mark = size >= 2 ? buffer.readUInt16BE(0) : 0;
  const encoding = mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8";
  if (encoding !== "utf-8") {
    const text = new TextDecoder(encoding).decode(buffer.subarray(0, size));
    return { ok: true, text, notUtf8: true, encoding, size, stats };
  }
  const text = buffer.toString("utf8", 0, size);
  // What is invalid was replaced by this character; a file may also have it of its own.
  const notUtf8 = text.includes("\ufffd") && !isUtf8(buffer.subarray(0, size));
  return { ok: true, text, notUtf8, encoding, size, stats };
}

function notAFile(file: string): BoundedRead {
  return { ok: false, reason: "not-a-file", message: `\`${file}\` is not a regular file.` };
}

function tooLarge(file: string, size: number, maxBytes: number): BoundedRead {
  const message = `\`${file}\` has ${size} bytes; at most ${maxBytes} are read.`;
  return { ok: false, reason: "too-large", message, size };
}

function describeFailure(error: unknown, file: string): BoundedRead {
  const { code = "unknown fault" } = error as NodeJS.ErrnoException;
  // A socket, or a device without a driver.
  if (code === "ENXIO") return notAFile(file);
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "it does not exist",
    EACCES: "permission was denied",
    EPERM: "permission was denied",
    ELOOP: "its links go round in circles",
    ENOTDIR: "a part of its path is not a directory",
    EISDIR: "it is a directory",
  };
  return {
    ok: false,
    reason: code === "EISDIR" ? "not-a-file" : "unreadable",
    message: `\`${file}\` cannot be read: ${reasons[code] ?? "the system refused"} (${code}).`,
  };
}

export interface ListedFile {
  /** Below the folder, with `/` between segments. */
  readonly path: string;
  /** `special`: a FIFO, device or socket. */
  readonly kind: "file" | "link" | "special";
}

export type FileListing =
  /** Sorted by the bytes of the UTF-8 path. */
  | {
      readonly ok: true;
      readonly files: readonly ListedFile[];
      /** Also those without a file, in no order; the folder itself is the empty text. */
      readonly folders: readonly string[];
    }
  | {
      readonly ok: false;
      readonly fault: "too-many" | "unreadable" | "name-not-utf8";
      /** The folder that could not be listed, or the one the entry stands in; absolute. */
      readonly path: string;
      readonly detail: string;
    };

interface SortableFile extends ListedFile {
  readonly bytes: Buffer;
}

/** Lists `root`, which is a folder itself; `maxEntries` counts folders too. */
export function listFiles(root: string, maxEntries: number): FileListing {
  const files: SortableFile[] = [];
  const folders: string[] = [];
  const pending = [""];
  let entries = 0;
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const path = join(root, folder);
    folders.push(folder);
    let listed: ReturnType<typeof namedEntries>;
    try {
      listed = namedEntries(path);
    } catch (error) {
      return { ok: false, fault: "unreadable", path, detail: (error as Error).message };
    }
    entries += listed.length;
    if (entries > maxEntries) {
      return { ok: false, fault: "too-many", path: root, detail: `more than ${maxEntries} entries` };
    }
    for (const entry of listed) {
      if (!isUtf8(entry.name))
        return { ok: false, fault: "name-not-utf8", path, detail: showBytes(entry.name) };
      const below = folder === "" ? entry.name.toString() : `${folder}/${entry.name.toString()}`;
      if (entry.isDirectory()) pending.push(below);
      else files.push({ path: below, kind: fileKind(entry), bytes: Buffer.from(below) });
    }
  }
  files.sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  return { ok: true, files: files.map(({ path, kind }) => ({ path, kind })), folders };
}

function fileKind(entry: ReturnType<typeof namedEntries>[number]): ListedFile["kind"] {
  return entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : "special";
}

/** `caf\xe9.md` for a Latin-1 name: readable, and nothing in it can act on a terminal. */
function showBytes(name: Buffer): string {
  return name.toString("latin1").replace(/[^ -~]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
