/** What the second thread has fetched, by index key. */
import { sep } from "node:path";
import type { Fetched, FetchedFile, FetchedFolder } from "./fetched-batch.ts";
import type { ReadAhead, SecondThread } from "./second-thread.ts";
import type { AheadWork } from "./thread-tasks.ts";

interface AheadEntries {
  begin(thread: SecondThread | undefined, work: Omit<AheadWork, "root">): void;
  folder(key: string): FetchedFolder | undefined;
  file(key: string): FetchedFile | undefined;
}

export function createAheadEntries(root: string): AheadEntries {
  let ahead: ReadAhead | undefined;
  let fetched: Fetched | undefined;
  return {
    begin(thread, work) {
      ahead = thread?.readAhead({ ...work, root });
    },
    folder(key) {
      if (ahead === undefined) return undefined;
      const end = key.indexOf(sep, 1);
      // `/name/`: a folder at the top.
      if (end === -1 || end === key.length - 1) fetched = ahead.turn(key.slice(1, -1));
      return fetched?.folder(key);
    },
    file: (key) => fetched?.file(key),
  };
}
