/** The processes below one process, by the system's own tables. Where there are none (not Linux), nobody is found. */
import { readdirSync, readFileSync } from "node:fs";

export interface TreeSize {
  readonly processes: number;
  readonly residentBytes: number;
}

const PAGE_BYTES = 4096;
/** Enough for any limit; a tree that grows while it is read must not keep us here. */
const MAX_LISTED = 20_000;

/** The process itself and everything it started, in whatever session; without those whose own parent has ended. */
export function listTree(root: number): readonly number[] {
  const found = [root];
  for (const pid of found) {
    if (found.length > MAX_LISTED) break;
    for (const task of listNames(`/proc/${pid}/task`)) {
      found.push(...readNumbers(`/proc/${pid}/task/${task}/children`));
    }
  }
  return found;
}

/** How large the tree is. Memory that processes share is counted once for each of them. */
export function measureTree(root: number): TreeSize {
  const tree = listTree(root);
  const pages = tree.map((pid) => readNumbers(`/proc/${pid}/statm`)[1] ?? 0);
  const residentBytes = pages.reduce((sum, count) => sum + count, 0) * PAGE_BYTES;
  return { processes: tree.length, residentBytes };
}

/** Ends a process, its group and its tree at once. */
export function killTree(root: number): void {
  const tree = listTree(root);
  for (const target of [-root, ...tree]) kill(target);
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
