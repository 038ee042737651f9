/** Files that processes hold open although they were removed: no folder has them, and they fill the disk all the same. */
import { readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";

export interface UnnamedFile {
  /** Which disk it is on, as `stat` tells it. */
  readonly device: number;
  readonly bytes: number;
}

const BLOCK_BYTES = 512;
/** A tree that opens files while it is read must not keep us here. */
const MAX_DESCRIPTORS = 20_000;

export function findUnnamedFiles(pids: readonly number[]): readonly UnnamedFile[] {
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

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // The process has ended, or nobody may look at it.
  }
}
