/**
 * What was read last time, so that an unchanged tree is cheap to list again. Keyed by path and stamp; only a cache:
 * it can be deleted at any time, a fault in it means reading again, and activation never uses it.
 */
import { type BigIntStats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomic } from "@metier/base/files";
import { VERSION } from "@metier/base/places";
import type { CheckedSkill } from "../skill/skill.ts";
import { type ListFolder, readFolderListing } from "../sources/skill-files.ts";
import type { SkillRoot } from "../sources/skill-roots.ts";
import { stampOf } from "../trust/content-identity.ts";
import type { Profile } from "../validate/profiles.ts";
import {
  createNewIndex,
  type PackedChecked,
  type PackedListing,
  packChecked,
  packListing,
  readOldIndex,
  unpackChecked,
  unpackListing,
} from "./index-file.ts";

interface SkillIndexes {
  /** Saved when its root was read; a shared one only by `saveShared`. */
  of(root: SkillRoot): SkillIndex | undefined;
  saveShared(): void;
}

/**
 * Which index a root has: one to itself, but one for all installed skills that lie beside each other, since each of them
 * is a root and too small for an index. No indexes without a cache folder.
 */
export function openIndexes(cacheFolder: string | undefined, profile: Profile): SkillIndexes {
  const shared = new Map<string, SkillIndex>();
  return {
    of({ path, locked, source }) {
      // Each skill of a source has a folder to itself, so that there is nothing to share.
      if (cacheFolder === undefined || source) return undefined;
      if (!locked) return openSkillIndex(cacheFolder, path, profile);
      const folder = dirname(path);
      const index = shared.get(folder) ?? openSkillIndex(cacheFolder, folder, profile);
      shared.set(folder, index);
      return { ...index, save: () => undefined };
    },
    saveShared() {
      for (const index of shared.values()) index.save();
    },
  };
}

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

/** `root` is what every path that is asked for begins with. */
function openSkillIndex(cacheFolder: string, root: string, profile: Profile): SkillIndex {
  const path = join(cacheFolder, "index", `${nameFor(`${profile}\0${root}`)}.txt`);
  const heading = `metier-index ${FORMAT} ${VERSION} ${profile} ${JSON.stringify(root)}`;
  const old = readOldIndex(path, heading);
  const index = createNewIndex(old);
  let skills = 0;

  /** A folder's key ends with `/`, a file's does not: a path can be both, one after the other. */
  const keyOf = (absolute: string, kind: "/" | ""): string => absolute.slice(root.length) + kind;
  const find = <Value>(key: string, stats: BigIntStats, stamp: string): Value | undefined => {
    const entry = old.find(key, stamp);
    if (entry === undefined || !isSettled(lastChange(stats), old.writtenAt)) return undefined;
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
      if (skills >= MIN_SKILLS && !index.isSame()) writeIndex(path, index.render(heading));
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
