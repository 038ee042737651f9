/**
 * Repeats the last search without searching: if it reported nothing and none of its folders and files has changed, it
 * finds the same. Checks them in their original order.
 */
import type { OldIndex } from "./index-file.ts";
import type { SecondThread } from "./second-thread.ts";
import { isUnchanged } from "./stamps.ts";

interface Refinding {
  find(nested: boolean): readonly string[] | undefined;
  /** The next file's JSON. */
  next(key: string): string | undefined;
}

export function createRefinding(root: string, old: OldIndex, thread?: SecondThread): Refinding {
  const keys: string[] = [];
  const texts: string[] = [];
  let at = 0;
  return {
    find(nested) {
      if (old.search === undefined || old.search.nested !== nested) return undefined;
      const { bytes, writtenAt, search, all } = old;
      const other = bytes && thread?.checkStamps({ root, bytes, start: all.from, end: all.to, writtenAt });
      const isSame = old.every((key, stamp, { from, json }) => {
        const isKnown = other?.isUnchanged(from);
        if (isKnown === false || (isKnown === undefined && !isUnchanged(root, key, stamp, writtenAt)))
          return false;
        if (!key.endsWith("/")) {
          keys.push(key);
          texts.push(json);
        }
        return true;
      });
      other?.end();
      if (isSame && keys.length === search.found) return keys.map((key) => root + key);
      keys.length = 0;
      return undefined;
    },
    next: (key) => (keys[at] === key ? texts[at++] : undefined),
  };
}
