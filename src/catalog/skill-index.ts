/**
 * What was read last time, so that an unchanged tree is cheap to list again. Keyed by path and stamp; only a cache:
 * it can be deleted at any time, a fault in it means reading again, and activation never uses it.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { writeAtomic } from "../host/write-atomic.ts";
import type { CheckedSkill } from "../skill/skill.ts";
import { type FolderListing, type ListFolder, readFolderListing } from "../sources/folder-listing.ts";
import { stampOf } from "../trust/identify-file.ts";
import type { Profile } from "../validate/profiles.ts";
import {
  type PackedChecked,
  type PackedListing,
  packChecked,
  packListing,
  unpackChecked,
  unpackListing,
} from "./index-entries.ts";

/** Raise when the meaning of an entry changes: what is read, how it is checked, how it is stored. */
const FORMAT = 1;
/** An entry changed this close to the writing of the index may have changed again within the clock's grain. */
const RACY_MS = 2000;
/** Fewer skills than this are read faster than an index is. */
const MIN_SKILLS = 32;

interface IndexFile {
  readonly format: number;
  readonly root: string;
  readonly writtenAt: number;
  readonly folders: Record<string, readonly [stamp: string, changed: number, listing: PackedListing]>;
  readonly files: Record<string, readonly [stamp: string, changed: number, checked: PackedChecked]>;
}

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
  readonly root: string;
  readonly profile: Profile;
  readonly minSkills?: number;
}

export function openSkillIndex({
  cacheFolder,
  root,
  profile,
  minSkills = MIN_SKILLS,
}: IndexOptions): SkillIndex {
  const id = createHash("sha256").update(`${profile}\0${root}`).digest("hex").slice(0, 32);
  const path = join(cacheFolder, "index", `${id}.json`);
  const old = readIndex(path, root);
  const fresh: IndexFile = { format: FORMAT, root, writtenAt: Date.now(), folders: table(), files: table() };
  const isClean = (changed: number): boolean => old !== undefined && changed < old.writtenAt - RACY_MS;
  const key = (absolute: string): string => absolute.slice(root.length);
  let reused = 0;
  let added = 0;

  return {
    listFolder(absolute, top) {
      // Stamped before it is listed: a change in between makes the stamp old, never the listing.
      const stats = statSync(absolute, { bigint: true });
      const stamp = stampOf(stats);
      const known = old?.folders[key(absolute)];
      if (known !== undefined && known[0] === stamp && isClean(known[1])) {
        reused += 1;
        fresh.folders[key(absolute)] = known;
        return unpackListing(known[2]);
      }
      added += 1;
      const listing: FolderListing = readFolderListing(absolute, top);
      fresh.folders[key(absolute)] = [stamp, lastChange(stats), packListing(listing)];
      return listing;
    },

    recall(file) {
      const known = old?.files[key(file)];
      if (known === undefined || !isClean(known[1]) || known[0] !== currentStamp(file)) return undefined;
      reused += 1;
      fresh.files[key(file)] = known;
      return unpackChecked(known[2], file);
    },

    keep(file, stats, checked) {
      added += 1;
      fresh.files[key(file)] = [stampOf(stats), lastChange(stats), packChecked(checked, file)];
    },

    save() {
      const skills = Object.keys(fresh.files).length;
      const dropped = old !== undefined && entries(old) !== reused;
      if (skills < minSkills || (added === 0 && !dropped)) return;
      writeIndex(path, JSON.stringify(fresh));
    },
  };
}

function table<Value>(): Record<string, Value> {
  return Object.create(null) as Record<string, Value>;
}

function entries(index: IndexFile): number {
  return Object.keys(index.folders).length + Object.keys(index.files).length;
}

function currentStamp(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && stampOf(stats);
}

/** The later of both times in milliseconds: a change within the clock's grain of it may not show in the stamp. */
function lastChange({ mtimeNs, ctimeNs }: BigIntStats): number {
  return Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);
}

function readIndex(path: string, root: string): IndexFile | undefined {
  try {
    const index = JSON.parse(readFileSync(path, "utf8")) as IndexFile;
    return index.format === FORMAT && index.root === root ? index : undefined;
  } catch {
    return undefined; // Absent, cut short or not ours: everything is read anew.
  }
}

/** A reader sees the old index or the new one, whole; the last of two writers wins. */
function writeIndex(path: string, text: string): void {
  try {
    writeAtomic(path, text, { flush: false });
  } catch {
    // No room or no permission: the next listing is as slow as this one.
  }
}
