/**
 * Looks at a command while it runs, from outside: how many processes it has, how much memory they use together, how much
 * its folders hold. Says at once what is too much. What lives for more than a moment is put into a control group, in
 * which the kernel holds it between two looks: at its start only what nothing else would hold then, since being moved takes
 * longer than most commands do.
 */
import type { SandboxLimits } from "../sandbox.ts";
import { cgroupHomes, nameGroup } from "./cgroup-homes.ts";
import { type ControlGroup, openGroup, tasksOf } from "./kernel-limits.ts";
import { countThreads, lookAtSharedMemory, measureMemory, type SharedMemoryLook } from "./process-tree.ts";
import { whyTooFull } from "./work-folders.ts";

interface Watchdog {
  /** Puts a process that has started nothing yet into the group of the command, where there can be one. */
  hold(pid: number): Promise<void>;
  /** What the kernel ended something of it for, where that is known. */
  explainEnd(): string | undefined;
  /** Ends what is in the command's group. */
  kill(): void;
  stop(): void;
}

const FIRST_LOOK_MS = 25;
const LOOK_EVERY_MS = 100;
const GROUP_AFTER_MS = 100;
const MEASURE_EVERY_MS = 500;
/** What a look took passes this many times before the next one: it costs a small part of the time, however much there is. */
const REST = 20;
/** On a machine that is very busy a look takes long; the next one comes all the same. */
const MOST_REST_MS = 1_000;
/** How often those are looked for that were started while their parents were being moved. */
const MAX_PASSES = 5;
/** Processes, where their number is not limited. */
const MAX_COUNTED = 10_000;

/** `listProcesses` tells those of the command, or so many of them; `onExcess` is told what is too much, maybe twice. */
export function watchCommand(
  listProcesses: (most: number) => readonly number[],
  limits: SandboxLimits,
  folders: readonly string[],
  onExcess: (reason: string) => void,
  /** Where it is in one already. */
  heldBy?: ControlGroup | undefined,
): Watchdog {
  const { maxProcesses, maxMemoryBytes, maxWorkBytes } = limits;
  const started = performance.now();
  // What is far too much need not be counted to the end: it would grow meanwhile.
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
    look().catch((error: Error) => say(`It cannot be held to its limits: ${error.message}.`));

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

/** Puts a process that has started nothing yet into a group of its own, where there can be one. */
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
      return `It had at least ${pids.length} processes; at most ${maxProcesses} are allowed.`;
    const threads = countThreads(pids);
    const most = tasksOf(maxProcesses);
    if (threads > most)
      return `It had ${threads} threads; at most ${most} are allowed for ${maxProcesses} processes.`;
  }
  if (maxMemoryBytes === undefined) return undefined;
  const bytes = shared(pids, maxMemoryBytes) ?? measureMemory(pids);
  if (bytes <= maxMemoryBytes) return undefined;
  return `It used ${bytes} bytes of memory; at most ${maxMemoryBytes} are allowed.`;
}

function explainOutOfMemory(
  group: ControlGroup | undefined,
  { maxMemoryBytes }: SandboxLimits,
): string | undefined {
  if (!group?.ranOutOfMemory()) return undefined;
  return `It wanted more memory than the ${maxMemoryBytes} bytes that are allowed.`;
}

/** Until it is stopped, one look at a time, at first more often. `look` must not fail. */
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
