/**
 * What was read last time, so that an unchanged tree is cheap to list again. Keyed by path and stamp; only a cache:
 * it can be deleted at any time, a fault in it means reading again, and activation never uses it.
 */
import { type BigIntStats, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { beginReplacing, type Replacement, removeLeftovers } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import { markOf } from "@metier/base/text";
import type { CheckedSkill } from "../skill/skill.ts";
import { type ListedFolder, type ListFolder, readFolderListing } from "../sources/skill-files.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { stampOf } from "../trust/content-identity.ts";
import type { Profile } from "../validate/profiles.ts";
import { createAheadEntries } from "./ahead-entries.ts";
import {
  createNewIndex,
  indexBeginning,
  indexEnd,
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
import { createRefinding } from "./refind.ts";
import type { StartReadAhead } from "./second-thread.ts";
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
  /** Without it, one thread reads everything. */
  readonly startReadAhead?: StartReadAhead | undefined;
  /** From how many skills on there is an index, and a second thread from how many folders: for tests with small trees. */
  readonly atLeast?: AtLeast;
}

interface AtLeast {
  readonly skills: number;
  readonly folders: number;
}

/**
 * Which index a root has: one to itself, but one for all installed skills that lie beside each other, since each of them
 * is a root and too small for an index. No indexes without a cache folder.
 */
export function openIndexes({
  cacheFolder,
  profile,
  startReadAhead,
  atLeast = AT_LEAST,
}: IndexesOptions): SkillIndexes {
  const shared = new Map<string, SkillIndex>();
  const open = (root: string, start: StartReadAhead | undefined): SkillIndex => {
    // Which root it is for is said by the heading inside, so that a clash of names only costs time.
    const path = join(cacheFolder ?? "", "index", `${markOf(`${profile}\0${root}`)}.txt`);
    const heading = indexHeading(root, profile);
    const file = newIndexFile(path, heading);
    const old = readOldIndex(path, heading);
    const { index, skills, created } = openSkillIndex(root, { old, write: file.write, profile }, start);
    return {
      ...index,
      save(search) {
        if (skills() < atLeast.skills || created.isSame()) return file.drop();
        created.end();
        const isPlain = search && index.isPlain() && search.found === skills();
        file.finish(isPlain ? search : undefined);
      },
    };
  };
  return {
    of({ path, locked, source }) {
      // Each skill of a source has a folder to itself, so that there is nothing to share.
      if (cacheFolder === undefined || source) return undefined;
      if (!locked) {
        return open(path, (work) =>
          work.folders.length < atLeast.folders ? undefined : startReadAhead?.(work),
        );
      }
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
const FORMAT = 6;
/**
 * Fewer skills are read faster than an index is, even by a program that has yet to compile what reads them; fewer folders,
 * before a second thread has begun.
 */
const AT_LEAST: AtLeast = { skills: 4, folders: 2000 };

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

interface IndexParts {
  readonly old: OldIndex;
  readonly profile: Profile;
  /** Takes the entries of the new one, piece by piece. */
  write(text: string): unknown;
}

interface OpenedIndex {
  readonly index: IndexedFolder;
  readonly created: NewIndex;
  /** How many it holds. */
  skills(): number;
}

/**
 * `root` is what every path that is asked for begins with. A folder's key ends with `/`, a file's does not: a path can be
 * both, one after the other.
 */
export function openSkillIndex(
  root: string,
  { old, write, profile }: IndexParts,
  startReadAhead?: StartReadAhead,
): OpenedIndex {
  const created = createNewIndex(old, write);
  const ahead = createAheadEntries(root, created);
  const again = createRefinding(root, old);
  let skills = 0;
  let isPlain = true;

  const keyOf = (absolute: string, kind: "/" | ""): string => absolute.slice(root.length) + kind;
  const note = (key: string, listing: ListedFolder): ListedFolder => {
    isPlain &&= isPlainListing(key, listing);
    return listing;
  };
  const index: IndexedFolder = {
    isPlain: () => isPlain,

    refind(nested) {
      const files = again.find(nested);
      if (files) created.keep(old.all);
      return files;
    },

    listFolder(absolute, top) {
      const key = keyOf(absolute, "/");
      const given = parseOrUndefined<PackedListing>(ahead.find(key, true));
      if (given !== undefined) return note(key, unpackListing(given));
      // Stamped before it is listed: a change in between makes the stamp old, never the listing.
      const stats = statSync(absolute, { bigint: true });
      const known = old.isEmpty ? undefined : findSame<PackedListing>(old, created, key, stats);
      const listing = known === undefined ? readFolderListing(absolute, top) : unpackListing(known);
      if (known === undefined) created.add(key, stampOf(stats), packListing(listing));
      if (top && startReadAhead && old.isEmpty) ahead.begin(startReadAhead, listing.folders, profile);
      return note(key, listing);
    },

    recall(file) {
      const key = keyOf(file, "");
      let known = parseOrUndefined<PackedChecked>(again.next(key) ?? ahead.find(key));
      const stats = old.isEmpty || known !== undefined ? undefined : currentStats(file);
      if (stats) known = findSame<PackedChecked>(old, created, key, stats);
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

/** What the old index has, if nothing changed since; it is then in the new one, too. */
function findSame<Value>(
  old: OldIndex,
  created: NewIndex,
  key: string,
  stats: BigIntStats,
): Value | undefined {
  const entry = old.find(key, stampOf(stats));
  if (entry === undefined || !isSettled(lastChange(stats), old.writtenAt)) return undefined;
  const value = parseOrUndefined<Value>(entry.json);
  if (value !== undefined) created.keep(entry);
  return value;
}

/** What a listing shows is all there is to know: no link leads elsewhere, no file says what counts, and the index has it. */
function isPlainListing(key: string, { links, specialFiles, hasGitignore }: ListedFolder): boolean {
  return links.length + specialFiles.length === 0 && !hasGitignore && !key.includes("\n");
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

interface NewIndexFile {
  write(text: string): void;
  finish(search: PlainSearch | undefined): void;
  drop(): void;
}

/**
 * A reader sees the old index or the new one, whole; the last of two writers wins. Without room or permission there is
 * none, and the next listing is as slow as this one.
 */
function newIndexFile(path: string, heading: string): NewIndexFile {
  let file: Replacement | undefined;
  let isBroken = false;
  const attempt = (step: () => void): void => {
    if (isBroken) return;
    try {
      step();
    } catch {
      isBroken = true;
    }
  };
  const write = (text: string): void =>
    attempt(() => {
      if (file === undefined) {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        removeLeftovers(path);
        file = beginReplacing(path, { flush: false });
        file.write(indexBeginning(heading));
      }
      file.write(text);
    });
  const drop = (): void => {
    try {
      file?.drop();
    } catch {
      // The next one removes it.
    }
  };
  return {
    write,
    finish(search) {
      write(indexEnd(search));
      attempt(() => void file?.finish());
      drop();
    },
    drop,
  };
}
