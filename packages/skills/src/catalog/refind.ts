/**
 * Repeats the last search without searching: if it reported nothing and none of its folders and files has changed, it
 * finds the same. Checks them in their original order. What the second thread checks is taken for unchanged until all is
 * read, so that this thread reads meanwhile.
 */
import type { OldIndex } from "./index-file.ts";
import type { SecondThread, StampCheck } from "./second-thread.ts";
import { isUnchanged } from "./stamps.ts";

interface Refinding {
  /** `undefined` if something has changed, as far as this thread knows. */
  find(nested: boolean): readonly string[] | undefined;
  /** Whether what `find` gave, if anything, is so. Waits for the second thread. */
  isSo(): boolean;
  /** The next file's JSON. */
  next(key: string): string | undefined;
}

export function createRefinding(root: string, old: OldIndex, thread?: SecondThread): Refinding {
  const keys: string[] = [];
  /** Two for each key: where its JSON starts and ends. */
  const places: number[] = [];
  let at = 0;
  let other: StampCheck | undefined;
  return {
    isSo: () => other?.end() ?? true,
    find(nested) {
      if (old.search === undefined || old.search.nested !== nested) return undefined;
      const { bytes, writtenAt, search, all } = old;
      const { from: start, to: end } = all;
      other = bytes && thread?.checkStamps({ root, ...bytes, start, end, writtenAt });
      const isSame = old.every(({ from, keyEnd, stampEnd, to }) => {
        const isKnown = other?.isUnchanged(from);
        if (isKnown === false) return false;
        const key = old.text(from, keyEnd);
        if (isKnown === undefined && !isUnchanged(root, key, old.text(keyEnd + 1, stampEnd), writtenAt))
          return false;
        if (!key.endsWith("/")) {
          keys.push(key);
          places.push(stampEnd + 1, to - 1);
        }
        return true;
      });
      if (isSame && keys.length === search.found) return keys.map((key) => root + key);
      keys.length = 0;
      other?.end();
      other = undefined;
      return undefined;
    },
    next(key) {
      if (keys[at] !== key) return undefined;
      const json = old.text(places[2 * at] ?? 0, places[2 * at + 1] ?? 0);
      at += 1;
      return json;
    },
  };
}
