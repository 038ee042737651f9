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
  let next: Place = { line: 0, head: 0, byte: 0 };
  let places: ReadonlyMap<string, Place> | undefined;
  /** The search asks in order, but itself reads what was left out. */
  const find = (key: string): Place | undefined => {
    if (parts[next.line] === key) return next;
    places ??= listPlaces(parts);
    return places.get(key);
  };
  return {
    folder(key) {
      const place = find(key);
      if (place === undefined) return undefined;
      next = placeAfter(parts, place);
      return { stamp: parts[place.line + 1] ?? "", listing: parts[place.line + 2] ?? "" };
    },
    file(key) {
      const place = find(key);
      if (place === undefined) return undefined;
      next = placeAfter(parts, place);
      const { line, head, byte } = place;
      const stamp = parts[line + 1] ?? "";
      const bodyLine = Number(parts[line + 3]);
      if (bodyLine === 0) return { stamp, content: Buffer.from(bytes, byte, next.byte - byte) };
      const body = { lines: Number(parts[line + 4]), characters: Number(parts[line + 5]) };
      return { stamp, content: { yaml: heads.slice(head, next.head), bodyLine, body } };
    },
  };
}

/** Where an entry starts in lines, heads and bytes. */
interface Place {
  readonly line: number;
  readonly head: number;
  readonly byte: number;
}

const FOLDER_LINES = 3;
const FILE_LINES = 6;

function placeAfter(parts: readonly string[], { line, head, byte }: Place): Place {
  if (parts[line]?.endsWith("/")) return { line: line + FOLDER_LINES, head, byte };
  const size = Number(parts[line + 2]);
  const isWhole = Number(parts[line + 3]) === 0;
  return {
    line: line + FILE_LINES,
    head: isWhole ? head : head + size,
    byte: isWhole ? byte + size : byte,
  };
}

function listPlaces(parts: readonly string[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  let place: Place = { line: 0, head: 0, byte: 0 };
  for (; place.line < parts.length - 1; place = placeAfter(parts, place))
    places.set(parts[place.line] ?? "", place);
  return places;
}

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
