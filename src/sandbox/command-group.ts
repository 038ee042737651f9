/**
 * The control group of one command: the kernel itself keeps what is in it from having more processes or memory than
 * allowed, also between two looks of the watchdog. Where a group cannot be made, there is none and nothing fails.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CgroupHome } from "./cgroup-homes.ts";
import { kill } from "./process-tree.ts";
import { tasksOf } from "./rlimits.ts";
import type { SandboxLimits } from "./sandbox.ts";

export interface CommandGroup {
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
): CommandGroup | undefined {
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

function describeGroup(folders: readonly string[]): CommandGroup {
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
  const allowed = passed.map((folder) => Number(readText(join(folder, file)) || Number.NaN));
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

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return ""; // The group is gone, or lacks this controller.
  }
}
