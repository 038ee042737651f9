/**
 * Reads a skill's files for a scan: each once, within bounds, through the one gate, and never through a link; and
 * determines each file's type from its first bytes, name and first line.
 */
import { isAscii, isUtf8 } from "node:buffer";
import { closeSync, fstatSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { digestBytes } from "@metier/base/digest";
import { listFiles, openListed } from "@metier/base/files";
import { isText } from "@metier/skills";
import { type SkillContent, stampOf } from "@metier/skills/trust";
import type { CodeLanguage } from "./code/code-part.ts";
import type { ScanLimits, ScannedFile, SkippedPart } from "./scanned-skill.ts";

interface ReadFiles {
  readonly files: readonly ScannedFile[];
  readonly bytes: number;
  readonly skipped: readonly SkippedPart[];
}

/** Enough for any signature, and to see what was appended to an image. */
const EDGE_BYTES = 64 * 1024;
/** Files start in it, one after the other; what is kept of one is copied. */
const start = Buffer.allocUnsafeSlow(EDGE_BYTES);

/** The files of a folder, if someone has them: then nothing of it is read. */
export interface FetchedFiles {
  /** Sorted by path. There is nothing else in the folder. */
  readonly files: readonly Pick<ScannedFile, "path" | "size" | "executable">[];
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
export function takeSkillFiles(given: FetchedFiles, limits: ScanLimits, identify: boolean): ReadFiles {
  const { buffer, byteOffset, byteLength } = given.bytes;
  const all = Buffer.from(buffer, byteOffset, byteLength);
  let start = 0;
  return readEach(given.files, limits, ({ path, size, executable }, bytesLeft) => {
    const bytes = all.subarray(start, start + size);
    start += size;
    const content = readContent(givenBytes(bytes), path, size, { limits, bytesLeft, identify });
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
    head: () => readAt(descriptor, 0, start.subarray(0, size)),
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

type BinaryKind =
  | "executable"
  | "bytecode"
  | "wasm"
  | "archive"
  | "image"
  | "document"
  | "font"
  | "media"
  | "database"
  | "unknown";

/** `at`: where it is, if not at the start. */
const SIGNATURES: readonly (readonly [BinaryKind, string, RegExp, at?: number])[] = [
  ["executable", "an ELF program", /^\x7fELF/],
  ["executable", "a Windows program", /^MZ[\s\S]{58,}?PE\0\0|^MZ\x90\0/],
  [
    "executable",
    "a macOS program",
    /^(?:\xcf\xfa\xed\xfe|\xce\xfa\xed\xfe|\xfe\xed\xfa[\xce\xcf]|\xca\xfe\xba\xbe\0\0\0[\x01-\x14])/,
  ],
  ["bytecode", "Java bytecode", /^\xca\xfe\xba\xbe/],
  ["bytecode", "Python bytecode", /^[\x00-\xff]{2}\r\n[\x00-\x03]\0\0\0|^[\x00-\xff]{2}\r\n/],
  ["bytecode", "Lua bytecode", /^\x1bLua/],
  ["bytecode", "Android bytecode", /^dex\n/],
  ["wasm", "a WebAssembly module", /^\0asm/],
  ["archive", "a ZIP archive", /^PK(?:\x03\x04|\x05\x06)/],
  ["archive", "a gzip archive", /^\x1f\x8b/],
  ["archive", "a bzip2 archive", /^BZh[1-9]/],
  ["archive", "an xz archive", /^\xfd7zXZ\0/],
  ["archive", "a 7z archive", /^7z\xbc\xaf\x27\x1c/],
  ["archive", "a RAR archive", /^Rar!\x1a\x07/],
  ["archive", "a Zstandard archive", /^\x28\xb5\x2f\xfd/],
  ["archive", "a tar archive", /^ustar/, 257],
  ["archive", "an installer package", /^(?:!<arch>\ndebian|\xed\xab\xee\xdb|xar!)/],
  ["archive", "a disk image", /^CD001/, 32_769],
  ["image", "a PNG image", /^\x89PNG\r\n\x1a\n/],
  ["image", "a JPEG image", /^\xff\xd8\xff/],
  ["image", "a GIF image", /^GIF8[79]a/],
  ["image", "a WebP image", /^RIFF[\s\S]{4}WEBP/],
  ["image", "an icon", /^\0\0\x01\0/],
  ["image", "a TIFF image", /^(?:II\*\0|MM\0\*)/],
  ["document", "a PDF document", /^%PDF-/],
  ["document", "an Office document", /^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/],
  ["font", "a font", /^(?:\0\x01\0\0\0|OTTO|wOFF|wOF2|ttcf)/],
  [
    "media",
    "audio or video",
    /^(?:ID3|\xff\xfb|OggS|fLaC|RIFF[\s\S]{4}(?:WAVE|AVI )|[\s\S]{4}ftyp|\x1aE\xdf\xa3)/,
  ],
  ["database", "a SQLite database", /^SQLite format 3\0/],
];

/** Most files are text. All at once, and the first `^` keeps it from trying every place. */
const STARTS = SIGNATURES.filter(([, , , at]) => at === undefined);
const ANY_START = new RegExp(`^(?:${STARTS.map(([, , { source }]) => source).join("|")})`);
const LATER = SIGNATURES.filter(([, , , at]) => at !== undefined);

export interface Signature {
  readonly kind: BinaryKind;
  /** With its article. */
  readonly what: string;
}

export function signatureOf(head: Uint8Array): Signature | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1");
  const found = (ANY_START.test(text) ? SIGNATURES : LATER).find(([, , pattern, at = 0]) =>
    pattern.test(text.slice(at)),
  );
  return found && { kind: found[0], what: found[1] };
}

/** Extensions that promise a type of content. */
const PROMISES: readonly (readonly [RegExp, readonly BinaryKind[]])[] = [
  [/\.(?:png|jpe?g|gif|webp|ico|tiff?|bmp|avif|heic)$/i, ["image", "media"]],
  [/\.pdf$/i, ["document"]],
  [
    /\.(?:docx?|xlsx?|pptx?|odt|ods|odp|epub|xps|vsdx|dotx|xltx|potx|sketch|fig|key|numbers|pages)$/i,
    ["document", "archive"],
  ],
  [/\.(?:ttf|otf|woff2?|ttc|eot)$/i, ["font"]],
  [/\.(?:mp3|mp4|wav|ogg|flac|mov|avi|webm|m4a|mkv)$/i, ["media"]],
];

/** The types that a file of this name may have; `undefined` if the name promises none. */
export function promisedKinds(path: string): readonly BinaryKind[] | undefined {
  return PROMISES.find(([pattern]) => pattern.test(path))?.[1];
}

/** By a file's extension, a script's first line, or the word after a code fence. */
const LANGUAGES: readonly (readonly [CodeLanguage, ending: RegExp, shebang: RegExp, tag: RegExp])[] = [
  [
    "shell",
    /^\.(?:sh|bash|zsh|ksh|command|bat|cmd)$/,
    /^#!.*\b(?:ba|z|da|k|a)?sh\b/,
    /^(?:sh|bash|shell|zsh|console|shell-session|shellsession|terminal|bat|cmd|ksh)$/,
  ],
  ["python", /^\.(?:py|pyw|pyi)$/, /^#!.*\bpython/, /^(?:python3?|py|ipython)$/],
  [
    "javascript",
    /^\.(?:js|mjs|cjs|jsx|ts|mts|cts|tsx)$/,
    /^#!.*\b(?:node|deno|bun|tsx)\b/,
    /^(?:js|javascript|mjs|cjs|ts|typescript|jsx|tsx|node)$/,
  ],
  ["powershell", /^\.(?:ps1|psm1)$/, /^#!.*\bpwsh\b/, /^(?:powershell|ps1|pwsh|ps)$/],
  ["ruby", /^\.rb$/, /^#!.*\bruby\b/, /^(?:ruby|rb)$/],
  ["perl", /^\.(?:pl|pm)$/, /^#!.*\bperl\b/, /^perl$/],
  ["php", /^\.php$/, /^#!.*\bphp\b/, /^php$/],
  ["lua", /^\.lua$/, /^#!.*\blua\b/, /^lua$/],
];

/** A script's language; the first line counts more than the extension, since the system reads that. */
export function languageOf(path: string, text: string): CodeLanguage | undefined {
  const [first = ""] = text.slice(0, 200).split("\n", 1);
  const end = extname(path).toLowerCase();
  const told = first.startsWith("#!") ? LANGUAGES.find(([, , shebang]) => shebang.test(first)) : undefined;
  return (told ?? LANGUAGES.find(([, ending]) => ending.test(end)))?.[0];
}

/** By the word after a code fence. */
export function languageOfTag(tag: string): CodeLanguage | undefined {
  return LANGUAGES.find(([, , , word]) => word.test(tag))?.[0];
}

export function isMarkdown(path: string): boolean {
  return /\.(?:md|markdown|mdx|mdc)$/i.test(path);
}
