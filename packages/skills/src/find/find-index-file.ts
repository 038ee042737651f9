/**
 * The index on disk: a line of JSON, then arrays of numbers, which are used where they stand in the file's bytes. What is not
 * exactly as it was written, of another version, for other folders or of another user counts as not there.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, rmSync, type Stats } from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { writeAtomic } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import { isSearchable, type SearchArrays } from "./search-index.ts";
import { PARTS } from "./token-store.ts";

/** Raise when the same text would become other numbers, or the file another form. */
const FORMAT = 3;
const INDEX = `metier-find ${FORMAT} ${VERSION} ${endianness()}`;
/** A larger file is not read: room for about a million skills. */
const MAX_BYTES = 8 * 2 ** 30;
/** Read at a time; one call takes less than 2 GB. */
const MAX_READ = 2 ** 30;
const LINE_END = 0x0a;
/** Every array begins where a number of any size may begin. */
const ALIGNMENT = 8;
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

export const FINGERPRINT_BYTES = 16;

interface FileArrays extends SearchArrays {
  /** For each skill what it was made of: its file and stamp, and what its manifest says. */
  readonly fingerprints: Uint8Array;
  /** For each skill the last change of its file in milliseconds; infinite for one that must be read again. */
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

/** A reader sees the old index or the new one, whole; the last of two writers wins. */
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
  // Blanks before the line end put the first array where it may begin.
  const blanks = Buffer.alloc(ALIGNMENT - 1 - (line.length % ALIGNMENT), " ");
  try {
    const existing = lstatSync(path, { throwIfNoEntry: false });
    // A file of another user would keep its owner and mode, and never be used.
    if (existing && !isOwn(existing)) rmSync(path, { recursive: true });
    writeAtomic(path, [line, blanks, Buffer.of(LINE_END), ...data], { flush: false });
  } catch {
    // No room or no permission: the next search reads as much as this one.
  }
}

/** `undefined` when there is none, or none that can be used. */
export function readFindIndex(path: string, subject: string): IndexContent | undefined {
  try {
    const bytes = readOwn(path);
    return bytes && unpack(bytes, subject);
  } catch {
    return undefined; // Absent, unreadable or cut short: everything is read anew.
  }
}

/** The bytes of a regular file that nobody else can have written. */
function readOwn(path: string): Buffer | undefined {
  const descriptor = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(descriptor);
    if (!isOwn(stats) || stats.size > MAX_BYTES) return undefined;
    // A buffer of its own: a piece of a shared one could begin anywhere.
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

/** Where files have owners: a regular file of this user that others cannot write. */
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

/** `undefined` when the arrays do not fill the data exactly. */
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

/** Of everything: a wrong number in the heading would read the data as something else. */
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
