/**
 * What one thread fetches for another: the listings of folders and the heads or bytes of skill files, each with its stamp,
 * in the order in which the search asks for them. Few large texts and one buffer, because those pass between threads
 * quickly.
 */
import type { SkillHead } from "../parse/skill-head.ts";

export interface FetchedBatch {
  /** Three lines for each entry: its key, its stamp, and the packed listing of a folder or the size of a file. */
  readonly lines: string;
  /** The frontmatter of files with a usual head, one after the other. */
  readonly heads: string;
  /** All other files, one after the other. */
  readonly bytes: ArrayBuffer;
}

export interface FetchedFolder {
  readonly stamp: string;
  /** As the index keeps it. */
  readonly listing: string;
}

export interface FetchedFile {
  readonly stamp: string;
  /** Either what a usual file needs, or its content. */
  readonly content: SkillHead | Buffer;
}

export interface Fetched {
  folder(key: string): FetchedFolder | undefined;
  file(key: string): FetchedFile | undefined;
}

/** A folder's key ends with `/`, a file's does not. */
export function openFetched({ lines, heads, bytes }: FetchedBatch): Fetched {
  const parts = lines.split("\n");
  let at = 0;
  let headAt = 0;
  let byteAt = 0;
  /** Moves to the entry. What is asked for out of order is read by whoever asks. */
  const find = (key: string): boolean => {
    while (at < parts.length - 1 && parts[at] !== key) skip();
    return at < parts.length - 1;
  };
  const skip = (): void => {
    if (!parts[at]?.endsWith("/")) take();
    at += 3;
  };
  /** The content of the file at `at`, of which nothing is left behind. */
  const take = (): SkillHead | Buffer => {
    const [size = 0, bodyLine, linesOfBody = 0, characters = 0] = (parts[at + 2] ?? "")
      .split(" ")
      .map(Number);
    if (bodyLine === undefined) {
      byteAt += size;
      return Buffer.from(bytes, byteAt - size, size);
    }
    headAt += size;
    return { yaml: heads.slice(headAt - size, headAt), bodyLine, body: { lines: linesOfBody, characters } };
  };
  return {
    folder(key) {
      if (!find(key)) return undefined;
      const folder = { stamp: parts[at + 1] ?? "", listing: parts[at + 2] ?? "" };
      at += 3;
      return folder;
    },
    file(key) {
      if (!find(key)) return undefined;
      const file = { stamp: parts[at + 1] ?? "", content: take() };
      at += 3;
      return file;
    },
  };
}

/** A batch never holds more; the rest is read by whoever asks. */
const MOST_BYTES = 8 * 1024 * 1024;

export interface BatchWriter {
  addFolder(key: string, stamp: string, listing: string): void;
  addHead(key: string, stamp: string, head: SkillHead): void;
  /** Copies the bytes. */
  addFile(key: string, stamp: string, bytes: Buffer): void;
  take(): FetchedBatch;
}

/** Used for one batch after the other. */
export function createBatchWriter(): BatchWriter {
  let files: Buffer[] = [];
  let size = 0;
  let heads: string[] = [];
  let parts: string[] = [];
  return {
    addFolder: (key, stamp, listing) => void parts.push(key, stamp, listing),
    addHead(key, stamp, { yaml, bodyLine, body: { lines, characters } }) {
      heads.push(yaml);
      parts.push(key, stamp, `${yaml.length} ${bodyLine} ${lines} ${characters}`);
    },
    addFile(key, stamp, bytes) {
      if (size + bytes.length > MOST_BYTES) return;
      size += bytes.length;
      files.push(Buffer.from(bytes));
      parts.push(key, stamp, String(bytes.length));
    },
    take() {
      const bytes = new ArrayBuffer(size);
      let at = 0;
      for (const file of files) at += file.copy(new Uint8Array(bytes), at);
      const lines = parts.length === 0 ? "" : `${parts.join("\n")}\n`;
      const batch = { lines, heads: heads.join(""), bytes };
      [files, heads, parts, size] = [[], [], [], 0];
      return batch;
    },
  };
}
