/**
 * Finds the processes below one process, measures their memory and kills them, using the system's own tables. Without
 * those (not Linux), it finds nothing.
 */
import { readdirSync, readFileSync } from "node:fs";

/** Enough for any limit; a tree that grows while it is read must not block us. */
const MAX_LISTED = 20_000;
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;

/** The process and everything it started, in any session, except those whose parent has exited. */
export function listProcessTree(root: number, most: number = MAX_LISTED): readonly number[] {
  const found: number[] = [];
  for (const pid of walkTree(root)) {
    if (found.length >= most) break;
    found.push(pid);
  }
  return found;
}

/** Parents first, so that each process can be killed as soon as it is returned. */
function* walkTree(root: number, isWhole = (_pid: number): boolean => false): Generator<number> {
  const pending = [root];
  for (const pid of pending) {
    if (pending.length < MAX_LISTED && !isWhole(pid)) pending.push(...listChildren(pid));
    yield pid;
  }
}

/** Its pid for the reader, in outer namespaces, and its own there: 1 for the first process of a namespace. */
const FIRST_OF_NAMESPACE = /^NSpid:\t(?:\d+\t)+1$/m;

/**
 * Killing it makes the kernel end its whole namespace at once. Listing thousands of multiplying processes would take
 * seconds.
 */
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

/** Memory held by processes. Shared memory counts once for each of them. */
export function measureMemory(pids: readonly number[]): number {
  const resident = pids.map((pid) => Number(RESIDENT.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0));
  return resident.reduce((sum, kilobytes) => sum + kilobytes, 0) * 1024;
}

/*
 * Shared memory. A process that unmaps its part no longer shows it although it still exists, so only the machine's
 * total tells. That counts against a command whose processes share memory.
 */

const SHARED_BY_ALL = /^Shmem:\s+(\d+) kB$/m;
/** The kernel's name for a shared mapping without a file. */
const SHARED_MAPPING = " /dev/zero (deleted)";

/** How many bytes more the machine shares than at the first check, if above `allowed` and one of `pids` shares. */
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

/** Kills a process, its tree and its group: from the top, since a namespace's first process ends all others. */
export function killTree(root: number): void {
  for (const pid of walkTree(root, holdsNamespace)) kill(pid);
  kill(-root);
}

/** Some may start others before their turn comes. */
const MAX_PASSES = 20;

/** Kills what `find` returns, until it returns nothing. */
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
    // It already exited, as intended.
  }
}

/** Processes that started with this line, `NAME=value`, in their environment; only those we may inspect. */
export function findByEnvironment(line: string): readonly number[] {
  return listNames("/proc")
    .map(Number)
    .filter((pid) => pid > 0 && readText(`/proc/${pid}/environ`).split("\0").includes(line));
}

/** Reads a kernel file; empty if there is none. */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // The process or group is gone or belongs to someone else; or this is another system.
  }
}

export function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // As above.
  }
}
