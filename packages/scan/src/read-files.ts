/** Reads a skill's files for a scan: each once, within bounds, through the one gate, and never through a link. */
import { isAscii, isUtf8 } from "node:buffer";
import { closeSync, fstatSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { listFiles, openListed } from "@metier/base/files";
import { isText } from "@metier/skills";
import { type IdentifiedFile, type SkillContent, stampOf } from "@metier/skills/trust";
import { languageOf, signatureOf } from "./file-types.ts";
import type { ScanLimits, ScannedFile, SkippedPart } from "./scanned-skill.ts";

interface ReadFiles {
  readonly files: readonly ScannedFile[];
  readonly bytes: number;
  readonly skipped: readonly SkippedPart[];
}

/** Enough for any signature, and to see what was appended to an image. */
const EDGE_BYTES = 64 * 1024;
/** Files start in it, one after the other; what is kept of one is copied. */
const headBuffer = Buffer.allocUnsafeSlow(EDGE_BYTES);

/** The files of a folder, if someone has them: then nothing of it is read. */
export interface FilesInMemory {
  /** Sorted by path. There is nothing else in the folder. */
  readonly files: readonly IdentifiedFile[];
  /** Of all files, one after the other. */
  readonly bytes: Uint8Array;
}

/** `identify`: whether to compute the files' digests too. */
export function readSkillFiles(
  { form, location, directory }: SkillContent,
  limits: ScanLimits,
  identify: boolean,
): ReadFiles {
  let root: string;
  try {
    root = realpathSync.native(directory);
  } catch (error) {
    return nothingRead((error as Error).message);
  }
  const listing =
    form === "directory"
      ? listFiles(root, limits.entries)
      : ({ ok: true, files: [{ path: basename(location), kind: "file" }] } as const);
  if (!listing.ok) return nothingRead(listing.detail);
  return readEach(listing.files, limits, ({ path, kind }, bytesLeft) =>
    kind === "file" ? readFile(root, path, { limits, bytesLeft, identify }) : describeOther(root, path, kind),
  );
}

/** The same of files that are given. */
export function takeSkillFiles(given: FilesInMemory, limits: ScanLimits): ReadFiles {
  const { buffer, byteOffset, byteLength } = given.bytes;
  const all = Buffer.from(buffer, byteOffset, byteLength);
  let start = 0;
  return readEach(given.files, limits, ({ path, size, executable }, bytesLeft) => {
    const bytes = all.subarray(start, start + size);
    start += size;
    const content = readContent(givenBytes(bytes), path, size, { limits, bytesLeft, identify: false });
    return { path, kind: "file", size, executable, ...content };
  });
}

function readEach<Listed extends { readonly path: string }>(
  listed: readonly Listed[],
  limits: ScanLimits,
  read: (one: Listed, bytesLeft: number) => ScannedFile,
): ReadFiles {
  const files: ScannedFile[] = [];
  const skipped: SkippedPart[] = [];
  let bytes = 0;
  for (const one of listed) {
    const file = read(one, limits.totalBytes - bytes);
    bytes += file.text === undefined ? (file.head?.length ?? 0) : file.size;
    if (file.fault !== undefined) skipped.push({ path: one.path, reason: file.fault });
    files.push(file);
  }
  return { files, bytes, skipped };
}

function nothingRead(why: string): ReadFiles {
  return { files: [], bytes: 0, skipped: [{ path: ".", reason: `Not read: ${why}.` }] };
}

function describeOther(root: string, path: string, kind: "link" | "special"): ScannedFile {
  const base = { path, kind, size: 0, executable: false };
  if (kind === "special") return base;
  try {
    return { ...base, target: readlinkSync(join(root, path)) };
  } catch (error) {
    return { ...base, fault: `Not read: ${(error as Error).message}.` };
  }
}

interface Bounds {
  readonly limits: ScanLimits;
  readonly bytesLeft: number;
  readonly identify: boolean;
}

function readFile(root: string, path: string, bounds: Bounds): ScannedFile {
  const opened = openListed(root, path);
  const unread = { path, kind: "file", size: 0, executable: false } as const;
  if (!opened.ok) return { ...unread, fault: `Not read: ${opened.message}` };
  const { descriptor, stats } = opened.file;
  try {
    const size = Number(stats.size);
    const executable = (stats.mode & 0o111n) !== 0n;
    const content = readContent(openedBytes(descriptor, size), path, size, bounds);
    const isStable =
      content.digest !== undefined && stampOf(fstatSync(descriptor, { bigint: true })) === stampOf(stats);
    const digest = isStable ? content.digest : undefined;
    return { path, kind: "file", size, executable, ...content, digest };
  } catch (error) {
    return { ...unread, fault: `Not read: ${(error as Error).message}.` };
  } finally {
    closeSync(descriptor);
  }
}

type Content = Pick<
  ScannedFile,
  "text" | "isAscii" | "isVerbatim" | "digest" | "head" | "tail" | "signature" | "language" | "fault"
>;

/** The bytes of a file, as far as they are needed. */
interface FileBytes {
  head(): Buffer;
  tail(): Buffer;
  whole(head: Buffer): Buffer;
}

function openedBytes(descriptor: number, size: number): FileBytes {
  const tailSize = Math.min(size, EDGE_BYTES);
  return {
    head: () => readAt(descriptor, 0, headBuffer.subarray(0, size)),
    tail: () => readAt(descriptor, size - tailSize, Buffer.alloc(tailSize)),
    whole: (head) => (size <= head.length ? head : readAt(descriptor, 0, Buffer.alloc(size))),
  };
}

function givenBytes(bytes: Buffer): FileBytes {
  return {
    head: () => bytes.subarray(0, EDGE_BYTES),
    tail: () => bytes.subarray(-EDGE_BYTES),
    whole: () => bytes,
  };
}

function readContent(file: FileBytes, path: string, size: number, bounds: Bounds): Content {
  const { limits, bytesLeft, identify } = bounds;
  if (bytesLeft <= 0)
    return { fault: `Not read: the files before it already exceed ${limits.totalBytes} bytes.` };
  const head = file.head();
  const signature = signatureOf(head);
  if (signature !== undefined || !looksLikeText(head)) {
    return { head: Buffer.from(head), tail: file.tail(), signature };
  }
  if (size > Math.min(limits.fileBytes, bytesLeft)) {
    return { fault: `Not read as text: it has ${size} bytes; the limit is ${limits.fileBytes} bytes.` };
  }
  const whole = file.whole(head);
  if (whole.length > head.length && !looksLikeText(whole))
    return { head: Buffer.from(head), tail: whole.subarray(-EDGE_BYTES) };
  const text = decodeText(whole);
  const isVerbatim = !isUtf16(whole) && isUtf8(whole) && !whole.includes(CARRIAGE_RETURN);
  const digest = identify && whole.length === size ? digestBytes(whole) : undefined;
  return { text, isAscii: isAscii(whole), isVerbatim, digest, language: languageOf(path, text) };
}

const CARRIAGE_RETURN = 0x0d;

function readAt(descriptor: number, position: number, buffer: Buffer): Buffer {
  let read = 0;
  while (read < buffer.length) {
    const more = readSync(descriptor, buffer, read, buffer.length - read, position + read);
    if (more === 0) break;
    read += more;
  }
  return buffer.subarray(0, read);
}

/** UTF-8, also if a part ends within a character, or UTF-16 with its mark. A few bytes in another encoding are fine. */
function looksLikeText(bytes: Buffer): boolean {
  if (isUtf16(bytes)) return true;
  if (bytes.includes(0)) return false;
  if (isText(bytes)) return true;
  const wrong = bytes.toString("utf8").match(/\uFFFD/g)?.length ?? 0;
  return wrong * 20 < bytes.length;
}

function isUtf16(bytes: Buffer): boolean {
  return (
    bytes.length >= 2 &&
    ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
  );
}

function decodeText(bytes: Buffer): string {
  const text = isUtf16(bytes)
    ? new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes)
    : bytes.toString(isAscii(bytes) ? "latin1" : "utf8");
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}
