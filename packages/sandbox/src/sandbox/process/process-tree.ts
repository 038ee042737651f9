/**
 * The processes below one process, what they hold in memory, and their end: by the system's own tables. Where there are
 * none (not Linux), nobody is found.
 */
import { readdirSync, readFileSync } from "node:fs";

/** Enough for any limit; a tree that grows while it is read must not keep us here. */
const MAX_LISTED = 20_000;
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;

/** The process itself and everything it started, in whatever session; without those whose own parent has ended. */
export function listProcessTree(root: number, most: number = MAX_LISTED): readonly number[] {
  const found: number[] = [];
  for (const pid of walkTree(root)) {
    if (found.length >= most) break;
    found.push(pid);
  }
  return found;
}

/** Parents first. What comes after a process is known when it is given: it can be ended at once. */
function* walkTree(root: number, isWhole = (_pid: number): boolean => false): Generator<number> {
  const pending = [root];
  for (const pid of pending) {
    if (pending.length < MAX_LISTED && !isWhole(pid)) pending.push(...listChildren(pid));
    yield pid;
  }
}

/** The reader's number of it, those in namespaces around it, and its own there: the first process of a namespace. */
const FIRST_OF_NAMESPACE = /^NSpid:\t(?:\d+\t)+1$/m;

/** With it the kernel ends everything in its namespace at once. To list thousands that multiply would take seconds. */
function holdsNamespace(pid: number): boolean {
  return FIRST_OF_NAMESPACE.test(readText(`/proc/${pid}/status`));
}

function listChildren(pid: number): readonly number[] {
  const tasks = listNames(`/proc/${pid}/task`);
  const children = tasks.map((task) => readText(`/proc/${pid}/task/${task}/children`));
  return children.join(" ").split(" ").filter(Boolean).map(Number).filter(Number.isFinite);
}

export function countThreads(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + listNames(`/proc/${pid}/task`).length, 0);
}

/** What processes hold in memory. What they share is counted once for each of them. */
export function measureMemory(pids: readonly number[]): number {
  const resident = pids.map((pid) => Number(RESIDENT.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0));
  return resident.reduce((sum, kilobytes) => sum + kilobytes, 0) * 1024;
}

/*
 * Memory that processes share. One that lets go of its part shows none of it any more, and yet it is there: only what
 * the whole machine shares tells. That counts against a command whose processes do share some.
 */

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

/** Ends a process, its tree and its group: from the top, where one that holds the others ends all of them at once. */
export function killTree(root: number): void {
  for (const pid of walkTree(root, holdsNamespace)) kill(pid);
  kill(-root);
}

/** Some may start others before their turn comes. */
const MAX_PASSES = 20;

/** Ends whom `find` finds, until it finds nobody. */
export function killFound(find: () => readonly number[]): void {
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const found = find();
    if (found.length === 0) return;
    for (const pid of found) kill(pid);
  }
}

/** `pid` below 0 is a process group. */
export function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended before, which is what was wanted.
  }
}

/** Processes that were started with this line, `NAME=value`, in their environment; only those we may look at. */
export function findByEnvironment(line: string): readonly number[] {
  return listNames("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && readText(`/proc/${pid}/environ`).split("\0").includes(line));
}

/** Of a file that the kernel keeps; empty where there is none. */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // The process or group is gone meanwhile, or belongs to someone else; or this is another system.
  }
}

export function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // As above.
  }
}
