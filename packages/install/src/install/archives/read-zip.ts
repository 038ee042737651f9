/**
 * The entries of a zip archive. The list at its end and the headers before each file must say the same, and no two
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

/** Programs that put a Unix mode into the upper half of the attributes. */
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
  /** Permission bits; 0 where the archive has none. */
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

/** All of them are checked before the first is unpacked. */
async function listEntries(zip: ZipFile, limits: SourceLimits): Promise<readonly ZipEntry[]> {
  if (zip.entryCount > limits.files) {
    throw limited(`It has ${zip.entryCount} entries; at most ${limits.files} are unpacked.`);
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
  // What an entry announces is held against what comes out of it.
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
    throw unsafe(`${showPath(name)} is packed by method ${method}; only deflate is unpacked.`);
  }
  const mode = UNIX_MAKERS.has(entry.versionMadeBy >>> 8) ? externalFileAttributes >>> 16 : 0;
  const byMode = FILE_TYPES.get(mode & FILE_TYPE);
  if (byMode === undefined) {
    throw unsafe(`${showPath(name)} is a special file: only files, folders and links are unpacked.`);
  }
  const kind = name.endsWith("/") ? "folder" : byMode;
  if (kind === "folder" && size !== 0) throw unsafe(`${showPath(name)} has content, but is no file.`);
  return { entry, path: name.replace(/\/$/, ""), kind, executable: (mode & 0o111) !== 0, mode };
}

/** The bytes of the file that an entry takes, header included. */
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
  if (!agree) throw unsafe(`${showPath(path)} is described in two ways that contradict each other.`);
  return { start: entry.relativeOffsetOfLocalHeader, end: local.fileDataStart + entry.compressedSize };
}

/** In front of the file a value may be left out: it then follows the file, or stands in a zip64 field. */
function agrees(local: number, central: number, follow: boolean): boolean {
  return local === central || local === ZIP64 || (follow && local === 0);
}

function checkSpans(spans: { readonly start: number; readonly end: number }[]): void {
  let covered = 0;
  for (const [index, { start, end }] of spans.sort((a, b) => a.start - b.start).entries()) {
    if (index === 0 && start > 0) throw unsafe(`It has ${start} bytes of something else before it begins.`);
    if (start < covered) throw unsafe("Entries of the zip archive share the same bytes.");
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
  if (sum !== entry.crc32) throw damaged(`${showPath(path)} is damaged: its checksum differs.`);
}

async function readTarget(zip: ZipFile, entry: Entry, path: string): Promise<string> {
  if (entry.uncompressedSize > MAX_TARGET_BYTES)
    throw unsafe(`${showPath(path)} is a link that is too long.`);
  const chunks: Buffer[] = [];
  for await (const chunk of readContent(zip, entry, path)) chunks.push(chunk);
  return decodeName(Buffer.concat(chunks));
}

/** What the reader of the format itself rejects. */
async function orRefused<Value>(reading: Promise<Value>): Promise<Value> {
  try {
    return await reading;
  } catch (fault) {
    throw damaged(`The zip archive is damaged, cut off or of an unknown form: ${(fault as Error).message}.`);
  }
}
