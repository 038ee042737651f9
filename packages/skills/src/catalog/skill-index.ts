/**
 * What was read last time, so that an unchanged tree is fast to list again. Keyed by path and stamp; only a cache: it
 * can be deleted at any time, an error in it means reading again, and activation never uses it.
 */
import { type BigIntStats, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { VERSION } from "@metier/base/places";
import { markOf } from "@metier/base/text";
import type { CheckedSkill } from "../skill/skill.ts";
import { type ListedFolder, type ListFolder, readFolderListing } from "../sources/skill-files.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { stampOf } from "../trust/content-identity.ts";
import type { Profile } from "../validate/profiles.ts";
import { createAheadEntries } from "./ahead-entries.ts";
import type { FetchedFile, FetchedFolder } from "./fetched-batch.ts";
import {
  createNewIndex,
  type NewIndex,
  type OldIndex,
  type PlainSearch,
  readOldIndex,
} from "./index-file.ts";
import { newIndexFile } from "./new-index-file.ts";
import { packChecked, packListing, unpackChecked, unpackListing } from "./packed-entries.ts";
import { createRefinding } from "./refind.ts";
import { isSearched, openRootThreads, type RootThreads, type StartThread } from "./root-threads.ts";
import { NATIVE_FROM, type SecondThread } from "./second-thread.ts";
import { currentStats, isSettled, lastChange } from "./stamps.ts";

export { currentStamp, isSettled, lastChange } from "./stamps.ts";

interface SkillIndexes {
  /** Saved when its root was read; a shared one only by `saveShared`. */
  of(root: SkillRoot): SkillIndex | undefined;
  saveShared(): void;
}

interface IndexesOptions {
  readonly cacheFolder: string | undefined;
  readonly profile: Profile;
  /** All that will be read, in this order. */
  readonly roots: readonly SkillRoot[];
  /** Without it, one thread reads everything. */
  readonly startThread?: StartThread | undefined;
  /**
   * From how many skills to keep an index, and from how many folders to use a second thread: for tests with small
   * trees.
   */
  readonly atLeast?: AtLeast;
}

interface AtLeast {
  readonly skills: number;
  readonly folders: number;
}

/**
 * Which index a root has: its own, but one for all adjacent installed skills, since each of them is a root and too
 * small for an index. Without a cache folder there are none.
 */
export function openIndexes({
  cacheFolder,
  profile,
  roots,
  startThread,
  atLeast = AT_LEAST,
}: IndexesOptions): SkillIndexes {
  if (cacheFolder === undefined) return { of: () => undefined, saveShared: () => undefined };
  const shared = new Map<string, SkillIndex>();
  // Its heading says which root it is for, so a name collision only costs time.
  const indexFile = (root: string): string =>
    join(cacheFolder, "index", `${markOf(`${profile}\0${root}`)}.txt`);
  const threads = openRootThreads({ roots, atLeast: atLeast.folders, indexFile, startThread });
  const open = (root: string, folders?: readonly string[], known?: OldIndex): SkillIndex => {
    const path = indexFile(root);
    const heading = indexHeading(root, profile);
    const file = newIndexFile(path, heading);
    const thread = threads.take(root);
    const old = known ?? readOldIndex(path, heading, thread !== undefined);
    const { index, skills, created } = openSkillIndex(root, {
      old,
      write: file.write,
      thread,
      startLater: threads.start,
      folders,
      withHeads: profile !== "lenient",
    });
    return {
      ...index,
      reopen() {
        file.drop();
        return open(root, folders, { ...old, search: undefined });
      },
      save(search) {
        thread?.dismiss();
        if (skills() < atLeast.skills || created.isSame()) return file.drop();
        created.end();
        const isPlain = search && index.isPlain() && search.found === skills();
        file.finish(isPlain ? search : undefined);
      },
    };
  };
  return {
    of(root) {
      if (isSearched(root)) return open(root.path);
      // Each skill of a source has its own folder, so there is nothing to share.
      if (root.source) return undefined;
      const folder = dirname(root.path);
      const index = shared.get(folder) ?? open(folder, installedIn(folder, roots));
      shared.set(folder, index);
      return { ...index, save: () => undefined };
    },
    saveShared() {
      for (const index of shared.values()) index.save(undefined);
    },
  };
}

/** The names of the installed skills' folders there, in the order in which they are read. */
function installedIn(folder: string, roots: readonly SkillRoot[]): readonly string[] {
  return roots
    .filter(({ path, locked }) => locked && dirname(path) === folder)
    .map(({ path }) => basename(path));
}

/** Raise this when the meaning of an entry changes: what is read, how it is checked, how it is stored. */
const FORMAT = 8;
/**
 * Fewer skills are read faster than an index, even by a program that must first compile its reader; fewer folders,
 * before a second thread has started.
 */
const AT_LEAST: AtLeast = { skills: 4, folders: NATIVE_FROM };

function indexHeading(root: string, profile: Profile): string {
  return `metier-index ${FORMAT} ${VERSION} ${profile} ${JSON.stringify(root)}`;
}

export interface SkillIndex extends IndexedFolder {
  /** Instead of `save`: an index for reading all of it again by a search, for which nothing counts that this one gave. */
  reopen(): SkillIndex;
  /**
   * Writes the index if anything changed; `search`, if it reported nothing and found only folders. Never throws: a
   * cache that cannot be written is not an error.
   */
  save(search: PlainSearch | undefined): void;
}

interface IndexedFolder {
  /** The last search's skill files, if a search now should find the same; they may then be recalled in this order. */
  refind(nested: boolean): readonly string[] | undefined;
  /** Asked when all is read: whether a search would find what `refind` gave, if anything. */
  isRefound(): boolean;
  /** Whether no folder had a link, a `.gitignore` or a special file. */
  isPlain(): boolean;
  /** Lists a folder, from the index if nothing changed. */
  readonly listFolder: ListFolder;
  /** What was read of a skill file last time, if it is unchanged. */
  recall(file: string): CheckedSkill | undefined;
  /** The content of a skill file, if the second thread has read it. */
  fetched(file: string): FetchedFile | undefined;
  /** Stores what was just read; the stamp is the opened file's. */
  keep(file: string, stamp: string, checked: CheckedSkill): void;
}

interface IndexParts {
  readonly old: OldIndex;
  readonly thread: SecondThread | undefined;
  /** For a root that turns out to be large when it is listed. */
  readonly startLater: RootThreads["start"];
  /** What will be asked for, if nobody lists the root itself. */
  readonly folders: readonly string[] | undefined;
  /** Whether a usual file's head is enough. */
  readonly withHeads: boolean;
  /** Takes the entries of the new index, piece by piece. */
  write(text: string): unknown;
}

interface OpenedIndex {
  readonly index: IndexedFolder;
  readonly created: NewIndex;
  /** How many it has. */
  skills(): number;
}

/**
 * `root` is the prefix of every requested path. A folder's key ends with `/`, a file's does not: a path can be both
 * over time.
 */
function openSkillIndex(
  root: string,
  { old, write, thread, startLater, folders: expected, withHeads }: IndexParts,
): OpenedIndex {
  const created = createNewIndex(old, write);
  const ahead = createAheadEntries(root);
  const again = createRefinding(root, old, thread);
  const readAhead = (folders: readonly string[]): void => {
    if (old.isEmpty) ahead.begin(thread ?? startLater(folders.length), { folders, withHeads });
  };
  if (expected) readAhead(expected);
  let skills = 0;
  let isPlain = true;
  const keyOf = (absolute: string, kind: "/" | ""): string => absolute.slice(root.length) + kind;
  const note = (key: string, listing: ListedFolder): ListedFolder => {
    isPlain &&= isPlainListing(key, listing);
    return listing;
  };
  const index: IndexedFolder = {
    isPlain: () => isPlain,
    isRefound: again.isSo,

    refind(nested) {
      const files = again.find(nested);
      if (files) created.keep(old.all);
      return files;
    },

    listFolder(absolute, top) {
      const key = keyOf(absolute, "/");
      const fetched = takeFetched(key, ahead.folder(key), top, created);
      if (fetched) return note(key, fetched);
      // Stamped before it is listed: a change in between makes the stamp old, never the listing.
      const stats = statSync(absolute, { bigint: true });
      const known = old.isEmpty ? undefined : findSame(old, created, key, stats, unpackListing);
      const listing = known ?? readFolderListing(absolute, top);
      if (known === undefined) created.add(key, stampOf(stats), packListing(listing));
      if (top && expected === undefined) readAhead(listing.folders);
      return note(key, listing);
    },

    recall(file) {
      if (old.isEmpty) return undefined;
      const key = keyOf(file, "");
      let known = unpackChecked(parseOrUndefined(again.next(key)), file);
      const stats = known === undefined ? currentStats(file) : undefined;
      if (stats) known = findSame(old, created, key, stats, (packed) => unpackChecked(packed, file));
      if (known !== undefined) skills += 1;
      return known;
    },

    fetched: (file) => ahead.file(keyOf(file, "")),

    keep(file, stamp, checked) {
      skills += 1;
      created.add(keyOf(file, ""), stamp, packChecked(checked, file));
    },
  };
  return { index, created, skills: () => skills };
}

/** The second thread's listing goes into the new index unchanged. */
function takeFetched(
  key: string,
  given: FetchedFolder | undefined,
  top: boolean,
  created: NewIndex,
): ListedFolder | undefined {
  if (given === undefined) return undefined;
  // Nearly all are plain, and a number needs no parser.
  const entries = Number(given.listing);
  const listing = unpackListing(entries > 0 ? entries : parseOrUndefined(given.listing));
  // It lists no flat files, which an installed skill without a skill file may have.
  if (listing === undefined || (top && listing.skillFiles.length === 0)) return undefined;
  created.add(key, given.stamp, given.listing);
  return listing;
}

/** What the old index has, if unchanged; it is then in the new one, too. */
function findSame<Value>(
  old: OldIndex,
  created: NewIndex,
  key: string,
  stats: BigIntStats,
  unpack: (packed: unknown) => Value | undefined,
): Value | undefined {
  const entry = old.find(key, stampOf(stats));
  if (entry === undefined || !isSettled(lastChange(stats), old.writtenAt)) return undefined;
  const value = unpack(parseOrUndefined(entry.json));
  if (value !== undefined) created.keep(entry);
  return value;
}

/** A listing shows everything: no link leads elsewhere, no file says what counts, and the index has it. */
function isPlainListing(key: string, { links, specialFiles, hasGitignore }: ListedFolder): boolean {
  return links.length + specialFiles.length === 0 && !hasGitignore && !key.includes("\n");
}

/** Written as JSON; a damaged entry counts as absent. */
function parseOrUndefined(json: string | undefined): unknown {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
