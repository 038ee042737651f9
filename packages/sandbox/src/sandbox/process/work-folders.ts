/** Checks whether a command stores more in its own folders than allowed, before and while it runs. */
import { type Dir, lstatSync, opendirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { dropOldest } from "@metier/base/turns";
import type { World } from "../world/world.ts";
import { listNames } from "./process-tree.ts";

/** The run's own folders. Other writable folders are the user's, whatever their size. */
export function ownFolders({ workDir, dataDir }: World): readonly string[] {
  return dataDir === undefined ? [workDir] : [workDir, dataDir];
}

/** The first folder that is too full, in one sentence. `pids` may hold open files that no longer have a name. */
export async function whyTooFull(
  folders: readonly string[],
  maxBytes: number,
  pids: readonly number[] = [],
): Promise<string | undefined> {
  for (const folder of folders) {
    const { bytes, unknown } = await folderSize(folder);
    if (unknown !== undefined) return `\`${folder}\` ${unknown}, so its size limit cannot be enforced.`;
    const removed = sumOnDisk(findUnnamedFiles(pids), folder);
    if (bytes + removed > maxBytes) {
      return `\`${folder}\` holds ${bytes + removed} bytes; the limit is ${maxBytes} bytes (\`sandbox.work-mb\`).`;
    }
  }
  return undefined;
}

/** Removed files could have been in any folder on the same disk. */
function sumOnDisk(files: readonly UnnamedFile[], folder: string): number {
  if (files.length === 0) return 0;
  const disk = statSync(folder, { throwIfNoEntry: false })?.dev;
  return files.reduce((sum, { device, bytes }) => (device === disk ? sum + bytes : sum), 0);
}

interface FolderSize {
  readonly bytes: number;
  /** Why the rest was not measured, in words that follow the folder's name. */
  readonly unknown?: string;
}

/** More than any project has; each entry is checked. */
const MAX_ENTRIES = 200_000;
/** Yields to others after this many. */
const ENTRIES_AT_ONCE = 500;
/** A measurement is valid for this many times as long as it took. */
const REST = 10;
const MAX_KNOWN = 100;
const BLOCK_BYTES = 512;

const known = new Map<string, { readonly size: FolderSize; readonly validUntil: number }>();

/**
 * A folder's size on disk, now or, if it is large, a short while ago, so that measuring takes a small part of the time.
 * Follows no links; counts a file with several names once. Reports what cannot be measured.
 */
export async function folderSize(folder: string): Promise<FolderSize> {
  const started = performance.now();
  const before = known.get(folder);
  if (before && started < before.validUntil) return before.size;
  const size = await measureFolder(folder);
  const ended = performance.now();
  known.delete(folder);
  known.set(folder, { size, validUntil: ended + REST * (ended - started) });
  dropOldest(known, MAX_KNOWN);
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

/** One at a time: a folder may have more entries than fit in memory. */
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
    if (["ENOENT", "ENOTDIR"].includes(code)) return undefined; // It was removed in the meantime.
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

interface UnnamedFile {
  /** Which disk it is on, from `stat`. */
  readonly device: number;
  readonly bytes: number;
}

/** A tree that opens files while it is read must not block us. */
const MAX_DESCRIPTORS = 20_000;

/** Removed files that processes still hold open: no folder lists them, but they use disk space. */
function findUnnamedFiles(pids: readonly number[]): readonly UnnamedFile[] {
  const found = new Map<string, UnnamedFile>();
  let looked = 0;
  for (const folder of pids.map((pid) => `/proc/${pid}/fd`)) {
    for (const descriptor of listNames(folder)) {
      looked += 1;
      if (looked > MAX_DESCRIPTORS) return [...found.values()];
      const stats = readStats(join(folder, descriptor));
      if (stats?.nlink !== 0 || !stats.isFile()) continue;
      found.set(`${stats.dev}:${stats.ino}`, { device: stats.dev, bytes: stats.blocks * BLOCK_BYTES });
    }
  }
  return [...found.values()];
}

function readStats(descriptor: string): Stats | undefined {
  try {
    return statSync(descriptor);
  } catch {
    return undefined; // It was closed in the meantime.
  }
}
