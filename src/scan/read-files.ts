/** Reads the files of a skill for a scan: each once, within bounds, through the one gate, and never through a link. */
import { closeSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { isText } from "../disclose/media-type.ts";
import { listFiles } from "../host/list-files.ts";
import { openContained } from "../host/open-contained.ts";
import type { SkillContent } from "../trust/list-content.ts";
import { languageOf, signatureOf } from "./file-kind.ts";
import type { ScanLimits, SkippedPart } from "./scan-limits.ts";
import type { ScannedFile } from "./scanned-skill.ts";

export interface ReadFiles {
  readonly files: readonly ScannedFile[];
  readonly bytes: number;
  readonly skipped: readonly SkippedPart[];
}

/** Enough for any signature, and to see what was put behind an image. */
const EDGE_BYTES = 64 * 1024;

export function readSkillFiles({ form, location, directory }: SkillContent, limits: ScanLimits): ReadFiles {
  const skipped: SkippedPart[] = [];
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
  const files: ScannedFile[] = [];
  let bytes = 0;
  for (const { path, kind } of listing.files) {
    const file =
      kind === "file"
        ? readFile(root, path, { limits, bytesLeft: limits.totalBytes - bytes })
        : describeOther(root, path, kind);
    bytes += file.text === undefined ? (file.head?.length ?? 0) : file.size;
    if (file.fault !== undefined) skipped.push({ path, reason: file.fault });
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

function readFile(
  root: string,
  path: string,
  bounds: { readonly limits: ScanLimits; readonly bytesLeft: number },
): ScannedFile {
  const opened = openContained(root, path);
  if (!opened.ok)
    return { path, kind: "file", size: 0, executable: false, fault: `Not read: ${opened.message}` };
  const { descriptor, stats } = opened.file;
  try {
    const size = Number(stats.size);
    const executable = (stats.mode & 0o111n) !== 0n;
    return { path, kind: "file", size, executable, ...readContent(descriptor, path, size, bounds) };
  } catch (error) {
    return {
      path,
      kind: "file",
      size: 0,
      executable: false,
      fault: `Not read: ${(error as Error).message}.`,
    };
  } finally {
    closeSync(descriptor);
  }
}

type Content = Pick<ScannedFile, "text" | "head" | "tail" | "signature" | "language" | "fault">;

function readContent(
  descriptor: number,
  path: string,
  size: number,
  { limits, bytesLeft }: { readonly limits: ScanLimits; readonly bytesLeft: number },
): Content {
  if (bytesLeft <= 0) return { fault: `Not read: more than ${limits.totalBytes} bytes stand before it.` };
  const head = readAt(descriptor, 0, Math.min(size, EDGE_BYTES));
  const signature = signatureOf(head);
  if (signature !== undefined || !looksLikeText(head)) {
    const tail = readAt(descriptor, Math.max(0, size - EDGE_BYTES), Math.min(size, EDGE_BYTES));
    return { head, tail, ...(signature && { signature }) };
  }
  if (size > Math.min(limits.fileBytes, bytesLeft)) {
    return { fault: `Not read as text: it has ${size} bytes; at most ${limits.fileBytes} are read.` };
  }
  const whole = size <= head.length ? head : readAt(descriptor, 0, size);
  if (!looksLikeText(whole)) return { head, tail: whole.subarray(-EDGE_BYTES) };
  const text = decodeText(whole);
  const language = languageOf(path, text);
  return { text, ...(language && { language }) };
}

function readAt(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const more = readSync(descriptor, buffer, read, length - read, position + read);
    if (more === 0) break;
    read += more;
  }
  return buffer.subarray(0, read);
}

/** UTF-8, also when a part ends within a character, or UTF-16 with its mark. A few bytes of another encoding are no disguise. */
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
    : bytes.toString("utf8");
  return text.replace(/\r\n?/g, "\n");
}
