/**
 * The index on disk: the last listing's text, read entry by entry, and the text of the next one. Knows nothing about
 * changed files, or about what an entry means.
 */
import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import type { StampWork } from "./thread-tasks.ts";

export interface OldIndex {
  readonly isEmpty: boolean;
  /** To be given to another thread. */
  readonly bytes?: IndexBytes | undefined;
  /** In milliseconds. */
  readonly writtenAt: number;
  readonly search?: PlainSearch | undefined;
  /** What is stored under a key, if it has this stamp. */
  find(key: string, stamp: string): OldEntry | undefined;
  /** Every entry in order, until the callback returns `false`; returns whether it never did. */
  every(isGood: (entry: EntryPlaces) => boolean): boolean;
  /** A part of the text: some entries, or an entry's key, stamp or JSON. */
  text(from: number, to: number): string;
  /** From the first entry to the last. */
  readonly all: Pick<OldEntry, "from" | "to">;
  /** Whether every entry is between the two positions. */
  isWhole(from: number, to: number): boolean;
}

/** The index as it is on disk, and where in it its first entry starts and its last one ends. */
type IndexBytes = Pick<StampWork, "bytes" | "firstByte" | "endByte">;

/**
 * A search that followed no link, read no `.gitignore` and reported nothing: while all its entries are unchanged, it
 * finds the same.
 */
export interface PlainSearch {
  /** How many skills it found, all in folders. */
  readonly found: number;
  /** Whether it looked for nested skills. */
  readonly nested: boolean;
}

/** Where the three lines of an entry are. One object is used for all, because there are thousands. */
interface EntryPlaces {
  readonly from: number;
  readonly keyEnd: number;
  readonly stampEnd: number;
  readonly to: number;
}

interface OldEntry {
  /** Its position: three lines with key, stamp and JSON. */
  readonly from: number;
  readonly to: number;
  readonly json: string;
}

const NEWLINE = 0x0a;

/** What the last line of an index says of its search, without reading the rest; `none` if there is no index. */
export function lastSearch(path: string): PlainSearch | undefined | "none" {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, "r");
    const start = Math.max(0, fstatSync(descriptor).size - LONGEST_END);
    const end = Buffer.alloc(LONGEST_END);
    return searchOf(end.toString("latin1", 0, readSync(descriptor, end, 0, LONGEST_END, start)));
  } catch {
    return "none"; // Absent or unreadable.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Listings ask in the order in which the last one wrote, so the next entry is nearly always the right one, and the text
 * is not parsed until another is needed. `isForTwo`: its bytes are kept for another thread.
 */
export function readOldIndex(path: string, heading: string, isForTwo: boolean): OldIndex {
  try {
    const bytes = readFileSync(path);
    return openOldIndex(bytes.toString("utf8"), heading, isForTwo ? ownBuffer(bytes) : undefined);
  } catch {
    return openText("", { start: 0, writtenAt: 0 }); // Absent or unreadable.
  }
}

/** Small files share one buffer, and another thread gets a buffer as a whole. */
function ownBuffer({ buffer, byteOffset, byteLength }: Buffer): ArrayBuffer | undefined {
  if (!(buffer instanceof ArrayBuffer)) return undefined;
  return buffer.byteLength === byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
}

/** An index with more or less text than was written, or of another version or root, counts as absent. */
function openOldIndex(text: string, heading: string, bytes: ArrayBuffer | undefined): OldIndex {
  const timeEnd = text.indexOf("\n", heading.length + 1);
  const writtenAt = Number(text.slice(heading.length + 1, timeEnd));
  const end = text.lastIndexOf("\n", text.length - 2) + 1;
  const last = LAST_LINE.exec(text.slice(end))?.groups;
  const isWhole =
    text.startsWith(`${heading}\n`) && timeEnd > 0 && end > timeEnd && Number(last?.length) === end;
  if (!isWhole || !Number.isSafeInteger(writtenAt)) return openText("", { start: 0, writtenAt: 0 });
  const start = timeEnd + 1;
  return openText(text.slice(0, end), {
    start,
    writtenAt,
    search: searchOf(text.slice(end)),
    bytes: bytes && {
      bytes,
      firstByte: Buffer.byteLength(text.slice(0, start)),
      endByte: bytes.byteLength - (text.length - end), // The last line is ASCII.
    },
  });
}

function searchOf(end: string): PlainSearch | undefined {
  const last = LAST_LINE.exec(end)?.groups;
  return last?.found ? { found: Number(last.found), nested: last.nested !== undefined } : undefined;
}

/** What precedes the entries. `startedAt` is when reading started, so that a later change is noticed. */
export function indexBeginning(heading: string, startedAt: number): string {
  return `${heading}\n${startedAt}\n`;
}

/** What follows the entries, known only at the end. `length`: of the text before it. A file without it was truncated. */
export function indexEnd(search: PlainSearch | undefined, length: number): string {
  return `end${search ? ` ${search.found}${search.nested ? " nested" : ""}` : ""} of ${length}\n`;
}

const LAST_LINE = /(?:^|\n)end(?: (?<found>\d+)(?<nested> nested)?)? of (?<length>\d+)\n$/;
const LONGEST_END = 64;

function openText(
  text: string,
  { start, ...about }: Pick<OldIndex, "writtenAt" | "search" | "bytes"> & { readonly start: number },
): OldIndex {
  let next = start;
  let places: ReadonlyMap<string, number> | undefined;
  const placeOf = (key: string): number | undefined => {
    if (text.startsWith(key, next) && text.charCodeAt(next + key.length) === NEWLINE) return next;
    places ??= listPlaces(text, start);
    return places.get(key);
  };
  return {
    isEmpty: start === text.length,
    ...about,
    all: { from: start, to: text.length },
    find(key, stamp) {
      const from = placeOf(key);
      if (from === undefined) return undefined;
      const stampAt = from + key.length + 1;
      const stampEnd = text.indexOf("\n", stampAt);
      const to = text.indexOf("\n", stampEnd + 1) + 1;
      next = to;
      const isSame = stampEnd === stampAt + stamp.length && text.startsWith(stamp, stampAt);
      return isSame ? { from, to, json: text.slice(stampEnd + 1, to - 1) } : undefined;
    },
    every(isGood) {
      const entry = { from: start, keyEnd: 0, stampEnd: 0, to: start };
      for (; entry.from < text.length; entry.from = entry.to) {
        entry.keyEnd = text.indexOf("\n", entry.from);
        entry.stampEnd = text.indexOf("\n", entry.keyEnd + 1);
        entry.to = text.indexOf("\n", entry.stampEnd + 1) + 1;
        if (entry.to <= entry.keyEnd) return false; // An entry lacks lines.
        if (!isGood(entry)) return false;
      }
      return true;
    },
    text: (from, to) => text.slice(from, to),
    isWhole: (from, to) => from === start && to === text.length,
  };
}

/** Where each key's entry starts. */
function listPlaces(text: string, start: number): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  let from = start;
  while (from < text.length) {
    const keyEnd = text.indexOf("\n", from);
    const to = text.indexOf("\n", text.indexOf("\n", keyEnd + 1) + 1) + 1;
    if (to <= keyEnd) break; // An entry lacks lines.
    places.set(text.slice(from, keyEnd), from);
    from = to;
  }
  return places;
}

export interface NewIndex {
  keep(entry: Pick<OldEntry, "from" | "to">): void;
  add(key: string, stamp: string, json: string): void;
  /** Whether nothing was added and nothing is missing. */
  isSame(): boolean;
  /** Writes the rest. */
  end(): void;
}

/** Lines joined at a time. */
const BATCH = 1536;

/**
 * Entries copied from the old index and new ones, in listing order, written as they come instead of held until the
 * listing is done. Entries adjacent in the old text stay one piece.
 */
export function createNewIndex(old: OldIndex, write: (text: string) => unknown): NewIndex {
  let lines: string[] = [];
  let hasWritten = false;
  let keptFrom = 0;
  let keptTo = 0;
  const hand = (text: string): void => {
    hasWritten = true;
    if (text !== "") write(text);
  };
  const flushLines = (): void => {
    if (lines.length > 0) hand(`${lines.join("\n")}\n`);
    lines = [];
  };
  const flushKept = (): void => {
    if (keptTo > keptFrom) lines.push(old.text(keptFrom, keptTo - 1)); // Lines are joined.
    keptFrom = keptTo;
  };
  return {
    keep({ from, to }) {
      if (from !== keptTo) {
        flushKept();
        keptFrom = from;
      }
      keptTo = to;
    },
    add(key, stamp, json) {
      // A path with a line break in it is read again each time.
      if (key.includes("\n")) return;
      flushKept();
      if (lines.push(key, stamp, json) >= BATCH) flushLines();
    },
    isSame: () => !hasWritten && lines.length === 0 && old.isWhole(keptFrom, keptTo),
    end() {
      flushKept();
      flushLines();
    },
  };
}
