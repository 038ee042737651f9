/**
 * Reads the entries of a zip archive. The list at its end and the header before each file must agree, and no two
 * entries may share bytes: otherwise another program would unpack another tree, or one small file counts many times.
 */
import { crc32 } from "node:zlib";
import { showPath } from "@metier/base/files";
import { type Entry, fromBufferPromise, type ZipFile } from "yauzl";
import { damaged, limited, unsafe } from "../install-fault.ts";
import type { SourceLimits } from "../source-limits.ts";
import { type ArchiveEntry, checkRatio, decodeName } from "./archive-bytes.ts";

const STORED = 0;
const DEFLATED = 8;
/** Bits of the general purpose flag. */
const ENCRYPTED = 0x1 | 0x40 | 0x2000;
const SIZES_FOLLOW = 0x8;
const ZIP64 = 0xffff_ffff;
const MAX_TARGET_BYTES = 4096;

/** Programs that store a Unix mode in the upper half of the attributes. */
const UNIX_MAKERS = new Set([3, 19]);
const FILE_TYPE = 0xf000;
const FILE_TYPES: ReadonlyMap<number, "file" | "folder" | "link"> = new Map([
  [0, "file"],
  [0x8000, "file"],
  [0x4000, "folder"],
  [0xa000, "link"],
]);

interface ZipEntry {
  readonly entry: Entry;
  readonly path: string;
  readonly kind: "file" | "folder" | "link";
  readonly executable: boolean;
  /** Permission bits; 0 if the archive has none. */
  readonly mode: number;
}

export async function* readZip(bytes: Buffer, limits: SourceLimits): AsyncGenerator<ArchiveEntry, void> {
  const zip = await orRefused(
    fromBufferPromise(bytes, { decodeStrings: false, validateEntrySizes: true, autoClose: false }),
  );
  const entries = await listEntries(zip, limits);
  for (const { entry, path, kind, executable, mode } of entries) {
    const { uncompressedSize: size } = entry;
    if (kind === "folder") yield { kind, path };
    else if (kind === "link") yield { kind, path, target: await readTarget(zip, entry, path) };
    else yield { kind, path, size, executable, mode, content: readContent(zip, entry, path) };
  }
}

/** All are checked before the first is unpacked. */
async function listEntries(zip: ZipFile, limits: SourceLimits): Promise<readonly ZipEntry[]> {
  if (zip.entryCount > limits.files) {
    throw limited(`It has ${zip.entryCount} entries; the limit is ${limits.files}.`);
  }
  const entries: ZipEntry[] = [];
  const spans: { readonly start: number; readonly end: number }[] = [];
  const all = zip.eachEntry();
  for (;;) {
    const step = await orRefused(all.next());
    if (step.done) break;
    const path = decodeName(step.value.fileNameRaw);
    entries.push(describeEntry(step.value, path));
    spans.push(await compareHeaders(zip, step.value, path));
  }
  checkSpans(spans);
  // The declared size is compared with what is unpacked.
  const unpacked = entries.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  checkRatio(unpacked, zip.fileSize);
  return entries;
}

function describeEntry(entry: Entry, name: string): ZipEntry {
  const { compressionMethod: method, uncompressedSize: size, externalFileAttributes } = entry;
  if ((entry.generalPurposeBitFlag & ENCRYPTED) !== 0) {
    throw unsafe(`${showPath(name)} is encrypted; pack it without a password.`);
  }
  if (method !== STORED && method !== DEFLATED) {
    throw unsafe(`${showPath(name)} uses compression method ${method}; only deflate is supported.`);
  }
  const mode = UNIX_MAKERS.has(entry.versionMadeBy >>> 8) ? externalFileAttributes >>> 16 : 0;
  const byMode = FILE_TYPES.get(mode & FILE_TYPE);
  if (byMode === undefined) {
    throw unsafe(`${showPath(name)} is a special file; only files, folders and links are unpacked.`);
  }
  const kind = name.endsWith("/") ? "folder" : byMode;
  if (kind === "folder" && size !== 0) throw unsafe(`${showPath(name)} has content, but is not a file.`);
  return { entry, path: name.replace(/\/$/, ""), kind, executable: (mode & 0o111) !== 0, mode };
}

/** An entry's bytes in the file, including its header. */
async function compareHeaders(
  zip: ZipFile,
  entry: Entry,
  path: string,
): Promise<{ readonly start: number; readonly end: number }> {
  const local = await orRefused(zip.readLocalFileHeaderPromise(entry));
  const follow = (local.generalPurposeBitFlag & SIZES_FOLLOW) !== 0;
  const agree =
    local.fileName.equals(entry.fileNameRaw) &&
    (local.generalPurposeBitFlag & ENCRYPTED) === 0 &&
    local.compressionMethod === entry.compressionMethod &&
    agrees(local.crc32, entry.crc32, follow) &&
    agrees(local.compressedSize, entry.compressedSize, follow) &&
    agrees(local.uncompressedSize, entry.uncompressedSize, follow);
  if (!agree) throw unsafe(`${showPath(path)} has two contradicting descriptions.`);
  return { start: entry.relativeOffsetOfLocalHeader, end: local.fileDataStart + entry.compressedSize };
}

/** A header may omit a value: it then follows the file, or is in a zip64 field. */
function agrees(local: number, central: number, follow: boolean): boolean {
  return local === central || local === ZIP64 || (follow && local === 0);
}

function checkSpans(spans: { readonly start: number; readonly end: number }[]): void {
  let covered = 0;
  for (const [index, { start, end }] of spans.sort((a, b) => a.start - b.start).entries()) {
    if (index === 0 && start > 0)
      throw unsafe(`It has ${start} bytes of other data before the archive starts.`);
    if (start < covered) throw unsafe("Entries of the zip archive overlap.");
    covered = end;
  }
}

async function* readContent(zip: ZipFile, entry: Entry, path: string): AsyncGenerator<Buffer, void> {
  const stream = await orRefused(zip.openReadStreamPromise(entry));
  let sum = 0;
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  for (;;) {
    const step = await orRefused(chunks.next());
    if (step.done) break;
    sum = crc32(step.value, sum);
    yield step.value;
  }
  if (sum !== entry.crc32) throw damaged(`${showPath(path)} is damaged: its checksum does not match.`);
}

async function readTarget(zip: ZipFile, entry: Entry, path: string): Promise<string> {
  if (entry.uncompressedSize > MAX_TARGET_BYTES)
    throw unsafe(`${showPath(path)} is a link with a target that is too long.`);
  const chunks: Buffer[] = [];
  for await (const chunk of readContent(zip, entry, path)) chunks.push(chunk);
  return decodeName(Buffer.concat(chunks));
}

/** What the format's own reader rejects. */
async function orRefused<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (fault) {
    throw damaged(
      `The zip archive is damaged, truncated or of an unknown format: ${(fault as Error).message}.`,
    );
  }
}
