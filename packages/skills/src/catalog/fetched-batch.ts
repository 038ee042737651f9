/**
 * What one thread fetches for another: the listings of folders and the bytes of skill files, each with its stamp, in the
 * order in which the search asks for them. One text and one buffer, because those pass between threads without a copy.
 */

export interface FetchedBatch {
  /** Three lines for each entry: its key, its stamp, and the packed listing of a folder or the size of a file. */
  readonly lines: string;
  /** The files, one after the other. */
  readonly bytes: ArrayBuffer;
}

export interface FetchedFolder {
  readonly stamp: string;
  /** As the index keeps it. */
  readonly listing: string;
}

export interface FetchedFile {
  readonly stamp: string;
  readonly bytes: Buffer;
}

export interface Fetched {
  folder(key: string): FetchedFolder | undefined;
  file(key: string): FetchedFile | undefined;
}

/** A folder's key ends with `/`, a file's does not. */
export function openFetched({ lines, bytes }: FetchedBatch): Fetched {
  const parts = lines.split("\n");
  let at = 0;
  let from = 0;
  /** Moves to the entry. What is asked for out of order is read by whoever asks. */
  const find = (key: string): boolean => {
    while (at < parts.length - 1 && parts[at] !== key) skip();
    return at < parts.length - 1;
  };
  const skip = (): void => {
    if (!parts[at]?.endsWith("/")) from += Number(parts[at + 2]);
    at += 3;
  };
  return {
    folder(key) {
      if (!find(key)) return undefined;
      const folder = { stamp: parts[at + 1] ?? "", listing: parts[at + 2] ?? "" };
      skip();
      return folder;
    },
    file(key) {
      if (!find(key)) return undefined;
      const file = { stamp: parts[at + 1] ?? "", bytes: Buffer.from(bytes, from, Number(parts[at + 2])) };
      skip();
      return file;
    },
  };
}

/** A batch never holds more; the rest is read by whoever asks. */
const MOST_BYTES = 8 * 1024 * 1024;

export interface BatchWriter {
  addFolder(key: string, stamp: string, listing: string): void;
  /** Copies the bytes. */
  addFile(key: string, stamp: string, bytes: Buffer): void;
  take(): FetchedBatch;
}

/** Used for one batch after the other. */
export function createBatchWriter(): BatchWriter {
  let buffer = Buffer.allocUnsafeSlow(MOST_BYTES / 16);
  let size = 0;
  let parts: string[] = [];
  return {
    addFolder: (key, stamp, listing) => void parts.push(key, stamp, listing),
    addFile(key, stamp, bytes) {
      const end = size + bytes.length;
      if (end > MOST_BYTES) return;
      if (end > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(buffer.length * 2, end), MOST_BYTES));
        buffer.copy(larger, 0, 0, size);
        buffer = larger;
      }
      bytes.copy(buffer, size);
      size = end;
      parts.push(key, stamp, String(bytes.length));
    },
    take() {
      const bytes = new ArrayBuffer(size);
      new Uint8Array(bytes).set(buffer.subarray(0, size));
      const lines = parts.length === 0 ? "" : `${parts.join("\n")}\n`;
      parts = [];
      size = 0;
      return { lines, bytes };
    },
  };
}
