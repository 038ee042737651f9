/**
 * The index on disk: a line of JSON, then arrays of numbers, used directly from the file's bytes. A file that differs
 * from what was written, or is of another version, for other folders or another user's, counts as absent.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, rmSync, type Stats } from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { writeAtomic } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import { isSearchable, type SearchArrays } from "./search-index.ts";
import { PARTS } from "./token-store.ts";

/** Raise this if the same text would become other numbers, or the file format changes. */
const FORMAT = 3;
const INDEX = `metier-find ${FORMAT} ${VERSION} ${endianness()}`;
/** A larger file is not read: space for about a million skills. */
const MAX_BYTES = 8 * 2 ** 30;
/** Bytes per read; one call handles less than 2 GB. */
const MAX_READ = 2 ** 30;
const LINE_END = 0x0a;
/** Every array starts at an offset that suits numbers of any size. */
const ALIGNMENT = 8;
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export const FINGERPRINT_BYTES = 16;

interface FileArrays extends SearchArrays {
  /** For each skill its inputs: its file and stamp, and its manifest's text. */
  readonly fingerprints: Uint8Array;
  /** For each skill its file's last change in milliseconds; infinite for one that must be read again. */
  readonly changed: Float64Array;
}

export interface IndexContent {
  /** What the index is for. */
  readonly subject: string;
  readonly writtenAt: number;
  readonly arrays: FileArrays;
}

interface Heading extends Pick<IndexContent, "subject" | "writtenAt"> {
  readonly index: string;
  readonly skills: number;
  /** How many numbers each array has, in the order of `KINDS`. */
  readonly counts: readonly number[];
  readonly checksum: number;
}

/** The arrays in the order of the file, and what they hold. */
const KINDS = {
  changed: Float64Array,
  lengths: Uint32Array,
  numbers: Uint32Array,
  postings: Uint32Array,
  postingStarts: Uint32Array,
  beside: Uint16Array,
  pairSeconds: Uint32Array,
  pairCounts: Uint32Array,
  pairStarts: Uint32Array,
  units: Uint16Array,
  starts: Uint32Array,
  slots: Uint32Array,
  byShape: Uint32Array,
  shapes: Uint32Array,
  shapeStarts: Uint32Array,
  fingerprints: Uint8Array,
} satisfies Record<keyof FileArrays, unknown>;
const NAMES = Object.keys(KINDS) as readonly (keyof FileArrays)[];

/** A reader sees the complete old index or the complete new one; the last of two writers wins. */
export function writeFindIndex(path: string, { subject, writtenAt, arrays }: IndexContent): void {
  const data = NAMES.flatMap((name) => [bytesOf(arrays[name]), padding(arrays[name].byteLength)]);
  const facts: Omit<Heading, "checksum"> = {
    index: INDEX,
    subject,
    writtenAt,
    skills: arrays.lengths.length / PARTS.length,
    counts: NAMES.map((name) => arrays[name].length),
  };
  const heading: Heading = { ...facts, checksum: checksumOf(facts, data) };
  const line = Buffer.from(JSON.stringify(heading));
  // Spaces before the line break align the first array.
  const blanks = Buffer.alloc(ALIGNMENT - 1 - (line.length % ALIGNMENT), " ");
  try {
    const existing = lstatSync(path, { throwIfNoEntry: false });
    // Another user's file would keep its owner and mode, and never be used.
    if (existing && !isOwn(existing)) rmSync(path, { recursive: true });
    writeAtomic(path, [line, blanks, Buffer.of(LINE_END), ...data], { flush: false });
  } catch {
    // No space or no permission: the next search reads as much as this one.
  }
}

/** `undefined` if there is none that can be used. */
export function readFindIndex(path: string, subject: string): IndexContent | undefined {
  try {
    const bytes = readOwn(path);
    return bytes && unpack(bytes, subject);
  } catch {
    return undefined; // Absent, unreadable or truncated: everything is read again.
  }
}

/** The bytes of a regular file that nobody else can have written. */
function readOwn(path: string): Buffer | undefined {
  const descriptor = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(descriptor);
    if (!isOwn(stats) || stats.size > MAX_BYTES) return undefined;
    // A separate buffer: a slice of a shared one could start anywhere.
    const bytes = Buffer.from(new ArrayBuffer(stats.size));
    let read = 0;
    while (read < bytes.length) {
      const more = readSync(descriptor, bytes, read, Math.min(bytes.length - read, MAX_READ), read);
      if (more === 0) return undefined;
      read += more;
    }
    return bytes;
  } finally {
    closeSync(descriptor);
  }
}

/** On systems with file owners: this user's regular file that others cannot write. */
function isOwn(stats: Stats): boolean {
  const user = process.geteuid?.();
  return stats.isFile() && (user === undefined || (stats.uid === user && (stats.mode & 0o022) === 0));
}

function unpack(bytes: Buffer, subject: string): IndexContent | undefined {
  const end = bytes.indexOf(LINE_END);
  const heading = JSON.parse(bytes.toString("utf8", 0, end)) as Heading;
  const { checksum, ...facts } = heading;
  const { index, skills, counts, writtenAt } = facts;
  if (index !== INDEX || heading.subject !== subject || (end + 1) % ALIGNMENT !== 0) return undefined;
  const data = bytes.subarray(end + 1);
  if (checksumOf(facts, [data]) !== checksum) return undefined;
  const arrays = viewArrays(data, counts);
  const isWhole =
    arrays !== undefined &&
    arrays.lengths.length === skills * PARTS.length &&
    arrays.changed.length === skills &&
    arrays.fingerprints.length === skills * FINGERPRINT_BYTES &&
    isSearchable(arrays);
  return isWhole ? { subject, writtenAt, arrays } : undefined;
}

/** `undefined` if the arrays do not fill the data exactly. */
function viewArrays(data: Buffer, counts: readonly number[]): FileArrays | undefined {
  const found: Partial<Record<keyof FileArrays, unknown>> = {};
  let at = 0;
  for (const [index, name] of NAMES.entries()) {
    const count = counts[index] ?? -1;
    const size = count * KINDS[name].BYTES_PER_ELEMENT;
    if (!Number.isSafeInteger(count) || count < 0 || size > data.length - at) return undefined;
    found[name] = new KINDS[name](data.buffer as ArrayBuffer, data.byteOffset + at, count);
    at += size + padding(size).length;
  }
  return at === data.length ? (found as FileArrays) : undefined;
}

function padding(size: number): Uint8Array {
  return new Uint8Array((ALIGNMENT - (size % ALIGNMENT)) % ALIGNMENT);
}

/** Over everything: a wrong number in the heading would misread the data. */
function checksumOf(facts: Omit<Heading, "checksum">, data: readonly Uint8Array[]): number {
  let checksum = crc32(JSON.stringify(facts));
  for (const piece of data) {
    for (let at = 0; at < piece.length; at += MAX_READ) {
      checksum = crc32(piece.subarray(at, at + MAX_READ), checksum);
    }
  }
  return checksum;
}

function bytesOf(numbers: FileArrays[keyof FileArrays]): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
