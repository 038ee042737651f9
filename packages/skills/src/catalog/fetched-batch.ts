/**
 * What one thread fetches for another: the listings of folders and the heads or bytes of skill files, each with its stamp,
 * in the order in which the search asks for them. Few large texts and one buffer, because those pass between threads
 * quickly.
 */
import type { SkillHead } from "../parse/skill-head.ts";
import type { ReadAhead } from "./second-thread.ts";
import { AHEAD_BATCH } from "./thread-tasks.ts";

export interface FetchedBatch {
  /**
   * A few lines for each entry: its key and its stamp, then the packed listing of a folder, or the size of a file's bytes
   * and nothing, or the sizes of a file's frontmatter and body.
   */
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
  // Where the next entry starts in each of the three; thousands of them need no objects.
  let line = 0;
  let head = 0;
  let byte = 0;
  let places: ReadonlyMap<string, Place> | undefined;
  const move = (): void => {
    if (parts[line]?.endsWith("/")) {
      line += FOLDER_LINES;
      return;
    }
    const size = Number(parts[line + 2]);
    if (Number(parts[line + 3]) === 0) byte += size;
    else head += size;
    line += FILE_LINES;
  };
  const listPlaces = (): ReadonlyMap<string, Place> => {
    const all = new Map<string, Place>();
    for ([line, head, byte] = [0, 0, 0]; line < parts.length - 1; move())
      all.set(parts[line] ?? "", [line, head, byte]);
    return all;
  };
  /** The search asks in order, but itself reads what was left out. */
  const find = (key: string): boolean => {
    if (parts[line] === key) return true;
    const before: Place = [line, head, byte];
    places ??= listPlaces();
    const place = places.get(key);
    [line, head, byte] = place ?? before;
    return place !== undefined;
  };
  return {
    folder(key) {
      if (!find(key)) return undefined;
      const at = line;
      move();
      return { stamp: parts[at + 1] ?? "", listing: parts[at + 2] ?? "" };
    },
    file(key) {
      if (!find(key)) return undefined;
      const [at, from, start] = [line, head, byte];
      move();
      const stamp = parts[at + 1] ?? "";
      const bodyLine = Number(parts[at + 3]);
      if (bodyLine === 0) return { stamp, content: Buffer.from(bytes, start, byte - start) };
      const body = { lines: Number(parts[at + 4]), characters: Number(parts[at + 5]) };
      return { stamp, content: { yaml: heads.slice(from, head), bodyLine, body } };
    },
  };
}

type Place = readonly [line: number, head: number, byte: number];

const FOLDER_LINES = 3;
const FILE_LINES = 6;

/** Takes a batch when the search reaches the first of its folders. */
export function followBatches(
  folders: readonly string[],
  take: (batch: number) => Fetched | undefined,
): ReadAhead {
  let place = 0;
  let batch = -1;
  let turn: Fetched | undefined;
  return {
    turn(name) {
      const at = folders.indexOf(name, place);
      if (at === -1) return undefined;
      place = at;
      const number = Math.floor(at / AHEAD_BATCH);
      if (number !== batch) turn = take(number);
      batch = number;
      return turn;
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
      parts.push(key, stamp, String(yaml.length), String(bodyLine), String(lines), String(characters));
    },
    addFile(key, stamp, bytes) {
      if (size + bytes.length > MOST_BYTES) return;
      size += bytes.length;
      files.push(Buffer.from(bytes));
      parts.push(key, stamp, String(bytes.length), "", "", "");
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
