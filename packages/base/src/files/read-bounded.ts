/**
 * Reads untrusted files: regular files of limited size, and every file in a folder, no matter its name. Follows no
 * links. If a limit is exceeded, it says so instead of returning a part.
 */
import { isUtf8 } from "node:buffer";
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { namedEntries } from "./named-entries.ts";

type Encoding = "utf-8" | "utf-16le" | "utf-16be";

export type BoundedRead =
  | (DecodedText & {
      readonly ok: true;
      /** Bytes that were read. */
      readonly size: number;
      readonly stats: BigIntStats;
    })
  | ReadFault;

type BoundedBytes =
  | {
      readonly ok: true;
      /** Valid only until the next file is read: most files share one buffer. */
      readonly bytes: Buffer;
      readonly stats: BigIntStats;
    }
  | ReadFault;

interface DecodedText {
  readonly text: string;
  /** Invalid bytes were replaced, or the file uses another encoding. */
  readonly notUtf8: boolean;
  readonly encoding: Encoding;
}

interface ReadFault {
  readonly ok: false;
  readonly reason: "unreadable" | "too-large" | "not-a-file";
  readonly message: string;
  readonly size?: number;
}

/** Keeps a pipe without a writer from blocking. Windows has no such flag. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const WITH_NANOSECONDS = { bigint: true } as const;

/** Reused between calls, since most skill files fit; the text is a copy. */
let scratch: Buffer = Buffer.allocUnsafeSlow(65_536);
const MAX_SCRATCH = 1_048_576;

export function readBounded(file: string, maxBytes: number): BoundedRead {
  const read = readBoundedBytes(file, maxBytes);
  if (!read.ok) return read;
  const { bytes, stats } = read;
  return { ok: true, ...decodeBytes(bytes), size: bytes.length, stats };
}

export function readBoundedBytes(file: string, maxBytes: number): BoundedBytes {
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

function readDescriptor(descriptor: number, file: string, maxBytes: number): BoundedBytes {
  const stats = fstatSync(descriptor, WITH_NANOSECONDS);
  if (!stats.isFile()) return notAFile(file);
  const expected = Number(stats.size);
  if (expected > maxBytes) return tooLarge(file, expected, maxBytes);
  // One byte more than expected: a short read then proves the end, even if the file has grown.
  let buffer = reserve(Math.max(expected, 4096) + 1);
  let size = readSync(descriptor, buffer, 0, buffer.length, null);
  while (size === buffer.length && size <= maxBytes) {
    const larger = Buffer.allocUnsafe(Math.min(size * 2, maxBytes + 1));
    buffer.copy(larger, 0, 0, size);
    buffer = larger;
    size += readSync(descriptor, buffer, size, buffer.length - size, null);
  }
  if (size > maxBytes) return tooLarge(file, size, maxBytes);
  return { ok: true, bytes: buffer.subarray(0, size), stats };
}

function reserve(length: number): Buffer {
  if (length > MAX_SCRATCH) return Buffer.allocUnsafe(length);
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(MAX_SCRATCH);
  return scratch;
}

export function decodeBytes(bytes: Buffer): DecodedText {
  const mark = bytes.length >= 2 ? bytes.readUInt16BE(0) : 0;
  const encoding = mark === 0xfffe ? "utf-16le" : mark === 0xfeff ? "utf-16be" : "utf-8";
  if (encoding !== "utf-8") {
    return { text: new TextDecoder(encoding).decode(bytes), notUtf8: true, encoding };
  }
  const text = bytes.toString("utf8");
  // Invalid bytes were replaced with this character, which the file may also contain itself.
  const notUtf8 = text.includes("\ufffd") && !isUtf8(bytes);
  return { text, notUtf8, encoding };
}

function notAFile(file: string): ReadFault {
  return { ok: false, reason: "not-a-file", message: `\`${file}\` is not a regular file.` };
}

function tooLarge(file: string, size: number, maxBytes: number): ReadFault {
  const message = `\`${file}\` has ${size} bytes; the limit is ${maxBytes} bytes.`;
  return { ok: false, reason: "too-large", message, size };
}

function describeFailure(error: unknown, file: string): ReadFault {
  const { code = "unknown fault" } = error as NodeJS.ErrnoException;
  // A socket, or a device without a driver.
  if (code === "ENXIO") return notAFile(file);
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "it does not exist",
    EACCES: "permission denied",
    EPERM: "permission denied",
    ELOOP: "its links form a loop",
    ENOTDIR: "part of its path is not a directory",
    EISDIR: "it is a directory",
  };
  return {
    ok: false,
    reason: code === "EISDIR" ? "not-a-file" : "unreadable",
    message: `\`${file}\` can't be read: ${reasons[code] ?? "the system refused"} (${code}).`,
  };
}

export interface ListedFile {
  /** Relative to the folder, with `/` between segments. */
  readonly path: string;
  /** `special`: a FIFO, device or socket. */
  readonly kind: "file" | "link" | "special";
}

export type FileListing =
  /** Sorted by the bytes of the UTF-8 path. */
  | {
      readonly ok: true;
      readonly files: readonly ListedFile[];
      /** Includes folders without files, in no order; the folder itself is the empty string. */
      readonly folders: readonly string[];
    }
  | {
      readonly ok: false;
      readonly fault: "too-many" | "unreadable" | "name-not-utf8";
      /** The folder that couldn't be listed, or the one that holds the entry; absolute. */
      readonly path: string;
      readonly detail: string;
    };

interface SortableFile extends ListedFile {
  readonly bytes: Buffer;
}

/** Lists `root`, which must be a folder; `maxEntries` counts folders too. */
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

/** `caf\xe9.md` for a Latin-1 name: readable, and harmless in a terminal. */
function showBytes(name: Buffer): string {
  return name.toString("latin1").replace(/[^ -~]/g, (character) => {
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
  });
}
