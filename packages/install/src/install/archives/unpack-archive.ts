/**
 * Unpacks an archive into a folder. Its first bytes determine the format, not a file name or a server. The tar reader
 * is our own and strict, because general readers tolerate what must be refused here: sparse files, unknown types, names
 * that are not UTF-8, contradicting headers.
 */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@metier/base/diagnostic";
import { removeFolder, showPath } from "@metier/base/files";
import type { FetchContext } from "../fetch-source.ts";
import { damaged, limited, stopIfCancelled, unsafe } from "../install-fault.ts";
import type { SourceLimits } from "../source-limits.ts";
import { createTreeWriter } from "../tree-writer.ts";
import {
  type ArchiveEntry,
  type ByteReader,
  createByteReader,
  decodeName,
  isGzip,
  unpackGzip,
} from "./archive-bytes.ts";

/** Overhead of a tar archive per entry and in total: headers, long names, padding. */
const HEADER_BYTES = 4096;
const FRAME_BYTES: number = 1024 * 1024;
/** What the Finder adds to its archives: icons and the like. */
const FINDER_FOLDER = "__MACOSX";

export interface UnpackedTree {
  /** `into`, or its only folder, as in archives of repositories. */
  readonly folder: string;
  /** Notes about it, without errors. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Unpacks into `into`, an empty folder. Throws `RefusedTree`. */
export async function unpackArchive(
  bytes: Buffer,
  into: string,
  { limits, signal }: Pick<FetchContext, "limits" | "signal">,
): Promise<UnpackedTree> {
  const writer = createTreeWriter(into, limits);
  for await (const entry of await readEntries(bytes, limits)) {
    stopIfCancelled(signal);
    if (entry.kind === "file") await writer.addFile(entry.path, entry);
    else if (entry.kind === "link") writer.addLink(entry.path, entry.target);
    else if (entry.path !== "" && entry.path !== ".") writer.addFolder(entry.path);
  }
  const diagnostics = writer.finish();
  return { folder: findTop(into), diagnostics };
}

async function readEntries(bytes: Buffer, limits: SourceLimits): Promise<AsyncIterable<ArchiveEntry>> {
  const start = bytes.toString("latin1", 0, 4);
  if (start === "PK\x03\x04" || start === "PK\x05\x06") {
    const { readZip } = await import("./read-zip.ts");
    return readZip(bytes, limits);
  }
  if (isGzip(bytes)) {
    const most = limits.bytes + limits.files * HEADER_BYTES + FRAME_BYTES;
    return readTar(createByteReader(unpackGzip(bytes, most)));
  }
  if (bytes.toString("latin1", 257, 262) === "ustar") return readTar(createByteReader(once(bytes)));
  throw damaged("It is neither a zip archive nor a tar archive (plain or gzip).");
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes;
}

function findTop(into: string): string {
  removeFolder(join(into, FINDER_FOLDER));
  const [only, ...others] = readdirSync(into);
  if (only === undefined) throw damaged("It is empty.");
  const top = join(into, only);
  return others.length === 0 && lstatSync(top).isDirectory() ? top : into;
}

const BLOCK = 512;
/** For one long name or PAX header. */
const MAX_EXTENSION = 131_072;

const REFUSED_TYPES: Readonly<Record<string, string>> = {
  "1": "a hard link; pack it as a separate file",
  "3": "a device",
  "4": "a device",
  "6": "a FIFO",
  S: "a sparse file",
};

/** Headers that complete the next entry. */
type Extension = Partial<Record<"x" | "L" | "K", PaxRecords>>;

async function* readTar(reader: ByteReader): AsyncGenerator<ArchiveEntry, void> {
  let extension: Extension = {};
  for (;;) {
    const block = await reader.takeOrEnd(BLOCK);
    if (block === undefined) throw damaged("It is truncated: the end of the tar archive is missing.");
    if (isZeroBlock(block)) break;
    const header = readTarHeader(block);
    if (header.type === "x" || header.type === "L" || header.type === "K" || header.type === "g") {
      extension = extend(extension, header.type, await readExtension(reader, header));
      continue;
    }
    const { entry, size } = toEntry(header, extension, reader);
    extension = {};
    yield entry;
    await skipPadding(reader, size);
  }
  if (Object.keys(extension).length > 0)
    throw damaged("The tar archive ends with a name that belongs to no entry.");
  for await (const chunk of reader.rest()) {
    if (!isZeroBlock(chunk)) throw unsafe("There is extra data after the end of the tar archive.");
  }
}

async function readExtension(reader: ByteReader, { size, type }: TarHeader): Promise<PaxRecords> {
  if (size > MAX_EXTENSION) {
    throw limited(`A header of the tar archive has ${size} bytes; the limit is ${MAX_EXTENSION} bytes.`);
  }
  const bytes = await reader.take(size);
  await skipPadding(reader, size);
  if (type === "x" || type === "g") return readPaxRecords(bytes);
  const end = bytes.indexOf(0);
  const name = decodeName(end === -1 ? bytes : bytes.subarray(0, end));
  return type === "L" ? { path: name } : { linkpath: name };
}

/** A global header may contain a comment, as GitHub's do; one that renames all following entries is a trick. */
function extend(extension: Extension, type: "x" | "L" | "K" | "g", records: PaxRecords): Extension {
  if (type === "g" ? Object.keys(records).length > 0 : type in extension) {
    throw unsafe("A header of the tar archive gives a name or size twice, or to more than one entry.");
  }
  return type === "g" ? extension : { ...extension, [type]: records };
}

function toEntry(
  header: TarHeader,
  { x = {}, L = {}, K = {} }: Extension,
  reader: ByteReader,
): { readonly entry: ArchiveEntry; readonly size: number } {
  if (
    (x.path !== undefined && L.path !== undefined) ||
    (x.linkpath !== undefined && K.linkpath !== undefined)
  ) {
    throw unsafe("An entry of the tar archive has two names.");
  }
  const name = x.path ?? L.path ?? header.name;
  const target = x.linkpath ?? K.linkpath ?? header.linkName;
  const size = x.size ?? header.size;
  const isFolder = header.type === "5" || (header.type === "0" && name.endsWith("/"));
  const isFile = !isFolder && (header.type === "0" || header.type === "7");
  if (!isFolder && !isFile && header.type !== "2") {
    const what = REFUSED_TYPES[header.type] ?? `of the type ${showPath(header.type)}`;
    throw unsafe(`${showPath(name)} is ${what}; only files, folders and links are unpacked.`);
  }
  if (!isFile && size !== 0) throw unsafe(`${showPath(name)} has content, but is not a file.`);
  const path = name.replace(/\/$/, "");
  if (isFolder) return { entry: { kind: "folder", path }, size };
  if (!isFile) return { entry: { kind: "link", path, target }, size };
  const { executable, mode } = header;
  return { entry: { kind: "file", path, size, executable, mode, content: reader.pass(size) }, size };
}

async function skipPadding(reader: ByteReader, size: number): Promise<void> {
  await reader.take((BLOCK - (size % BLOCK)) % BLOCK);
}

/** One header block (POSIX ustar or GNU). */
interface TarHeader {
  /** As in the header: long names come in separate entries. */
  readonly name: string;
  readonly linkName: string;
  readonly size: number;
  readonly executable: boolean;
  /** Permission bits. */
  readonly mode: number;
  /** The type letter; `0` for the old form without one. */
  readonly type: string;
}

function isZeroBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

/** Strict: anything but the known forms is refused, since another program would read another tree. */
function readTarHeader(block: Buffer): TarHeader {
  const magic = block.toString("latin1", 257, 265);
  const isPosix = magic.startsWith("ustar\0");
  if ((!isPosix && magic !== "ustar  \0") || readOctal(block, 148, 8) !== sumOf(block)) {
    throw damaged("It is not a tar archive, or is damaged: a header has the wrong checksum or format.");
  }
  const name = readText(block, 0, 100);
  const prefix = isPosix ? readText(block, 345, 155) : "";
  const type = String.fromCharCode(block[156] ?? 0);
  const mode = readOctal(block, 100, 8);
  return {
    name: prefix === "" ? name : `${prefix}/${name}`,
    linkName: readText(block, 157, 100),
    size: readOctal(block, 124, 12),
    executable: (mode & 0o111) !== 0,
    mode,
    type: type === "\0" ? "0" : type,
  };
}

/** The sum of all bytes, with the checksum field as spaces. */
function sumOf(block: Buffer): number {
  let sum = 0;
  for (const [index, byte] of block.entries()) sum += index >= 148 && index < 156 ? 0x20 : byte;
  return sum;
}

/** Up to the first NUL, or the whole field. */
function readText(block: Buffer, start: number, length: number): string {
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return decodeName(end === -1 ? field : field.subarray(0, end));
}

/** Larger numbers, in GNU's base 256, only occur in archives that are far too large. */
function readOctal(block: Buffer, start: number, length: number): number {
  const text = block.toString("latin1", start, start + length);
  const [, digits] = /^ *([0-7]*)[ \0]*$/.exec(text) ?? [];
  if (digits === undefined) throw damaged("A header of the tar archive has an invalid number.");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

/** The records of a PAX header, `17 path=long-name\n`: only those that change what an entry is. */
interface PaxRecords {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
}

const RECORD_LENGTH = /^([1-9]\d{0,8}) $/;
const MAX_LENGTH_DIGITS = 10;

function readPaxRecords(bytes: Buffer): PaxRecords {
  const records: { path?: string; linkpath?: string; size?: number } = {};
  for (let start = 0; start < bytes.length; ) {
    const { key, value, end } = readRecord(bytes, start);
    if (key.startsWith("GNU.sparse.")) throw unsafe("It contains a sparse file, which is not supported.");
    if (key === "path" || key === "linkpath") records[key] = decodeName(value);
    if (key === "size") records.size = readSize(value.toString("latin1"));
    start = end;
  }
  return records;
}

function readRecord(
  bytes: Buffer,
  start: number,
): { readonly key: string; readonly value: Buffer; readonly end: number } {
  const blank = bytes.indexOf(0x20, start);
  const head = bytes.toString("latin1", start, Math.min(blank + 1, start + MAX_LENGTH_DIGITS + 1));
  const end = start + Number(RECORD_LENGTH.exec(head)?.[1]);
  const equals = bytes.indexOf(0x3d, blank);
  // The length, which counts itself, must end at a line break after a `=`.
  if (!(end <= bytes.length && equals > blank && equals < end && bytes[end - 1] === 0x0a)) {
    throw damaged("A PAX header of the tar archive cannot be read.");
  }
  const key = bytes.toString("latin1", blank + 1, equals);
  return { key, value: bytes.subarray(equals + 1, end - 1), end };
}

function readSize(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw damaged("A PAX header of the tar archive has an invalid size.");
  return Number(text);
}
