/**
 * A skill's exact content: the basis of skill grants, lock entries and reports. Covers every file. A link counts as its
 * target text and is never followed. Computed on demand; a list uses what is known from the files' timestamps.
 */
import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { digestBytes } from "@metier/base/digest";
import { readBounded, writeAtomic } from "@metier/base/files";
import { realPathOr } from "@metier/base/places";
import { done, type Refused, type Result } from "@metier/base/result";
import { compareText } from "@metier/base/text";
import { identifyNatively } from "./identify-natively.ts";
import {
  type ContentFile,
  type ContentListing,
  IDENTITY_LIMITS,
  type IdentityLimits,
  listContent,
  listFolderContent,
  refuseIdentity,
  refuseUnreadable,
  type SkillContent,
} from "./list-content.ts";

export interface ContentIdentity {
  /** `sha256:…` */
  readonly digest: string;
  /** Sorted by the bytes of the UTF-8 path. */
  readonly files: readonly StampedFile[];
}

export interface IdentifiedFile {
  /** In the skill's folder, with `/` between segments. */
  readonly path: string;
  /** A file, or a link, which is never followed. */
  readonly kind: "file" | "link";
  /** In bytes; for a link, the length of its target. */
  readonly size: number;
  /** For anyone: owner, group or others. Never true for a link, nor on Windows. */
  readonly executable: boolean;
  /** `sha256:…` of the content; for a link, of its target. */
  readonly digest: string;
}

export interface StampedFile extends IdentifiedFile {
  /** Device, inode, mode, size and times: while they stay the same, so does the content. */
  readonly stamp: string;
}

export type ContentChange = "added" | "removed" | "changed" | "mode";

export interface FileChange {
  /** In the skill's folder, with `/`. */
  readonly path: string;
  /** What happened to the file. */
  readonly change: ContentChange;
}

/** Hashes a skill's folder; for a flat skill, its one file under its file name. */
export function identifyContent(
  content: SkillContent,
  limits: IdentityLimits = IDENTITY_LIMITS,
): Result<ContentIdentity, Diagnostic> {
  return identifyListing(listContent(content, limits), limits);
}

/** The same for a folder, whichever of its files is the skill's. */
export function identifyFolder(
  folder: string,
  limits: IdentityLimits = IDENTITY_LIMITS,
): Result<ContentIdentity, Diagnostic> {
  const files = identifyNatively(folder, limits);
  if (files) return done({ digest: digestFiles(files), files });
  return identifyListing(listFolderContent(folder, limits), limits);
}

function identifyListing(
  listing: ContentListing,
  limits: IdentityLimits,
): Result<ContentIdentity, Diagnostic> {
  if (!listing.ok) return listing;
  const files: StampedFile[] = [];
  let bytesLeft = limits.bytes;
  for (const entry of listing.value) {
    const outcome = identifyFile(entry, bytesLeft);
    if (!outcome.ok) return outcome;
    files.push(outcome.value);
    bytesLeft -= outcome.value.size;
  }
  return done({ digest: digestFiles(files), files });
}

/**
 * The digest of content with these files. Per file, in the given order: u32be path length, path, u64be size, one mode
 * byte, the file's 32-byte SHA-256.
 */
export function digestFiles(files: readonly IdentifiedFile[]): string {
  // With room for the numbers and, per byte of a digest, two digits.
  const room = files.reduce((sum, { path, digest }) => sum + 13 + Buffer.byteLength(path) + digest.length, 0);
  const list = Buffer.alloc(room);
  let at = 0;
  for (const file of files) {
    const length = list.write(file.path, at + 4);
    list.writeUInt32BE(length, at);
    at += 4 + length;
    list.writeBigUInt64BE(BigInt(file.size), at);
    list.writeUInt8(modeByte(file), at + 8);
    at += 9 + list.write(file.digest.slice("sha256:".length), at + 9, "hex");
  }
  return digestBytes(list.subarray(0, at));
}

/**
 * The executable bit; 2 for a link, so that a file with a path as content cannot be swapped for a link to that path.
 */
function modeByte(file: IdentifiedFile): 0 | 1 | 2 {
  if (file.kind === "link") return 2;
  return file.executable ? 1 : 0;
}

/** What differs, sorted by path; a renamed file is one removed and one added. `mode`: only the executable bit. */
export function compareIdentity(
  before: readonly IdentifiedFile[],
  after: readonly IdentifiedFile[],
): readonly FileChange[] {
  const unseen = new Map(before.map((file) => [file.path, file]));
  const changes: FileChange[] = [];
  for (const file of after) {
    const change = compareFile(unseen.get(file.path), file);
    if (change) changes.push({ path: file.path, change });
    unseen.delete(file.path);
  }
  for (const path of unseen.keys()) changes.push({ path, change: "removed" });
  return changes.sort((a, b) => compareText(a.path, b.path));
}

export function compareFile(
  before: IdentifiedFile | undefined,
  after: IdentifiedFile,
): ContentChange | undefined {
  if (!before) return "added";
  if (before.kind !== after.kind || before.digest !== after.digest) return "changed";
  return before.executable === after.executable ? undefined : "mode";
}

const CHUNK = 1024 * 1024;
/** Never through a link, and never blocking on a FIFO that replaced the file. */
export const OPEN_FLAGS: number =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Hashes one file or link of at most `maxBytes`. Stamp and digest come from the same open file, and a file that changes
 * during reading has neither: a digest always belongs to the same bytes as its stamp.
 */
export function identifyFile(entry: ContentFile, maxBytes: number): Result<StampedFile, Diagnostic> {
  try {
    return entry.kind === "link" ? identifyLink(entry) : identifyRegularFile(entry, maxBytes);
  } catch (error) {
    return refuseUnreadable(entry.file, error);
  }
}

export function stampOf(stats: BigIntStats): string {
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = stats;
  return `${dev}:${ino}:${mode}:${size}:${mtimeNs}:${ctimeNs}`;
}

function identifyLink({ path, file }: ContentFile): Result<StampedFile, Diagnostic> {
  const stamp = stampOf(lstatSync(file, { bigint: true }));
  const target = readlinkSync(file, { encoding: "buffer" });
  if (stampOf(lstatSync(file, { bigint: true })) !== stamp) return refuseUnstable(file);
  const digest = digestBytes(target);
  return done({ path, kind: "link", size: target.length, executable: false, digest, stamp });
}

function identifyRegularFile({ path, file }: ContentFile, maxBytes: number): Result<StampedFile, Diagnostic> {
  const descriptor = openSync(file, OPEN_FLAGS);
  try {
    const before = fstatSync(descriptor, { bigint: true });
    if (!before.isFile()) return refuseUnstable(file);
    if (before.size > maxBytes) {
      const message = `It has ${before.size} bytes, but only ${maxBytes} of the skill's size limit are left.`;
      return refuseIdentity("identity.limit", file, message);
    }
    const size = Number(before.size);
    const digest = hashBytes(descriptor, size);
    const stamp = stampOf(before);
    if (digest === undefined || stampOf(fstatSync(descriptor, { bigint: true })) !== stamp)
      return refuseUnstable(file);
    const executable = (before.mode & 0o111n) !== 0n;
    return done({ path, kind: "file", size, executable, digest, stamp });
  } finally {
    closeSync(descriptor);
  }
}

/** `undefined` if the file does not have exactly `size` bytes. */
function hashBytes(descriptor: number, size: number): string | undefined {
  // One byte more than expected, to notice a file that has grown.
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK, size + 1));
  if (size < CHUNK && readSync(descriptor, chunk, 0, chunk.length, 0) === size)
    return digestBytes(chunk.subarray(0, size)); // Fewer than requested: this is its end.
  const hash = createHash("sha256");
  let total = 0;
  for (let read = readSync(descriptor, chunk); read > 0; read = readSync(descriptor, chunk)) {
    total += read;
    if (total > size) return undefined;
    hash.update(chunk.subarray(0, read));
  }
  return total === size ? `sha256:${hash.digest("hex")}` : undefined;
}

function refuseUnstable(file: string): Refused<Diagnostic> {
  return refuseIdentity("identity.unstable", file, "It changed during reading.");
}

export interface KnownDigests {
  /** A folder's content identity; `undefined` if it cannot be determined within the limits. */
  of(folder: string): string | undefined;
}

const MAX_ENTRIES = 2_000;
const MAX_RECORD_BYTES = 1024 * 1024;
/** For all folders of one list together. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/**
 * The content of installed skills' copies, for lists: hashed once, and then known while no file's stamp differs. Only a
 * cache in the home folder, and never used for a use. Hashing is bounded, since a project's lock may name anything in
 * the project. Without a cache folder everything is hashed each time.
 */
export function openKnownDigests(cacheFolder: string | undefined): KnownDigests {
  let bytesLeft = MAX_HASHED_BYTES;
  return {
    of(folder) {
      const real = realPathOr(folder);
      const record =
        cacheFolder && join(cacheFolder, "identities", `${digestBytes(real).slice("sha256:".length)}.json`);
      const known = record && recall(record, real);
      if (known) return known;
      const identified = identifyFolder(real, { entries: MAX_ENTRIES, bytes: bytesLeft });
      if (!identified.ok) return undefined;
      const { digest, files } = identified.value;
      bytesLeft -= files.reduce((sum, { size }) => sum + size, 0);
      if (record) keep(record, identified.value);
      return digest;
    },
  };
}

/** By path, each file's stamp. */
type Stamps = Readonly<Record<string, unknown>>;

function recall(record: string, folder: string): string | undefined {
  const read = readBounded(record, MAX_RECORD_BYTES);
  if (!read.ok) return undefined;
  try {
    const { digest, stamps } = JSON.parse(read.text) as { readonly digest: unknown; readonly stamps: Stamps };
    return typeof digest === "string" && hasStamps(folder, stamps) ? digest : undefined;
  } catch {
    return undefined; // Damaged, or a file was removed: it is hashed again.
  }
}

function hasStamps(folder: string, stamps: Stamps): boolean {
  const listing = listFolderContent(folder, { entries: MAX_ENTRIES, bytes: 0 });
  return (
    listing.ok &&
    listing.value.length === Object.keys(stamps).length &&
    listing.value.every(({ path, file }) => stamps[path] === stampOf(lstatSync(file, { bigint: true })))
  );
}

function keep(record: string, { digest, files }: ContentIdentity): void {
  const stamps = Object.fromEntries(files.map(({ path, stamp }) => [path, stamp]));
  try {
    writeAtomic(record, JSON.stringify({ digest, stamps }), { flush: false });
  } catch {
    // No space or no permission: the next list hashes it again.
  }
}
