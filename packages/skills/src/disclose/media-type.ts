/**
 * Determines a file's media type: from its extension if that tells, otherwise from its first bytes. A small table, no
 * library.
 */
import { isUtf8 } from "node:buffer";
import { extname } from "node:path";

const BY_ENDING: Readonly<Record<string, string>> = {
  ".bash": "text/x-shellscript",
  ".c": "text/x-c",
  ".css": "text/css",
  ".csv": "text/csv",
  ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ".gif": "image/gif",
  ".go": "text/x-go",
  ".gz": "application/gzip",
  ".htm": "text/html",
  ".html": "text/html",
  ".java": "text/x-java",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".json": "application/json",
  ".jsonl": "application/jsonl",
  ".jsx": "text/javascript",
  ".markdown": "text/markdown",
  ".md": "text/markdown",
  ".mjs": "text/javascript",
  ".mp3": "audio/mpeg",
  ".mp4": "video/mp4",
  ".otf": "font/otf",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  ".ps1": "text/x-powershell",
  ".py": "text/x-python",
  ".rb": "text/x-ruby",
  ".rs": "text/x-rust",
  ".sh": "text/x-shellscript",
  ".sql": "application/sql",
  ".svg": "image/svg+xml",
  ".tar": "application/x-tar",
  ".toml": "application/toml",
  ".ts": "text/x-typescript",
  ".tsv": "text/tab-separated-values",
  ".tsx": "text/x-typescript",
  ".ttf": "font/ttf",
  ".txt": "text/plain",
  ".wasm": "application/wasm",
  ".wav": "audio/wav",
  ".webp": "image/webp",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".zip": "application/zip",
};

const TEXT = /^text\/|[/+](?:json|jsonl|xml|yaml|toml|sql)$/;
const BINARY = "application/octet-stream";

/** From the extension alone. */
export function mediaTypeByName(path: string): string | undefined {
  return BY_ENDING[extname(path).toLowerCase()];
}

/** From the extension, unless it promises text and the bytes are not. `bytes` may be a part with whole characters. */
export function mediaTypeOf(path: string, bytes: Uint8Array): string {
  const known = mediaTypeByName(path);
  if (known !== undefined && !TEXT.test(known)) return known;
  return isText(bytes) ? (known ?? "text/plain") : BINARY;
}

/** UTF-8 without a NUL. */
export function isText(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && isUtf8(bytes);
}

/** Trims partial UTF-8 characters at both ends: how many bytes at the start and the end are not text. */
export function partialEdges(bytes: Uint8Array): { readonly before: number; readonly after: number } {
  let before = 0;
  while (before < 3 && before < bytes.length && isContinuation(bytes[before])) before++;
  for (let after = 1; after <= 3 && after <= bytes.length - before; after++) {
    const byte = bytes[bytes.length - after] ?? 0;
    if (isContinuation(byte)) continue;
    return { before, after: sequenceLength(byte) > after ? after : 0 };
  }
  return { before, after: 0 };
}

function isContinuation(byte: number | undefined): boolean {
  return ((byte ?? 0) & 0xc0) === 0x80;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
