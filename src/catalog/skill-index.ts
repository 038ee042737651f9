/**
 * What was read last time, so that an unchanged tree is cheap to list again. Keyed by path and stamp; only a cache:
 * it can be deleted at any time, a fault in it means reading again, and activation never uses it.
 */
import { type BigIntStats, statSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../foundation/version.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import type { CheckedSkill } from "../skill/skill.ts";
import { type ListFolder, readFolderListing } from "../sources/folder-listing.ts";
import { stampOf } from "../trust/identify-file.ts";
import type { Profile } from "../validate/profiles.ts";
import { currentStats, isSettledBefore, settledTime } from "./file-stamp.ts";
import {
  type PackedChecked,
  type PackedListing,
  packChecked,
  packListing,
  unpackChecked,
  unpackListing,
} from "./index-entries.ts";
import { createNewIndex } from "./new-index.ts";
import { readOldIndex } from "./old-index.ts";

/** Raise when the meaning of an entry changes: what is read, how it is checked, how it is stored. */
const FORMAT = 4;
/** Fewer skills than this are read faster than an index is. */
const MIN_SKILLS = 32;

export interface SkillIndex {
  /** Lists a folder, from the index where nothing changed. */
  readonly listFolder: ListFolder;
  /** What was read of a skill file last time, if it is still the same file. */
  recall(file: string): CheckedSkill | undefined;
  /** Keeps what was just read; `stats` are those of the opened file. */
  keep(file: string, stats: BigIntStats, checked: CheckedSkill): void;
  /** Writes the index if anything in it changed. Never throws: a cache that cannot be written is no fault. */
  save(): void;
}

export interface IndexOptions {
  readonly cacheFolder: string;
  /** What every path that is asked for begins with. */
  readonly root: string;
  readonly profile: Profile;
  readonly minSkills?: number;
}

export function openSkillIndex(options: IndexOptions): SkillIndex {
  const { cacheFolder, root, profile, minSkills = MIN_SKILLS } = options;
  const path = join(cacheFolder, "index", `${nameFor(`${profile}\0${root}`)}.txt`);
  const heading = `metier-index ${FORMAT} ${VERSION} ${profile} ${JSON.stringify(root)}`;
  const old = readOldIndex(path, heading);
  const settled = settledTime(old.writtenAt);
  const index = createNewIndex(old);
  let skills = 0;

  /** A folder's key ends with `/`, a file's does not: a path can be both, one after the other. */
  const keyOf = (absolute: string, kind: "/" | ""): string => absolute.slice(root.length) + kind;
  const find = <Value>(key: string, stats: BigIntStats, stamp: string): Value | undefined => {
    const entry = old.find(key, stamp);
    if (entry === undefined || !isSettledBefore(stats, settled)) return undefined;
    const value = parseOrUndefined<Value>(entry.json);
    if (value !== undefined) index.keep(entry);
    return value;
  };

  return {
    listFolder(absolute, top) {
      // Stamped before it is listed: a change in between makes the stamp old, never the listing.
      const stats = statSync(absolute, { bigint: true });
      const stamp = stampOf(stats);
      const key = keyOf(absolute, "/");
      const known = old.isEmpty ? undefined : find<PackedListing>(key, stats, stamp);
      if (known !== undefined) return unpackListing(known);
      const listing = readFolderListing(absolute, top);
      index.add(key, stamp, packListing(listing));
      return listing;
    },

    recall(file) {
      const stats = old.isEmpty ? undefined : currentStats(file);
      const known = stats && find<PackedChecked>(keyOf(file, ""), stats, stampOf(stats));
      if (known === undefined) return undefined;
      skills += 1;
      return unpackChecked(known, file);
    },

    keep(file, stats, checked) {
      skills += 1;
      index.add(keyOf(file, ""), stampOf(stats), packChecked(checked, file));
    },

    save() {
      if (skills >= minSkills && !index.isSame()) writeIndex(path, index.render(heading));
    },
  };
}

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
function parseOrUndefined<Value>(json: string): Value | undefined {
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
