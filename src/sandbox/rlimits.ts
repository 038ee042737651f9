/** Limits that the kernel keeps for each process, put on a command by `prlimit` where the machine has it. */
import { readFileSync } from "node:fs";
import { availableParallelism, release } from "node:os";
import type { SandboxLimits } from "./sandbox.ts";

/** What a runtime such as Node's asks for and never touches. The watchdog counts what is used; this holds in between. */
const UNUSED_BYTES = 1024 * 1024 * 1024;
/** The kernel counts threads where the watchdog counts processes. */
const THREADS_OF_A_PROCESS = 8;
const CORES = availableParallelism();

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
  { timeoutMs, maxProcesses, maxMemoryBytes, maxFileBytes }: SandboxLimits,
  argv: readonly string[],
  /** Whether `prlimit` is started in a user namespace that the command has for itself. */
  isInside = false,
): readonly string[] {
  if (prlimit === undefined) return argv;
  const options = [
    limit("core", 0),
    // A backstop for when Metier itself is stopped and cannot end the command.
    limit("cpu", Math.ceil(timeoutMs / 1000) * CORES + 1),
    // Memory that can be written to, not address space, of which some programs reserve terabytes.
    ...(maxMemoryBytes === undefined ? [] : [limit("data", maxMemoryBytes + UNUSED_BYTES)]),
    ...(maxFileBytes === undefined ? [] : [limit("fsize", maxFileBytes)]),
    ...(maxProcesses !== undefined && isInside && countsByNamespace()
      ? [limit("nproc", tasksOf(maxProcesses))]
      : []),
  ];
  return [prlimit, ...options, "--", ...argv];
}

/**
 * Whether the threads of one namespace are counted for themselves. Before Linux 5.14 those of the user's whole desktop
 * count against each of their processes; and root's are never counted.
 */
export function countsByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split(".").map(Number);
  return process.getuid?.() !== 0 && (major > 5 || (major === 5 && minor >= 14));
}

/** Never more than Metier itself may have: nobody can raise that. */
function limit(name: keyof typeof NAMES, value: number): string {
  ownLimits ??= readOwnLimits();
  return `--${name}=${Math.min(value, ownLimits.get(NAMES[name]) ?? Number.POSITIVE_INFINITY)}`;
}

let ownLimits: ReadonlyMap<string, number> | undefined;

/** `Max file size   <soft>   <hard>   bytes`: the hard ones that are numbers. */
const LIMIT_LINE = /^(Max .+?)\s{2,}\S+\s+(\d+)\s/;

function readOwnLimits(): ReadonlyMap<string, number> {
  try {
    const lines = readFileSync("/proc/self/limits", "utf8").split("\n");
    return new Map(
      lines.flatMap((line) => {
        const [, name, hard] = LIMIT_LINE.exec(line) ?? [];
        return name === undefined ? [] : [[name, Number(hard)] as const];
      }),
    );
  } catch {
    return new Map(); // Not Linux: what is asked for is tried.
  }
}
