/**
 * Which roots get a second thread, and when. A large root is recognized before it is read, by what is known from outside;
 * the thread for the first one starts at once, so that it is ready when the smaller roots before it have been read.
 */
import { statSync } from "node:fs";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { lastSearch } from "./index-file.ts";
import type { SecondThread } from "./second-thread.ts";

/** A thread for a root with this many folders, if one is worth its start. */
export type StartThread = (folders: number) => SecondThread | undefined;

export interface RootThreads {
  /** The thread of a root that is known to be large. */
  take(root: string): SecondThread | undefined;
  /** A thread for a root with this many folders, which could not be recognized before. */
  start(folders: number): SecondThread | undefined;
}

interface RootThreadsOptions {
  /** All that will be read, in this order. */
  readonly roots: readonly SkillRoot[];
  /** From this many folders on, a root is large. */
  readonly atLeast: number;
  /** The file of a root's index. */
  indexFile(root: string): string;
  readonly startThread: StartThread | undefined;
}

export function openRootThreads({ roots, atLeast, indexFile, startThread }: RootThreadsOptions): RootThreads {
  /** As far as it is known from outside. */
  const countFolders = (root: string): number => {
    const links = countLinks(root);
    // Most roots are small or absent, and this is done at every start.
    if (links < atLeast && links !== NOT_COUNTED) return 0;
    const search = lastSearch(indexFile(root));
    return search === "none" ? links : (search?.found ?? 0);
  };
  const start: StartThread = (folders) => (folders < atLeast ? undefined : startThread?.(folders));
  const large = new Map<string, number>();
  for (const { path } of startThread ? roots.filter(isSearched) : []) {
    const folders = countFolders(path);
    if (folders >= atLeast) large.set(path, folders);
  }
  let early: { readonly root: string; readonly thread: SecondThread } | undefined;
  for (const [root, folders] of large) {
    const thread = early ? undefined : start(folders);
    if (thread) early = { root, thread };
  }
  return {
    take(root) {
      const folders = large.get(root);
      if (folders === undefined) return undefined;
      large.delete(root);
      return early?.root === root ? early.thread : start(folders);
    },
    start,
  };
}

/** An installed skill and a source's are folders that are known, not searched for. */
export function isSearched({ locked, source }: SkillRoot): boolean {
  return locked === undefined && source === undefined;
}

/** The number of links of a folder whose file system does not count the folders in it. */
const NOT_COUNTED = 1;

/** On most file systems, each folder in a folder is a link to it. */
function countLinks(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.nlink ?? 0;
  } catch {
    return 0; // The search says why.
  }
}
