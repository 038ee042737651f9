/**
 * Limits that the kernel enforces, also between two checks of the watchdog: a control group limits memory and tasks of
 * all processes of a command, `prlimit` those of each. If a group cannot be created or `prlimit` is missing, that limit
 * is skipped without an error.
 */
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { availableParallelism, release } from "node:os";
import { join } from "node:path";
import type { SandboxLimits } from "../sandbox.ts";
import type { CgroupHome } from "./cgroup-homes.ts";
import { kill, readText } from "./process-tree.ts";

export interface ControlGroup {
  /** From then on, what these processes start is also in the group. */
  admit(pids: readonly number[]): Promise<void>;
  members(): readonly number[];
  /** Whether the kernel killed something because memory ran out. */
  ranOutOfMemory(): boolean;
  kill(): void;
  /** Kills what is left in it. */
  remove(): void;
}

/** A group's files and what is written to them. A kernel without swap lacks the optional ones. */
interface Settings {
  readonly needed: Readonly<Record<string, number | undefined>>;
  readonly optional: Readonly<Record<string, number | undefined>>;
}

export function openGroup(
  homes: readonly CgroupHome[],
  name: string,
  limits: SandboxLimits,
): ControlGroup | undefined {
  const folders: string[] = [];
  try {
    for (const home of homes) {
      const folder = join(home.folder, name);
      mkdirSync(folder);
      folders.push(folder);
      applySettings(folder, settingsFor(home, limits));
    }
  } catch {
    removeSoon(folders); // The machine refuses after all; the watchdog and the process limits still apply.
    return undefined;
  }
  return folders.length === 0 ? undefined : describeGroup(folders);
}

/** Kills everything in a group and prevents new processes in it. */
export function killGroup(folder: string): void {
  writeIfThere(folder, "pids.max", "0");
  writeIfThere(folder, "cgroup.kill", "1");
  for (const pid of membersOf(folder)) kill(pid);
}

function describeGroup(folders: readonly string[]): ControlGroup {
  return {
    async admit(pids) {
      for (const pid of pids) {
        for (const folder of folders) {
          // Waits for the kernel, which can be slow, so not on the main thread.
          await writeFile(join(folder, "cgroup.procs"), String(pid)).catch(() => undefined); // It ended before.
        }
      }
    },
    members: () => [...new Set(folders.flatMap(membersOf))],
    ranOutOfMemory: () => folders.some((folder) => countKills(folder) > 0),
    kill: () => {
      for (const folder of folders) killGroup(folder);
    },
    remove: () => removeSoon(folders),
  };
}

function settingsFor({ version, controllers, passed }: CgroupHome, limits: SandboxLimits): Settings {
  const { maxProcesses, maxMemoryBytes } = limits;
  const tasks = maxProcesses === undefined ? undefined : tasksOf(maxProcesses);
  const pids = controllers.includes("pids") ? { "pids.max": smallest(passed, "pids.max", tasks) } : {};
  if (!controllers.includes("memory")) return { needed: pids, optional: {} };
  const bytes = smallest(passed, "memory.max", maxMemoryBytes);
  if (version === 1) {
    const optional = { "memory.memsw.limit_in_bytes": bytes };
    return { needed: { ...pids, "memory.limit_in_bytes": bytes }, optional };
  }
  const optional = { "memory.swap.max": 0, "memory.oom.group": 1 };
  return { needed: { ...pids, "memory.max": bytes }, optional };
}

/** The limit, or that of a group the command leaves, if lower. */
function smallest(passed: readonly string[], file: string, limit: number | undefined): number | undefined {
  const allowed = passed.map((folder) => Number(readText(join(folder, file)).trim() || Number.NaN));
  const known = [...allowed, limit ?? Number.NaN].filter(Number.isFinite);
  return known.length === 0 ? undefined : Math.min(...known);
}

function applySettings(folder: string, { needed, optional }: Settings): void {
  for (const [file, value] of Object.entries(needed)) {
    if (value !== undefined) writeFileSync(join(folder, file), String(value));
  }
  for (const [file, value] of Object.entries(optional)) {
    if (value !== undefined) writeIfThere(folder, file, String(value));
  }
}

function writeIfThere(folder: string, file: string, text: string): void {
  try {
    writeFileSync(join(folder, file), text, { flag: "r+" });
  } catch {
    // This kernel, or this kind of group, has no such file.
  }
}

function membersOf(folder: string): readonly number[] {
  return readText(join(folder, "cgroup.procs"))
    .split("\n")
    .map(Number)
    .filter((pid) => pid > 0);
}

/** Version 2 counts in `memory.events`, version 1 in `memory.oom_control`. */
function countKills(folder: string): number {
  const text = readText(join(folder, "memory.events")) || readText(join(folder, "memory.oom_control"));
  return Number(/^oom_kill (\d+)/m.exec(text)?.[1] ?? 0);
}

const ATTEMPTS = 100;
const PAUSE_MS = 20;

/** A killed process takes a moment to disappear, and so does its group. */
function removeSoon(folders: readonly string[], attempts = ATTEMPTS): void {
  const left = folders.filter((folder) => !removeEmpty(folder));
  if (left.length === 0 || attempts === 0) return; // The next Metier process finds what stays.
  for (const folder of left) killGroup(folder);
  setTimeout(() => removeSoon(left, attempts - 1), PAUSE_MS).unref();
}

function removeEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/**
 * What a runtime such as Node reserves but never touches. The watchdog counts what is used; this limit applies in
 * between.
 */
const UNUSED_BYTES = 1024 * 1024 * 1024;
/** The kernel counts threads where the watchdog counts processes. */
const THREADS_OF_A_PROCESS = 8;

/** Option of `prlimit` → its name in `/proc/self/limits`. */
const NAMES = {
  core: "Max core file size",
  cpu: "Max cpu time",
  data: "Max data size",
  fsize: "Max file size",
  nproc: "Max processes",
};

/** How many threads this many processes may have together. */
export function tasksOf(processes: number): number {
  return processes * THREADS_OF_A_PROCESS;
}

/** The command, started through `prlimit`; unchanged without it. */
export function withRlimits(
  prlimit: string | undefined,
  limits: SandboxLimits,
  argv: readonly string[],
  isInside = false,
): readonly string[] {
  if (prlimit === undefined) return argv;
  return [
    prlimit,
    ...rlimitsFor(limits, isInside).map(([name, value]) => `--${name}=${value}`),
    "--",
    ...argv,
  ];
}

/** What a shell runs to apply the same limits to itself and to what replaces it; it exits if it cannot. */
export function sayRlimits(limits: SandboxLimits): string {
  return rlimitsFor(limits, true)
    .map(([name, value]) => `${ULIMITS[name](value)} || exit ${CANNOT_LIMIT}`)
    .join("; ");
}

/** The exit code of a shell that cannot set its limits. */
const CANNOT_LIMIT = 125;

/** Sizes in POSIX units. POSIX has no limit for processes, and shells differ. */
const ULIMITS: Readonly<Record<keyof typeof NAMES, (value: number) => string>> = {
  core: (bytes) => `ulimit -c ${Math.floor(bytes / 512)}`,
  cpu: (seconds) => `ulimit -t ${seconds}`,
  data: (bytes) => `ulimit -d ${Math.floor(bytes / 1024)}`,
  fsize: (bytes) => `ulimit -f ${Math.floor(bytes / 512)}`,
  nproc: (tasks) => `ulimit -u ${tasks} 2>/dev/null || ulimit -p ${tasks}`,
};

/** `isInside`: whether they are set in the command's own user namespace. */
function rlimitsFor(
  { timeoutMs, maxProcesses, maxMemoryBytes, maxFileBytes }: SandboxLimits,
  isInside: boolean,
): readonly (readonly [keyof typeof NAMES, number])[] {
  return [
    limit("core", 0),
    // A backstop in case Metier itself is stopped and cannot stop the command.
    limit("cpu", Math.ceil(timeoutMs / 1000) * availableParallelism() + 1),
    // Writable memory, not address space, of which some programs reserve terabytes.
    ...(maxMemoryBytes === undefined ? [] : [limit("data", maxMemoryBytes + UNUSED_BYTES)]),
    ...(maxFileBytes === undefined ? [] : [limit("fsize", maxFileBytes)]),
    ...(maxProcesses !== undefined && isInside && countsByNamespace()
      ? [limit("nproc", tasksOf(maxProcesses))]
      : []),
  ];
}

/**
 * Whether threads are counted per namespace. Before Linux 5.14, the threads of the user's whole desktop count against
 * each of their processes; root's are never counted.
 */
export function countsByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return process.getuid?.() !== 0 && (major > 5 || (major === 5 && minor >= 14));
}

/** `0.52 0.58 0.59 2/310 12345`: what ran or waited in the last minute on average, and now. */
const LOAD = /^(\S+) \S+ \S+ (\d+)\//;

/**
 * Whether the watchdog may be too late: a fork bomb that gets the processor first starves it. Then a command is in a
 * group from its start, although moving it takes as long as the command itself: only in this case, and only if no limit
 * of its own namespace applies.
 */
export function mustHoldFromStart({ maxProcesses }: SandboxLimits): boolean {
  if (maxProcesses === undefined || countsByNamespace()) return false;
  const [, lately = "0", now = "0"] = LOAD.exec(readText("/proc/loadavg")) ?? [];
  return Math.max(Number(lately), Number(now)) > availableParallelism();
}

/** Never more than Metier itself may have, since nobody can raise that. */
function limit(name: keyof typeof NAMES, value: number): readonly [keyof typeof NAMES, number] {
  ownLimits ??= readOwnLimits();
  return [name, Math.min(value, ownLimits.get(NAMES[name]) ?? Number.POSITIVE_INFINITY)];
}

let ownLimits: ReadonlyMap<string, number> | undefined;

/** `Max file size   <soft>   <hard>   bytes`: the hard limits that are numbers. */
const LIMIT_LINE = /^(Max .+?)\s{2,}\S+\s+(\d+)\s/;

function readOwnLimits(): ReadonlyMap<string, number> {
  const lines = readText("/proc/self/limits").split("\n"); // Not Linux: tries what is requested.
  return new Map(
    lines.flatMap((line) => {
      const [, name, hard] = LIMIT_LINE.exec(line) ?? [];
      return name === undefined ? [] : [[name, Number(hard)] as const];
    }),
  );
}
