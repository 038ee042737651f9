/**
 * What was read last time, so that an unchanged tree is cheap to list again. Keyed by path and stamp; only a cache:
 * it can be deleted at any time, a fault in it means reading again, and activation never uses it.
 */
import { type BigIntStats, statSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { writeAtomic } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import type { CheckedSkill } from "../skill/skill.ts";
import { type ListedFolder, type ListFolder, readFolderListing } from "../sources/skill-files.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { stampOf } from "../trust/content-identity.ts";
import type { Profile } from "../validate/profiles.ts";
import {
  createNewIndex,
  type NewIndex,
  type OldIndex,
  type PackedChecked,
  type PackedListing,
  type PlainSearch,
  packChecked,
  packListing,
  readOldIndex,
  unpackChecked,
  unpackListing,
} from "./index-file.ts";
import type { ReadAhead, StartReadAhead } from "./second-thread.ts";

interface SkillIndexes {
  /** Saved when its root was read; a shared one only by `saveShared`. */
  of(root: SkillRoot): SkillIndex | undefined;
  saveShared(): void;
}

interface IndexesOptions {
  readonly cacheFolder: string | undefined;
  readonly profile: Profile;
  /** Without it, one thread reads everything. */
  readonly startReadAhead?: StartReadAhead | undefined;
}

/**
 * Which index a root has: one to itself, but one for all installed skills that lie beside each other, since each of them
 * is a root and too small for an index. No indexes without a cache folder.
 */
export function openIndexes({ cacheFolder, profile, startReadAhead }: IndexesOptions): SkillIndexes {
  const shared = new Map<string, SkillIndex>();
  const open = (root: string, start: StartReadAhead | undefined): SkillIndex => {
    const path = join(cacheFolder ?? "", "index", `${nameFor(`${profile}\0${root}`)}.txt`);
    const heading = indexHeading(root, profile);
    const { index, skills, created } = openSkillIndex(root, readOldIndex(path, heading), profile, start);
    return {
      ...index,
      save(search) {
        if (skills() < MIN_SKILLS || created.isSame()) return;
        const isPlain = search && index.isPlain() && search.found === skills();
        writeIndex(path, created.render(heading, isPlain ? search : undefined));
      },
    };
  };
  return {
    of({ path, locked, source }) {
      // Each skill of a source has a folder to itself, so that there is nothing to share.
      if (cacheFolder === undefined || source) return undefined;
      if (!locked) return open(path, startReadAhead);
      const folder = dirname(path);
      const index = shared.get(folder) ?? open(folder, undefined);
      shared.set(folder, index);
      return { ...index, save: () => undefined };
    },
    saveShared() {
      for (const index of shared.values()) index.save(undefined);
    },
  };
}

/** Raise when the meaning of an entry changes: what is read, how it is checked, how it is stored. */
const FORMAT = 5;
/** Fewer skills than this are read faster than an index is. */
const MIN_SKILLS = 32;

function indexHeading(root: string, profile: Profile): string {
  return `metier-index ${FORMAT} ${VERSION} ${profile} ${JSON.stringify(root)}`;
}

export interface SkillIndex extends IndexedFolder {
  /**
   * Writes the index if anything in it changed; `search`, if it had nothing to say and found folders alone. Never throws: a
   * cache that cannot be written is no fault.
   */
  save(search: PlainSearch | undefined): void;
}

interface IndexedFolder {
  /** The skill files that the last search found, if a search now would find the same; they may then be recalled in this order. */
  refind(nested: boolean): readonly string[] | undefined;
  /** Whether no folder had a link, a `.gitignore` or a special file. */
  isPlain(): boolean;
  /** Lists a folder, from the index where nothing changed. */
  readonly listFolder: ListFolder;
  /** What was read of a skill file last time, if it is still the same file. */
  recall(file: string): CheckedSkill | undefined;
  /** Keeps what was just read; `stats` are those of the opened file. */
  keep(file: string, stats: BigIntStats, checked: CheckedSkill): void;
}

interface OpenedIndex {
  readonly index: IndexedFolder;
  readonly created: NewIndex;
  /** How many it holds. */
  skills(): number;
}

/** `root` is what every path that is asked for begins with. */
export function openSkillIndex(
  root: string,
  old: OldIndex,
  profile: Profile,
  startReadAhead?: StartReadAhead,
): OpenedIndex {
  const created = createNewIndex(old);
  const ahead = createAhead(root, created);
  const again = createAgain(root, old);
  let skills = 0;
  let isPlain = true;

  /** A folder's key ends with `/`, a file's does not: a path can be both, one after the other. */
  const keyOf = (absolute: string, kind: "/" | ""): string => absolute.slice(root.length) + kind;
  const find = <Value>(key: string, stats: BigIntStats, stamp: string): Value | undefined => {
    const entry = old.find(key, stamp);
    if (entry === undefined || !isSettled(lastChange(stats), old.writtenAt)) return undefined;
    const value = parseOrUndefined<Value>(entry.json);
    if (value !== undefined) created.keep(entry);
    return value;
  };
  const note = (listing: ListedFolder): ListedFolder => {
    if (listing.links.length + listing.specialFiles.length > 0 || listing.hasGitignore) isPlain = false;
    return listing;
  };
  const index: IndexedFolder = {
    isPlain: () => isPlain,

    refind(nested) {
      const files = again.find(nested);
      if (files !== undefined) created.keep(old.all);
      return files;
    },

    listFolder(absolute, top) {
      const key = keyOf(absolute, "/");
      const given = parseOrUndefined<PackedListing>(ahead.find(key, true));
      if (given !== undefined) return note(unpackListing(given));
      // Stamped before it is listed: a change in between makes the stamp old, never the listing.
      const stats = statSync(absolute, { bigint: true });
      const stamp = stampOf(stats);
      const known = old.isEmpty ? undefined : find<PackedListing>(key, stats, stamp);
      const listing = known === undefined ? readFolderListing(absolute, top) : unpackListing(known);
      if (known === undefined) created.add(key, stamp, packListing(listing));
      if (top && startReadAhead && old.isEmpty) ahead.begin(startReadAhead, listing.folders, profile);
      return note(listing);
    },

    recall(file) {
      const key = keyOf(file, "");
      let known = parseOrUndefined<PackedChecked>(again.next(key) ?? ahead.find(key));
      const stats = old.isEmpty || known !== undefined ? undefined : currentStats(file);
      if (stats) known = find<PackedChecked>(key, stats, stampOf(stats));
      if (known === undefined) return undefined;
      skills += 1;
      return unpackChecked(known, file);
    },

    keep(file, stats, checked) {
      skills += 1;
      created.add(keyOf(file, ""), stampOf(stats), packChecked(checked, file));
    },
  };
  return { index, created, skills: () => skills };
}

interface Ahead {
  /** Where this many folders lie side by side it is worth the while. */
  begin(start: StartReadAhead, folders: readonly string[], profile: Profile): void;
  /** The JSON of an entry that the other thread has read or found unchanged. */
  find(key: string, isFolder?: boolean): string | undefined;
}

/** What another thread has read, folder by folder at the top, as if an index had it. */
function createAhead(root: string, created: NewIndex): Ahead {
  let ahead: ReadAhead | undefined;
  let turn: ReturnType<ReadAhead["turn"]>;
  return {
    begin(start, folders, profile) {
      if (folders.length >= MIN_FOLDERS) ahead = start({ root, folders, profile });
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

interface Again {
  find(nested: boolean): readonly string[] | undefined;
  /** The JSON of the file that comes next. */
  next(key: string): string | undefined;
}

/** The last search once more, without searching: its entries one by one, none of which may have changed. */
function createAgain(root: string, old: OldIndex): Again {
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

/** Fewer than this are read before a second thread has begun. */
const MIN_FOLDERS = 2000;

/** A file name for a root: which one is said by the heading inside, so a clash only costs time. */
function nameFor(text: string): string {
  let high = 0x811c9dc5;
  let low = 0x01000193;
  for (let index = 0; index < text.length; index++) {
    high = Math.imul(high ^ text.charCodeAt(index), 0x01000193);
    low = Math.imul(low + text.charCodeAt(index), 0x5bd1e995) ^ (low >>> 15);
  }
  return [high, low].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}

/** What is written here is JSON; a damaged entry is an entry that is not there. */
function parseOrUndefined<Value>(json: string | undefined): Value | undefined {
  if (json === undefined) return undefined;
  try {
    return JSON.parse(json) as Value;
  } catch {
    return undefined;
  }
}

/** A reader sees the old index or the new one, whole; the last of two writers wins. */
function writeIndex(path: string, pieces: readonly string[]): void {
  try {
    writeAtomic(path, pieces, { flush: false });
  } catch {
    // No room or no permission: the next listing is as slow as this one.
  }
}

// When a file that was read for an index counts as unchanged: the same stamp, and not changed just as it was written.

/** An entry changed this close to the writing of the index may have changed again within the clock's grain. */
const RACY_MS = 2000;

/** `undefined` for a file that is gone or out of reach, which reading it will show. */
function currentStats(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true });
  } catch {
    return undefined;
  }
}

export function currentStamp(file: string): string | undefined {
  const stats = currentStats(file);
  return stats && stampOf(stats);
}

/** The later of both times in milliseconds: a change within the clock's grain of it may not show in the stamp. */
export function lastChange({ mtimeNs, ctimeNs }: BigIntStats): number {
  return Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);
}

export function isSettled(changed: number, writtenAt: number): boolean {
  return changed < writtenAt - RACY_MS;
}
