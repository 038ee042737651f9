/**
 * The last search once more, without searching: if it had nothing to say and none of its folders and files has changed
 * since, it finds the same. They are gone through in the order in which they were asked for.
 */

import { stampOf } from "../trust/content-identity.ts";
import type { OldIndex } from "./index-file.ts";
import { currentStats, isSettled, lastChange } from "./stamps.ts";

interface Refinding {
  find(nested: boolean): readonly string[] | undefined;
  /** The JSON of the file that comes next. */
  next(key: string): string | undefined;
}

export function createRefinding(root: string, old: OldIndex): Refinding {
  const keys: string[] = [];
  const texts: string[] = [];
  let at = 0;
  return {
    find(nested) {
      if (old.search === undefined || old.search.nested !== nested) return undefined;
      const isSame = old.every((key, stamp, { json }) => {
        const isFolder = key.endsWith("/");
        const stats = currentStats(root + (isFolder ? key.slice(0, -1) : key));
        if (stats === undefined || stampOf(stats) !== stamp) return false;
        if (!isSettled(lastChange(stats), old.writtenAt)) return false;
        if (!isFolder) {
          keys.push(key);
          texts.push(json);
        }
        return true;
      });
      if (isSame && keys.length === old.search.found) return keys.map((key) => root + key);
      keys.length = 0;
      return undefined;
    },
    next: (key) => (keys[at] === key ? texts[at++] : undefined),
  };
}
