/**
 * How much a folder holds on the disk, at a bounded cost: what is large is measured less often, so that measuring takes
 * a small part of the time. Follows no link; counts a file with several names once. What cannot be measured is said so.
 */
import { type Dir, lstatSync, opendirSync, type Stats } from "node:fs";
import { join } from "node:path";

export interface FolderSize {
  readonly bytes: number;
  /** Why the rest was not measured, in words that follow the folder's name. */
  readonly unknown?: string;
}

/** More than any project has; each is looked at. */
export const MAX_ENTRIES = 200_000;
/** Others get their turn after so many. */
const ENTRIES_AT_ONCE = 500;
/** A measured size counts until so many times what measuring it took have passed. */
const REST = 10;
const MAX_KNOWN = 100;
const BLOCK_BYTES = 512;

interface Measured {
  readonly size: FolderSize;
  readonly validUntil: number;
}

const known = new Map<string, Measured>();

/** The size of a folder, as of now or, if it is large, of a short while ago. */
export async function folderSize(folder: string): Promise<FolderSize> {
  const started = performance.now();
  const before = known.get(folder);
  if (before && started < before.validUntil) return before.size;
  const size = await measureFolder(folder);
  const ended = performance.now();
  known.delete(folder);
  known.set(folder, { size, validUntil: ended + REST * (ended - started) });
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
  return size;
}

/** As it is now. */
export async function measureFolder(root: string, maxEntries: number = MAX_ENTRIES): Promise<FolderSize> {
  const seen = new Set<string>();
  let bytes = 0;
  let entries = 0;
  try {
    for (const stats of walk(root)) {
      entries += 1;
      if (entries > maxEntries) return { bytes, unknown: `has more than ${maxEntries} entries` };
      if (entries % ENTRIES_AT_ONCE === 0) await new Promise(setImmediate);
      if (isFirstName(stats, seen)) bytes += stats.blocks * BLOCK_BYTES;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { bytes, unknown: `has a folder that cannot be read (${code})` };
  }
  return { bytes };
}

function* walk(root: string): Generator<Stats> {
  const pending = [root];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const name of readNames(folder)) {
      const path = join(folder, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isDirectory()) pending.push(path);
      if (stats) yield stats;
    }
  }
}

/** One after the other: a folder may have more entries than there is memory for. */
function* readNames(folder: string): Generator<string> {
  const listing = openFolder(folder);
  if (!listing) return;
  try {
    for (let entry = listing.readSync(); entry; entry = listing.readSync()) yield entry.name;
  } finally {
    listing.closeSync();
  }
}

function openFolder(folder: string): Dir | undefined {
  try {
    return opendirSync(folder, { bufferSize: ENTRIES_AT_ONCE });
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR"].includes(code)) return undefined; // It was removed meanwhile.
    throw error;
  }
}

function isFirstName(stats: Stats, seen: Set<string>): boolean {
  if (stats.nlink < 2 || stats.isDirectory()) return true;
  const key = `${stats.dev}:${stats.ino}`;
  if (seen.has(key)) return false;
  seen.add(key);
  return true;
}
