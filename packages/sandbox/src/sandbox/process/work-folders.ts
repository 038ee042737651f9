/** Whether a command keeps more in its own folders than it may, before and while it runs. */
import { type Dir, lstatSync, opendirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { dropOldest } from "@metier/base/turns";
import type { World } from "../world/world.ts";
import { listNames } from "./process-tree.ts";

/** The folders that are a run's own. What else it can write to is the user's, and was full or empty before. */
export function ownFolders({ workDir, dataDir }: World): readonly string[] {
  return dataDir === undefined ? [workDir] : [workDir, dataDir];
}

/** The first that is too full, in one sentence. `pids` hold files open that may have no name any more. */
export async function whyTooFull(
  folders: readonly string[],
  maxBytes: number,
  pids: readonly number[] = [],
): Promise<string | undefined> {
  for (const folder of folders) {
    const { bytes, unknown } = await folderSize(folder);
    if (unknown !== undefined) return `\`${folder}\` ${unknown}, so its size cannot be held to a limit.`;
    const removed = sumOnDisk(findUnnamedFiles(pids), folder);
    if (bytes + removed > maxBytes) {
      return `\`${folder}\` holds ${bytes + removed} bytes; at most ${maxBytes} are allowed (\`sandbox.work-mb\`).`;
    }
  }
  return undefined;
}

/** Removed files could have been in any folder of the same disk. */
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

/** More than any project has; each is looked at. */
const MAX_ENTRIES = 200_000;
/** Others get their turn after so many. */
const ENTRIES_AT_ONCE = 500;
/** A measured size counts until so many times what measuring it took have passed. */
const REST = 10;
const MAX_KNOWN = 100;
const BLOCK_BYTES = 512;

const known = new Map<string, { readonly size: FolderSize; readonly validUntil: number }>();

/**
 * How much a folder holds on the disk, as of now or, if it is large, of a short while ago, so that measuring takes a
 * small part of the time. Follows no link; counts a file with several names once. What cannot be measured is said so.
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

interface UnnamedFile {
  /** Which disk it is on, as `stat` tells it. */
  readonly device: number;
  readonly bytes: number;
}

/** A tree that opens files while it is read must not keep us here. */
const MAX_DESCRIPTORS = 20_000;

/** Files that processes hold open although they were removed: no folder has them, and they fill the disk all the same. */
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
    return undefined; // It was closed meanwhile.
  }
}
