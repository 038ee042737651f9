/**
 * The index that the last listing wrote, asked entry by entry. Listings ask in the order in which the last one wrote,
 * so the next entry is nearly always the wanted one, and the text is not taken apart before another is asked for.
 */
import { readFileSync } from "node:fs";

export interface OldIndex {
  readonly isEmpty: boolean;
  /** In milliseconds. */
  readonly writtenAt: number;
  /** What is kept under a key, if it has this stamp. */
  find(key: string, stamp: string): OldEntry | undefined;
  /** The entries from one place to another, without the last line end. */
  slice(from: number, to: number): string;
  /** Whether every entry stands between the two places. */
  isWhole(from: number, to: number): boolean;
}

export interface OldEntry {
  /** Its place: three lines with key, stamp and JSON. */
  readonly from: number;
  readonly to: number;
  readonly json: string;
}

const NEWLINE = 0x0a;

export function readOldIndex(path: string, heading: string): OldIndex {
  try {
    const text = readFileSync(path, "utf8");
    const start = text.indexOf("\n", heading.length + 1) + 1;
    const writtenAt = Number(text.slice(heading.length + 1, start));
    // Cut short, of another version or for another root: everything is read anew.
    const isUsable =
      text.startsWith(`${heading}\n`) && text.endsWith("\n") && Number.isSafeInteger(writtenAt);
    return isUsable ? openText(text, start, writtenAt) : openText("", 0, 0);
  } catch {
    return openText("", 0, 0); // Absent or unreadable.
  }
}

function openText(text: string, start: number, writtenAt: number): OldIndex {
  let next = start;
  let places: ReadonlyMap<string, number> | undefined;
  const placeOf = (key: string): number | undefined => {
    if (text.startsWith(key, next) && text.charCodeAt(next + key.length) === NEWLINE) return next;
    places ??= listPlaces(text, start);
    return places.get(key);
  };
  return {
    isEmpty: start === text.length,
    writtenAt,
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
    slice: (from, to) => text.slice(from, to - 1),
    isWhole: (from, to) => from === start && to === text.length,
  };
}

/** Where the entry of each key begins. */
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
