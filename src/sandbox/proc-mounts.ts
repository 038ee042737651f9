/**
 * What of `/proc` a sandboxed program does not get. The kernel keeps most of it from who has no privileges, but not from
 * root, and a run that root starts is root to those files, whatever number it shows inside: it could set the program that
 * the machine starts at a crash.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Settings of the machine: `--proc` alone leaves them to root. */
const READ_ONLY = ["acpi", "bus", "driver", "fs", "irq", "mtrr", "pressure", "scsi", "sys", "sysrq-trigger"];

/** Memory, keys and messages of the whole machine. */
const HIDDEN = [
  "kcore",
  "key-users",
  "keys",
  "kmsg",
  "kpagecgroup",
  "kpagecount",
  "kpageflags",
  "latency_stats",
  "pagetypeinfo",
  "sched_debug",
  "slabinfo",
  "timer_list",
  "vmallocinfo",
  "vmcore",
];

/**
 * Inside, the first process is bubblewrap itself. Whoever writes to its memory can have it say that the command has ended
 * and live on, and its program file is that of the machine.
 */
const FIRST_PROCESS = ["--size", "4096", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"];

/** Bubblewrap's arguments, to come after `--proc /proc`. */
export function guardProc(): readonly string[] {
  guarded ??= [
    ...paths(READ_ONLY).flatMap((path) => ["--ro-bind", path, path]),
    ...paths(HIDDEN).flatMap((path) => ["--ro-bind", "/dev/null", path]),
    ...FIRST_PROCESS,
  ];
  return guarded;
}

/** The kernel's own files do not change while it runs. */
let guarded: readonly string[] | undefined;

function paths(names: readonly string[]): readonly string[] {
  return names.map((name) => join("/proc", name)).filter((path) => existsSync(path));
}
