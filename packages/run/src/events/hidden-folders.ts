/**
 * Folders that texts are shown without, ordered so that a few comparisons find the ones that match at a position: a
 * service has thousands, and every path in every text is checked.
 */
import { isAbsolute } from "node:path";

interface HiddenFolder {
  readonly folder: string;
  readonly shown: string;
  /** The longest other one that is a prefix of it. */
  readonly shorter: HiddenFolder | undefined;
}

interface HiddenFolders {
  /** A folder keeps the first name it gets. */
  add(folder: string, shown: string): void;
  /** The longest one at this position in the text; `before`: what preceded the text. */
  find(text: string, at: number, before: string): HiddenFolder | undefined;
  /** The next position where one may start; the text's length if there is none. */
  next(text: string, from: number): number;
  /** Where the end of the text may be the start of one; its length if not. */
  beginAtEnd(text: string): number;
}

/** A single segment, like `/app`, is only hidden where a path starts: it may be part of a URL. */
const ONE_SEGMENT = /^[\\/][^\\/]+$/;
const NAME_BEFORE = /[\w.~-]/;
const NAME_AFTER = /[\w-]/;

export function openHiddenFolders(): HiddenFolders {
  const names = new Map<string, string>();
  const firsts = new Set<number>();
  let longest = 0;
  let sorted: readonly HiddenFolder[] | undefined;
  const inOrder = (): readonly HiddenFolder[] => {
    sorted ??= sortFolders(names);
    return sorted;
  };
  const next: HiddenFolders["next"] = (text, from) => {
    let at = from;
    while (at < text.length && !firsts.has(text.charCodeAt(at))) at += 1;
    return at;
  };
  return {
    add(folder, shown) {
      const plain = folder.replace(/[\\/]+$/, "");
      if (plain === "" || !isAbsolute(plain) || names.has(plain)) return;
      names.set(plain, shown);
      firsts.add(plain.charCodeAt(0));
      longest = Math.max(longest, plain.length);
      sorted = undefined;
    },
    find(text, at, before) {
      const all = inOrder();
      const rest = text.slice(at, at + longest);
      // The candidates are the last one that doesn't sort after the rest of the text, and its prefixes.
      let found = all[countUntil(all, (folder) => folder <= rest) - 1];
      while (found && !beginsAt(found.folder, text, at, before)) found = found.shorter;
      return found;
    },
    next,
    beginAtEnd(text) {
      const all = inOrder();
      for (
        let at = next(text, Math.max(0, text.length - longest));
        at < text.length;
        at = next(text, at + 1)
      ) {
        const rest = text.slice(at);
        if (all[countUntil(all, (folder) => folder < rest)]?.folder.startsWith(rest)) return at;
      }
      return text.length;
    },
  };
}

function sortFolders(names: ReadonlyMap<string, string>): readonly HiddenFolder[] {
  const sorted: HiddenFolder[] = [];
  // By code units, as `<` compares.
  for (const folder of [...names.keys()].sort()) {
    let shorter = sorted.at(-1);
    while (shorter && !folder.startsWith(shorter.folder)) shorter = shorter.shorter;
    sorted.push({ folder, shown: names.get(folder) ?? "", shorter });
  }
  return sorted;
}

/** How many at the start match; the predicate is false for all that follow. */
function countUntil(all: readonly HiddenFolder[], fits: (folder: string) => boolean): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (fits(all[middle]?.folder ?? "")) low = middle + 1;
    else high = middle;
  }
  return low;
}

function beginsAt(folder: string, text: string, at: number, before: string): boolean {
  if (!text.startsWith(folder, at) || NAME_AFTER.test(text[at + folder.length] ?? "")) return false;
  return !ONE_SEGMENT.test(folder) || !NAME_BEFORE.test(at === 0 ? before : (text[at - 1] ?? ""));
}
