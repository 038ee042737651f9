/**
 * Watches a command from outside while it runs: its number of processes, their total memory, and the size of its
 * folders. Reports at once what exceeds a limit. Longer-lived commands are moved into a control group, where the kernel
 * enforces limits between two checks; this happens at the start only if nothing else would apply then, since moving
 * takes longer than most commands.
 */
import type { SandboxLimits } from "../sandbox.ts";
import { cgroupHomes, nameGroup } from "./cgroup-homes.ts";
import { type ControlGroup, openGroup, tasksOf } from "./kernel-limits.ts";
import { countThreads, lookAtSharedMemory, measureMemory, type SharedMemoryLook } from "./process-tree.ts";
import { whyTooFull } from "./work-folders.ts";

interface Watchdog {
  /** Puts a process that has started nothing yet into the command's group, if possible. */
  hold(pid: number): Promise<void>;
  /** Why the kernel killed part of it, if known. */
  explainEnd(): string | undefined;
  /** Kills what is in the command's group. */
  kill(): void;
  stop(): void;
}

const FIRST_LOOK_MS = 25;
const LOOK_EVERY_MS = 100;
const GROUP_AFTER_MS = 100;
const MEASURE_EVERY_MS = 500;
/**
 * The next check waits this many times as long as the last one took, so that checking takes a small part of the time.
 */
const REST = 20;
/** On a very busy machine a check takes long; the next one still comes. */
const MOST_REST_MS = 1_000;
/** How often to look for processes that started while their parents were moved. */
const MAX_PASSES = 5;
/** Processes, if their number is not limited. */
const MAX_COUNTED = 10_000;

/**
 * `listProcesses` returns the command's processes, up to a number; `onExcess` gets what exceeds a limit, maybe twice.
 */
export function watchCommand(
  listProcesses: (most: number) => readonly number[],
  limits: SandboxLimits,
  folders: readonly string[],
  onExcess: (reason: string) => void,
  /** If it is already in one. */
  heldBy?: ControlGroup | undefined,
): Watchdog {
  const { maxProcesses, maxMemoryBytes, maxWorkBytes } = limits;
  const started = performance.now();
  // Far too many need not be counted to the end: they would grow in the meantime.
  const most = 2 * (maxProcesses ?? MAX_COUNTED);
  let group = heldBy;
  const shared = lookAtSharedMemory();
  let isStopped = false;

  const everyone = (): readonly number[] => [
    ...new Set([...listProcesses(most), ...(group?.members() ?? [])]),
  ];
  const say = (reason: string | undefined): void => {
    if (reason !== undefined && !isStopped) onExcess(reason);
  };
  const lookAtProcesses = async (): Promise<void> => {
    say(explainOutOfMemory(group, limits) ?? whyTooLarge(everyone(), limits, shared));
    if (group || isStopped || performance.now() - started < GROUP_AFTER_MS) return;
    group = openGroup(cgroupHomes(), nameGroup(), limits);
    for (let pass = 0; group && pass < MAX_PASSES && !isStopped; pass += 1) {
      const members = group.members();
      const outside = listProcesses(most).filter((pid) => !members.includes(pid));
      if (outside.length === 0) return;
      await group.admit(outside);
    }
  };
  const guard = (look: () => Promise<void>) => (): Promise<void> =>
    look().catch((error: Error) => say(`Its limits cannot be enforced: ${error.message}.`));

  const stops: (() => void)[] = [];
  if (maxProcesses !== undefined || maxMemoryBytes !== undefined)
    stops.push(repeat(guard(lookAtProcesses), FIRST_LOOK_MS, LOOK_EVERY_MS));
  if (maxWorkBytes !== undefined) {
    const lookAtFolders = async (): Promise<void> => say(await whyTooFull(folders, maxWorkBytes, everyone()));
    stops.push(repeat(guard(lookAtFolders), MEASURE_EVERY_MS, MEASURE_EVERY_MS));
  }

  return {
    async hold(pid) {
      group ??= await holdProcess(pid, limits);
    },
    explainEnd: () => explainOutOfMemory(group, limits),
    kill: () => group?.kill(),
    stop() {
      isStopped = true;
      for (const stop of stops) stop();
      group?.remove();
    },
  };
}

/** Puts a process that has started nothing yet into its own group, if possible. */
export async function holdProcess(pid: number, limits: SandboxLimits): Promise<ControlGroup | undefined> {
  const group = openGroup(cgroupHomes(), nameGroup(), limits);
  await group?.admit([pid]);
  return group;
}

function whyTooLarge(
  pids: readonly number[],
  { maxProcesses, maxMemoryBytes }: SandboxLimits,
  shared: SharedMemoryLook,
): string | undefined {
  if (maxProcesses !== undefined) {
    if (pids.length > maxProcesses)
      return `It had at least ${pids.length} processes; the limit is ${maxProcesses}.`;
    const threads = countThreads(pids);
    const most = tasksOf(maxProcesses);
    if (threads > most)
      return `It had ${threads} threads; the limit is ${most} for ${maxProcesses} processes.`;
  }
  if (maxMemoryBytes === undefined) return undefined;
  const bytes = shared(pids, maxMemoryBytes) ?? measureMemory(pids);
  if (bytes <= maxMemoryBytes) return undefined;
  return `It used ${bytes} bytes of memory; the limit is ${maxMemoryBytes} bytes.`;
}

function explainOutOfMemory(
  group: ControlGroup | undefined,
  { maxMemoryBytes }: SandboxLimits,
): string | undefined {
  if (!group?.ranOutOfMemory()) return undefined;
  return `It wanted more memory than its limit of ${maxMemoryBytes} bytes.`;
}

/** Runs until stopped, one check at a time, more often at first. `look` must not fail. */
function repeat(look: () => Promise<void>, firstMs: number, everyMs: number): () => void {
  const begun = performance.now();
  let isStopped = false;
  const lookAndWait = async (): Promise<void> => {
    const started = performance.now();
    await look();
    const ended = performance.now();
    const rest = Math.min(REST * (ended - started), MOST_REST_MS);
    if (!isStopped) timer = setTimeout(lookAndWait, Math.max(rest, Math.min(ended - begun, everyMs)));
  };
  let timer = setTimeout(lookAndWait, firstMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
