/** What a second thread has read, folder by folder at the top, given as if an index had it. */
import { sep } from "node:path";
import type { Profile } from "../validate/profiles.ts";
import type { NewIndex } from "./index-file.ts";
import type { ReadAhead, StartReadAhead } from "./second-thread.ts";

interface AheadEntries {
  begin(start: StartReadAhead, folders: readonly string[], profile: Profile): void;
  /** The JSON of an entry that the other thread has read or found unchanged. */
  find(key: string, isFolder?: boolean): string | undefined;
}

export function createAheadEntries(root: string, created: NewIndex): AheadEntries {
  let ahead: ReadAhead | undefined;
  let turn: ReturnType<ReadAhead["turn"]>;
  return {
    begin(start, folders, profile) {
      ahead = start({ root, folders, profile });
    },
    find(key, isFolder) {
      if (ahead === undefined) return undefined;
      const end = isFolder ? key.indexOf(sep, 1) : 0;
      // `/name/`: a folder at the top.
      if (end === -1 || end === key.length - 1) {
        turn = ahead.turn(key.slice(1, -1));
        if (turn?.isFirst) created.addEntries(turn.entries.text);
      }
      return turn?.entries.find(key)?.json;
    },
  };
}
