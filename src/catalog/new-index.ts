/**
 * The text of an index in the making: entries taken over from the old one and new ones, in the order of the listing.
 * Entries that stand side by side in the old text stay one piece; new ones are joined batch by batch, since thousands of
 * small strings take several times the room of a large one.
 */
import type { OldEntry, OldIndex } from "./old-index.ts";

export interface NewIndex {
  keep(entry: OldEntry): void;
  add(key: string, stamp: string, json: string): void;
  /** Whether nothing was added and nothing is missing. */
  isSame(): boolean;
  /** The pieces of its text; each begins and ends with whole lines. */
  render(heading: string): readonly string[];
}

/** Lines that are joined at a time. */
const BATCH = 1536;

export function createNewIndex(old: OldIndex): NewIndex {
  const pieces: string[] = [];
  let lines: string[] = [];
  let keptFrom = 0;
  let keptTo = 0;
  const flushLines = (): void => {
    if (lines.length > 0) pieces.push(`${lines.join("\n")}\n`);
    lines = [];
  };
  const flushKept = (): void => {
    if (keptTo > keptFrom) lines.push(old.slice(keptFrom, keptTo));
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
      // A path with a line break in it is read anew each time.
      if (key.includes("\n")) return;
      flushKept();
      if (lines.push(key, stamp, json) >= BATCH) flushLines();
    },
    isSame: () => pieces.length + lines.length === 0 && old.isWhole(keptFrom, keptTo),
    render(heading) {
      flushKept();
      flushLines();
      return [`${heading}\n${Date.now()}\n`, ...pieces];
    },
  };
}
