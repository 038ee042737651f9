/** The processes below one process, by the system's own tables. Where there are none (not Linux), nobody is found. */
import { readdirSync, readFileSync } from "node:fs";

/** Enough for any limit; a tree that grows while it is read must not keep us here. */
const MAX_LISTED = 20_000;
const RESIDENT = /^VmRSS:\s+(\d+) kB$/m;

/** The process itself and everything it started, in whatever session; without those whose own parent has ended. */
export function listTree(root: number, most: number = MAX_LISTED): readonly number[] {
  const found: number[] = [];
  for (const pid of walkTree(root)) {
    if (found.length >= most) break;
    found.push(pid);
  }
  return found;
}

/** Parents first. What comes after a process is known when it is given: it can be ended at once. */
function* walkTree(root: number): Generator<number> {
  const pending = [root];
  for (const pid of pending) {
    if (pending.length < MAX_LISTED) pending.push(...listChildren(pid));
    yield pid;
  }
}

function listChildren(pid: number): readonly number[] {
  const tasks = listNames(`/proc/${pid}/task`);
  return tasks.flatMap((task) => readNumbers(`/proc/${pid}/task/${task}/children`));
}

export function countThreads(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + listNames(`/proc/${pid}/task`).length, 0);
}

/** What processes hold in memory. What they share is counted once for each of them. */
export function measureMemory(pids: readonly number[]): number {
  const resident = pids.map((pid) => Number(RESIDENT.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0));
  return resident.reduce((sum, kilobytes) => sum + kilobytes, 0) * 1024;
}

/** Ends a process, its tree and its group: from the top, where one that holds the others ends all of them at once. */
export function killTree(root: number): void {
  for (const pid of walkTree(root)) kill(pid);
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

function readNumbers(file: string): readonly number[] {
  return readText(file).split(" ").filter(Boolean).map(Number).filter(Number.isFinite);
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // The process has ended meanwhile, or belongs to someone else.
  }
}

function listNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // As above.
  }
}
