/**
 * The only place that starts processes: without a shell, in their own group, with bounded output and time. However a
 * process ends, everything it started is stopped too, and the outcome is a value. Knows nothing about sandboxes.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { CommandOutcome, SandboxLimits } from "../sandbox.ts";
import { coverInherited } from "./inherited-descriptors.ts";
import type { ControlGroup } from "./kernel-limits.ts";
import { type KeptOutput, keepOutput } from "./process-output.ts";
import { kill, killFound, killTree, listProcessTree } from "./process-tree.ts";
import { holdProcess, watchCommand } from "./watchdog.ts";

export interface ProcessRequest {
  /** An absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** The complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
  readonly stdin?: string | Readable | undefined;
  /**
   * Instead of `stdin`: gets the process's standard input at once, to write and end. A process that does not start has
   * none.
   */
  readonly onStdin?: ((stdin: Writable) => void) | undefined;
  /** What the process can read from its descriptors 3, 4, …; unlike arguments, other users cannot see it. */
  readonly handed?: readonly (string | Uint8Array)[];
  /** A process started ahead that waits for this; it runs instead of the program given here. */
  readonly ahead?: StartedAhead | undefined;
  /** It starts nothing before it has read that, and only a control group could limit what it starts. */
  readonly isHeld?: boolean;
  readonly limits: SandboxLimits;
  /** Folders that count against `limits.maxWorkBytes`. */
  readonly folders?: readonly string[];
  readonly signal?: AbortSignal | undefined;
  readonly onOutput?: ((stream: "stdout" | "stderr", chunk: Uint8Array) => void) | undefined;
  /** Standard output goes only to `onOutput`, which bounds it: none of it is kept. */
  readonly passesOutput?: boolean;
  /** In our own group, so that it can prompt in our terminal, as `sudo` does; what it leaves running is not stopped. */
  readonly sharesTerminal?: boolean;
  /** Shows its output in our terminal and reads input there unless `stdin` is given: a pager, an editor. */
  readonly ownsTerminal?: boolean;
  /** Something people keep using, such as a browser: neither it nor its children are stopped with us, or by a limit. */
  readonly outlivesUs?: boolean;
  /** Does not keep us alive: when nothing else is left, we exit and stop it. */
  readonly isBackground?: boolean;
  /** More processes that belong to this one but are not in its tree. */
  findStrays?(): readonly number[];
}

type Ending = Pick<CommandOutcome, "ended" | "exitCode" | "signal" | "reason">;

/** A process that floods its output is stopped instead of read forever. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024;
/** How long a pipe may stay open after the tree was killed before we stop listening. */
const CLOSE_GRACE_MS = 2_000;

export function runProcess(request: ProcessRequest): Promise<CommandOutcome> {
  const { program, limits, signal } = request;
  const started = performance.now();
  const output = keepOutput(limits.maxOutputBytes);
  const describe = (ending: Ending): CommandOutcome => ({
    ...ending,
    stdout: output.text("stdout"),
    stderr: output.text("stderr"),
    droppedBytes: output.droppedBytes(),
    durationMs: Math.round(performance.now() - started),
  });
  if (signal?.aborted) {
    request.ahead?.drop();
    return Promise.resolve(describe({ ended: "cancelled" }));
  }
  let begun: ReturnType<StartedAhead["take"]>;
  try {
    begun = request.ahead?.take() ?? {
      child: spawn(program, request.args, spawnOptions(request)),
      group: undefined,
    };
  } catch (error) {
    return Promise.resolve(describe(cannotStart(program, error)));
  }
  if (request.isBackground || request.outlivesUs) letGo(begun.child);
  return new Promise((settle) =>
    superviseChild(begun, request, output, (ending) => settle(describe(ending))),
  );
}

/** A process that waits for the first of its contents; the rest was written when it started. */
export interface StartedAhead {
  isWaiting(): boolean;
  /** Only for `runProcess`: it is supervised from then on. */
  take(): { readonly child: ChildProcess; readonly group: ControlGroup | undefined };
  drop(): void;
}

type AheadRequest = Pick<ProcessRequest, "program" | "args" | "env" | "cwd"> & {
  /** How many contents it gets later, starting at descriptor 3. */
  readonly later: number;
  /** What it can read at once from the descriptors after these. It starts nothing before it has. */
  readonly handed: readonly (string | Uint8Array)[];
  /** Limits from its start, through a control group: nothing else would keep it from starting too much. */
  readonly heldTo: SandboxLimits | undefined;
};

/** Does not keep us alive, and ends with us. `undefined` if it cannot be started. */
export async function startAhead(request: AheadRequest): Promise<StartedAhead | undefined> {
  const { program, args, later, handed, heldTo } = request;
  const all = [...Array<string>(later).fill(""), ...handed];
  let child: ChildProcess;
  try {
    child = spawn(program, args, spawnOptions({ ...request, handed: all }));
  } catch {
    return undefined; // The caller starts one when needed, and gets the error then.
  }
  const { pid } = child;
  const forget = endWithUs(pid);
  letGo(child);
  child.on("error", forget).on("exit", forget);
  const group = heldTo && pid !== undefined ? await holdProcess(pid, heldTo) : undefined;
  for (const [index, content] of handed.entries()) writeAll(child.stdio[3 + later + index], content);
  const isWaiting = (): boolean => pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    isWaiting,
    take() {
      forget();
      child.off("exit", forget);
      hold(child);
      return { child, group };
    },
    drop() {
      if (pid !== undefined && isWaiting()) killTree(pid); // Another process may have the pid of one that exited.
      group?.remove();
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}

/** Until it has ended, with everything it started. */
function superviseChild(
  { child, group }: ReturnType<StartedAhead["take"]>,
  request: ProcessRequest,
  output: KeptOutput,
  onEnded: (ending: Ending) => void,
): void {
  const { program, limits, signal } = request;
  const { pid } = child;
  const isLeft = request.sharesTerminal || request.ownsTerminal || request.outlivesUs;
  const forget = isLeft ? () => undefined : endWithUs(pid);
  let ending: Ending | undefined;
  let closeTimer: NodeJS.Timeout | undefined;

  /** The first reason counts; after this nothing of the tree keeps running. */
  const end = (reason: Ending, killAll: (pid: number) => void = killTree): void => {
    if (ending) return;
    ending = reason;
    if (pid !== undefined && !request.outlivesUs) killAll(pid);
    forget();
    watchdog.kill();
    if (request.findStrays) killFound(request.findStrays);
    closeTimer = setTimeout(finish, CLOSE_GRACE_MS);
  };
  const finish = (): void => {
    clearTimeout(timeout);
    clearTimeout(closeTimer);
    watchdog.stop();
    signal?.removeEventListener("abort", cancel);
    for (const stream of child.stdio) stream?.destroy();
    onEnded(ending ?? { ended: "exited" });
  };
  const cancel = (): void => end({ ended: "cancelled" });
  const timeout = setTimeout(() => end({ ended: "timeout" }), limits.timeoutMs);
  if (request.isBackground || request.outlivesUs) timeout.unref();
  const exceed = (reason: string): void => end({ ended: "limit", reason });
  const listAll = (most: number): readonly number[] => [
    ...(pid === undefined ? [] : listProcessTree(pid, most)),
    ...(request.findStrays?.() ?? []),
  ];
  const watchdog = watchCommand(listAll, limits, request.folders ?? [], exceed, group);
  const held = request.isHeld && pid !== undefined ? watchdog.hold(pid) : undefined;
  if (held) void held.finally(() => handOver(child, request));
  else handOver(child, request); // At once: it waits for this.
  signal?.addEventListener("abort", cancel, { once: true });
  takeOutput(child, request, output, exceed);
  child.on("error", (error) => {
    end(cannotStart(program, error));
    if (pid === undefined) finish();
  });
  // Its pid may belong to another process by now; its group's cannot while someone is in it.
  child.on("exit", (code, signalName) => {
    const reason = watchdog.explainEnd();
    const how = reason === undefined ? describeExit(code, signalName) : { ended: "limit" as const, reason };
    end(how, (group) => kill(-group));
  });
  child.on("close", finish);
}

function takeOutput(
  child: ChildProcess,
  { onOutput, passesOutput }: ProcessRequest,
  output: KeptOutput,
  onFlood: (reason: string) => void,
): void {
  const take = (name: "stdout" | "stderr", chunk: Uint8Array): void => {
    if (name === "stderr" || !passesOutput) output.take(name, chunk);
    onOutput?.(name, chunk);
    if (output.droppedBytes() > MAX_DROPPED_BYTES) {
      onFlood(`It wrote more than ${MAX_DROPPED_BYTES} bytes beyond what is kept.`);
    }
  };
  child.stdout?.on("data", (chunk: Buffer) => take("stdout", chunk));
  child.stderr?.on("data", (chunk: Buffer) => take("stderr", chunk));
}

/** Running processes, so that a program that exits midway leaves none behind. */
const running = new Set<number>();

function endAll(): void {
  for (const pid of running) killTree(pid);
}

/** Returns a function that removes it from the list again. */
function endWithUs(pid: number | undefined): () => void {
  if (pid === undefined) return () => undefined;
  if (running.size === 0) process.on("exit", endAll);
  running.add(pid);
  return () => {
    running.delete(pid);
    if (running.size === 0) process.off("exit", endAll);
  };
}

function letGo(child: ChildProcess): void {
  child.unref();
  for (const stream of socketsOf(child)) stream.unref();
}

/** The opposite. */
function hold(child: ChildProcess): void {
  child.ref();
  for (const stream of socketsOf(child)) stream.ref();
}

function socketsOf({ stdio }: ChildProcess): readonly Socket[] {
  const { Socket } = process.getBuiltinModule("node:net");
  return stdio.filter((stream) => stream instanceof Socket);
}

function spawnOptions({
  cwd,
  env,
  stdin,
  onStdin,
  sharesTerminal = false,
  ownsTerminal = false,
  outlivesUs = false,
  handed = [],
}: Omit<ProcessRequest, "limits">): SpawnOptions {
  const given = handed.map(() => "pipe" as const);
  const shown = ownsTerminal ? "inherit" : outlivesUs ? "ignore" : "pipe";
  const read = stdin !== undefined || onStdin ? "pipe" : ownsTerminal ? "inherit" : "ignore";
  const streams = [read, shown, shown, ...given] as const;
  return {
    cwd,
    env,
    detached: !(sharesTerminal || ownsTerminal),
    stdio: [...streams, ...coverInherited(streams.length)],
  };
}

function handOver(child: ChildProcess, { stdin, onStdin, handed = [] }: ProcessRequest): void {
  if (child.stdin && onStdin)
    onStdin(child.stdin.on("error", () => undefined)); // Its exit says the same.
  else if (child.stdin) writeAll(child.stdin, stdin ?? "");
  for (const [index, content] of handed.entries()) writeAll(child.stdio[3 + index], content);
}

function writeAll(
  stream: Readable | Writable | null | undefined,
  content: string | Uint8Array | Readable,
): void {
  if (!(stream && "end" in stream)) return;
  stream.on("error", () => undefined); // A process may close what it does not want to read.
  if (typeof content === "string" || content instanceof Uint8Array) stream.end(content);
  else content.on("error", () => stream.end()).pipe(stream); // A source that fails has ended.
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): Ending {
  if (signal === null) return { ended: "exited", exitCode: code ?? 0 };
  return { ended: "signalled", signal, exitCode: 128 + constants.signals[signal] };
}

function cannotStart(program: string, error: unknown): Ending {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === "E2BIG" ? "its arguments are longer than the system allows" : message;
  return { ended: "refused", reason: `\`${program}\` cannot be started: ${why}.` };
}
