/**
 * Memory that processes share. A process that lets go of its part shows none of it any more, and yet it is there: only
 * what the whole machine shares tells. That counts against a command whose processes do share some.
 */
import { readFileSync } from "node:fs";

const SHARED_BY_ALL = /^Shmem:\s+(\d+) kB$/m;
/** How the kernel names a mapping that is shared and has no file. */
const SHARED_MAPPING = " /dev/zero (deleted)";

/** How many bytes more than at the first look the machine shares, if that is above `allowed` and one of `pids` shares. */
export type SharedMemoryLook = (pids: readonly number[], allowed: number) => number | undefined;

export function lookAtSharedMemory(): SharedMemoryLook {
  let first: number | undefined;
  return (pids, allowed) => {
    const now = Number(SHARED_BY_ALL.exec(readText("/proc/meminfo"))?.[1] ?? 0) * 1024;
    first ??= now;
    const grown = now - first;
    if (grown <= allowed) return undefined;
    return pids.some((pid) => readText(`/proc/${pid}/maps`).includes(SHARED_MAPPING)) ? grown : undefined;
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // The process has ended meanwhile, or belongs to someone else.
  }
}
