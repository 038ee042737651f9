/**
 * What was read last time, so that an unchanged tree is cheap to list again. Keyed by path and stamp; only a cache:
 * it can be deleted at any time, a fault in it means reading again, and activation never uses it.
 */
import { type BigIntStats, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "../foundation/version.ts";
import { writeAtomic } from "../host/write-atomic.ts";
import type { CheckedSkill } from "../skill/skill.ts";
import { type ListFolder, readFolderListing } from "../sources/folder-listing.ts";
import { stampOf } from "../trust/identify-file.ts";
import type { Profile } from "../validate/profiles.ts";
import { currentStamp, isSettled, lastChange } from "./file-stamp.ts";
import {
  type PackedChecked,
  type PackedListing,
  packChecked,
  packListing,
  unpackChecked,
  unpackListing,
} from "./index-entries.ts";

/** Raise when the meaning of an entry changes: what is read, how it is checked, how it is stored. */
const FORMAT = 2;
/** Lines that are joined at a time. */
const BATCH = 512;
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

interface OldIndex {
  readonly writtenAt: number;
  /** By key: the whole line. It is cut only when it is asked for: most of a large index is asked for once. */
  readonly lines: ReadonlyMap<string, string>;
}

const NOTHING: OldIndex = { writtenAt: 0, lines: new Map() };

export function openSkillIndex(options: IndexOptions): SkillIndex {
  const { cacheFolder, root, profile, minSkills = MIN_SKILLS } = options;
  const path = join(cacheFolder, "index", `${nameFor(`${profile}\0${root}`)}.txt`);
  const heading = `metier-index ${FORMAT} ${VERSION} ${profile} ${JSON.stringify(root)}`;
  const old = readIndex(path, heading);
  /** Lines of the old index that still hold; they are parts of its text and take no room. */
  const kept: string[] = [];
  /** New lines: key, stamp, last change in milliseconds and JSON, with tabs between them. */
  let lines: string[] = [];
  /** Earlier new lines, joined: thousands of small strings take several times the room of one large one. */
  const joined: string[] = [];
  let skills = 0;

  /** A folder's key ends with `/`, a file's does not: a path can be both, one after the other. */
  const keyOf = (absolute: string, kind: "/" | ""): string => absolute.slice(root.length) + kind;
  const find = <Value>(key: string, stamp: string): Value | undefined => {
    const line = old.lines.get(key);
    if (line === undefined || !line.startsWith(stamp, key.length + 1)) return undefined;
    const afterStamp = key.length + 1 + stamp.length;
    const afterChange = line.indexOf("\t", afterStamp + 1);
    const changed = Number(line.slice(afterStamp + 1, afterChange));
    if (line.charAt(afterStamp) !== "\t" || !isSettled(changed, old.writtenAt)) return undefined;
    const value = parseOrUndefined<Value>(line.slice(afterChange + 1));
    if (value === undefined) return undefined;
    kept.push(line);
    return value;
  };
  const add = (key: string, stats: BigIntStats, stamp: string, json: string): void => {
    // A path with a line break or tab in it is read anew each time.
    if (/[\t\n]/.test(key)) return;
    if (lines.push(`${key}\t${stamp}\t${lastChange(stats)}\t${json}`) < BATCH) return;
    joined.push(lines.join("\n"));
    lines = [];
  };

  return {
    listFolder(absolute, top) {
      // Stamped before it is listed: a change in between makes the stamp old, never the listing.
      const stats = statSync(absolute, { bigint: true });
      const stamp = stampOf(stats);
      const key = keyOf(absolute, "/");
      const known = find<PackedListing>(key, stamp);
      if (known !== undefined) return unpackListing(known);
      const listing = readFolderListing(absolute, top);
      add(key, stats, stamp, packListing(listing));
      return listing;
    },

    recall(file) {
      if (old.lines.size === 0) return undefined;
      const stamp = currentStamp(file);
      const known = stamp === undefined ? undefined : find<PackedChecked>(keyOf(file, ""), stamp);
      if (known === undefined) return undefined;
      skills += 1;
      return unpackChecked(known, file);
    },

    keep(file, stats, checked) {
      skills += 1;
      add(keyOf(file, ""), stats, stampOf(stats), packChecked(checked, file));
    },

    save() {
      const isSame = lines.length + joined.length === 0 && kept.length === old.lines.size;
      if (skills < minSkills || isSame) return;
      writeIndex(path, `${[heading, Date.now(), ...kept, ...joined, ...lines].join("\n")}\n`);
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

function readIndex(path: string, heading: string): OldIndex {
  try {
    const text = readFileSync(path, "utf8");
    // Cut short, of another version or for another root: everything is read anew.
    if (!text.startsWith(`${heading}\n`) || !text.endsWith("\n")) return NOTHING;
    const [writtenAt = "", ...lines] = text.slice(heading.length + 1, -1).split("\n");
    return {
      writtenAt: Number(writtenAt),
      lines: new Map(lines.map((line) => [line.slice(0, line.indexOf("\t")), line])),
    };
  } catch {
    return NOTHING; // Absent or unreadable.
  }
}

/** What is written here is JSON; a damaged line is a line that is not there. */
function parseOrUndefined<Value>(json: string): Value | undefined {
  try {
    return JSON.parse(json) as Value;
  } catch {
    return undefined;
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
