/**
 * What the kernel itself holds a command to, also between two looks of the watchdog: a control group keeps all of its
 * processes from having more memory or tasks than allowed, `prlimit` each of them. Where a group cannot be made, or there is
 * no `prlimit`, there is none and nothing fails.
 */
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { availableParallelism, release } from "node:os";
import { join } from "node:path";
import type { SandboxLimits } from "../sandbox.ts";
import type { CgroupHome } from "./cgroup-homes.ts";
import { kill, readText } from "./process-tree.ts";

export interface ControlGroup {
  /** From then on, what these processes start is in the group too. */
  admit(pids: readonly number[]): Promise<void>;
  members(): readonly number[];
  /** Whether the kernel ended something because there was no more memory. */
  ranOutOfMemory(): boolean;
  kill(): void;
  /** Ends what is left in it. */
  remove(): void;
}

/** Files of a group and what is written to them. A kernel that was built without swapping lacks the optional ones. */
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
    removeSoon(folders); // The machine does not let us after all; the watchdog and the limits of processes hold.
    return undefined;
  }
  return folders.length === 0 ? undefined : describeGroup(folders);
}

/** Ends everything in a group; nothing can be started in it any more. */
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
          // Waits for the kernel, which takes its time: not on the thread that everything else is done on.
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

/** The limit, or what a group that the command leaves allows, if that is less. */
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

/** A killed process takes a moment to be gone, and with it what it is in. */
function removeSoon(folders: readonly string[], attempts = ATTEMPTS): void {
  const left = folders.filter((folder) => !removeEmpty(folder));
  if (left.length === 0 || attempts === 0) return; // What stays is found by the next Metier process.
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

/** What a runtime such as Node's asks for and never touches. The watchdog counts what is used; this holds in between. */
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

/** How many threads so many processes may have together. */
export function tasksOf(processes: number): number {
  return processes * THREADS_OF_A_PROCESS;
}

/** The command, started through `prlimit`; as it is without one. */
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

/** What a shell runs to have the same limits itself, and with it what takes its place; it ends where it cannot. */
export function sayRlimits(limits: SandboxLimits): string {
  return rlimitsFor(limits, true)
    .map(([name, value]) => `${ULIMITS[name](value)} || exit ${CANNOT_LIMIT}`)
    .join("; ");
}

/** What a shell ends with whose limits cannot be set. */
const CANNOT_LIMIT = 125;

/** Sizes in the units that POSIX has for them. The number of processes it does not have, and shells differ. */
const ULIMITS: Readonly<Record<keyof typeof NAMES, (value: number) => string>> = {
  core: (bytes) => `ulimit -c ${Math.floor(bytes / 512)}`,
  cpu: (seconds) => `ulimit -t ${seconds}`,
  data: (bytes) => `ulimit -d ${Math.floor(bytes / 1024)}`,
  fsize: (bytes) => `ulimit -f ${Math.floor(bytes / 512)}`,
  nproc: (tasks) => `ulimit -u ${tasks} 2>/dev/null || ulimit -p ${tasks}`,
};

/** `isInside`: whether they are set in a user namespace that the command has for itself. */
function rlimitsFor(
  { timeoutMs, maxProcesses, maxMemoryBytes, maxFileBytes }: SandboxLimits,
  isInside: boolean,
): readonly (readonly [keyof typeof NAMES, number])[] {
  return [
    limit("core", 0),
    // A backstop for when Metier itself is stopped and cannot end the command.
    limit("cpu", Math.ceil(timeoutMs / 1000) * availableParallelism() + 1),
    // Memory that can be written to, not address space, of which some programs reserve terabytes.
    ...(maxMemoryBytes === undefined ? [] : [limit("data", maxMemoryBytes + UNUSED_BYTES)]),
    ...(maxFileBytes === undefined ? [] : [limit("fsize", maxFileBytes)]),
    ...(maxProcesses !== undefined && isInside && countsByNamespace()
      ? [limit("nproc", tasksOf(maxProcesses))]
      : []),
  ];
}

/**
 * Whether the threads of one namespace are counted for themselves. Before Linux 5.14 those of the user's whole desktop
 * count against each of their processes; and root's are never counted.
 */
export function countsByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return process.getuid?.() !== 0 && (major > 5 || (major === 5 && minor >= 14));
}

/** `0.52 0.58 0.59 2/310 12345`: what ran or waited in the last minute on average, and now. */
const LOAD = /^(\S+) \S+ \S+ (\d+)\//;

/**
 * Whether the watchdog may come too late: a fork bomb that gets the processor first leaves it no turn. Then a command is
 * held from its start, although being moved into a group takes as long as the command itself: only here, and only where no
 * limit of its own namespace holds it.
 */
export function mustHoldFromStart({ maxProcesses }: SandboxLimits): boolean {
  if (maxProcesses === undefined || countsByNamespace()) return false;
  const [, lately = "0", now = "0"] = LOAD.exec(readText("/proc/loadavg")) ?? [];
  return Math.max(Number(lately), Number(now)) > availableParallelism();
}

/** Never more than Metier itself may have: nobody can raise that. */
function limit(name: keyof typeof NAMES, value: number): readonly [keyof typeof NAMES, number] {
  ownLimits ??= readOwnLimits();
  return [name, Math.min(value, ownLimits.get(NAMES[name]) ?? Number.POSITIVE_INFINITY)];
}

let ownLimits: ReadonlyMap<string, number> | undefined;

/** `Max file size   <soft>   <hard>   bytes`: the hard ones that are numbers. */
const LIMIT_LINE = /^(Max .+?)\s{2,}\S+\s+(\d+)\s/;

function readOwnLimits(): ReadonlyMap<string, number> {
  const lines = readText("/proc/self/limits").split("\n"); // Not Linux: what is asked for is tried.
  return new Map(
    lines.flatMap((line) => {
      const [, name, hard] = LIMIT_LINE.exec(line) ?? [];
      return name === undefined ? [] : [[name, Number(hard)] as const];
    }),
  );
}
