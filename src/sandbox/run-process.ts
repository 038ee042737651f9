/**
 * The one place that starts processes: without a shell, in a group of their own, with bounded output and time. However a
 * process ends, everything it started is ended with it, and how it ended is a value. Knows nothing of sandboxes.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { Socket } from "node:net";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { coverInherited } from "./inherited-descriptors.ts";
import { keepOutput } from "./keep-output.ts";
import { kill, killFound, killTree, listTree } from "./process-tree.ts";
import type { CommandOutcome, SandboxLimits } from "./sandbox.ts";
import { watchCommand } from "./watchdog.ts";

export interface ProcessRequest {
  /** An absolute path. */
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly stdin?: string | Readable;
  /** What the process can read from its descriptors 3, 4, …: unlike arguments, no other user sees it. */
  readonly handed?: readonly (string | Uint8Array)[];
  readonly limits: SandboxLimits;
  /** What they hold counts against `limits.maxWorkBytes`. */
  readonly folders?: readonly string[];
  readonly signal?: AbortSignal;
  onOutput?(stream: "stdout" | "stderr", chunk: Uint8Array): void;
  /** Standard output is for `onOutput` alone, which bounds it: nothing of it is kept, however much there is. */
  readonly passesOutput?: boolean;
  /** In our own group, so that it can ask at our terminal, as `sudo` does; what it leaves running is not ended. */
  readonly sharesTerminal?: boolean;
  /** Does not keep us running: when there is nothing else to do we end, and it ends with us. */
  readonly isBackground?: boolean;
  /** Further processes that belong to this one although its tree does not show them. */
  findStrays?(): readonly number[];
}

type Ending = Pick<CommandOutcome, "ended" | "exitCode" | "signal" | "reason">;

/** A process that floods its output is ended rather than read for ever. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024;
/** How long a pipe may stay open after the tree was killed, before we stop listening. */
const CLOSE_GRACE_MS = 2_000;

export function runProcess(request: ProcessRequest): Promise<CommandOutcome> {
  const { limits, signal } = request;
  const started = performance.now();
  const output = keepOutput(limits.maxOutputBytes);
  const describe = (ending: Ending): CommandOutcome => ({
    ...ending,
    stdout: output.text("stdout"),
    stderr: output.text("stderr"),
    droppedBytes: output.droppedBytes(),
    durationMs: Math.round(performance.now() - started),
  });
  if (signal?.aborted) return Promise.resolve(describe({ ended: "cancelled" }));
  let child: ChildProcess;
  try {
    child = spawn(request.program, request.args, spawnOptions(request));
  } catch (error) {
    return Promise.resolve(describe(cannotStart(request.program, error)));
  }
  handOver(child, request); // At once: it waits for this.
  const { pid } = child;
  const forget = request.sharesTerminal ? () => undefined : endWithUs(pid);
  if (request.isBackground) letGo(child);
  return new Promise((settle) => {
    let ending: Ending | undefined;
    let closeTimer: NodeJS.Timeout | undefined;

    /** The first reason counts; from here on nothing of the tree is left running. */
    const end = (reason: Ending, killAll: (pid: number) => void = killTree): void => {
      if (ending) return;
      ending = reason;
      if (pid !== undefined) killAll(pid);
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
      settle(describe(ending ?? { ended: "exited" }));
    };
    const cancel = (): void => end({ ended: "cancelled" });
    const timeout = setTimeout(() => end({ ended: "timeout" }), limits.timeoutMs);
    if (request.isBackground) timeout.unref();
    const exceed = (reason: string): void => end({ ended: "limit", reason });
    const listAll = (most: number): readonly number[] => [
      ...(pid === undefined ? [] : listTree(pid, most)),
      ...(request.findStrays?.() ?? []),
    ];
    const watchdog = watchCommand(listAll, limits, request.folders ?? [], exceed);
    signal?.addEventListener("abort", cancel, { once: true });

    const take = (name: "stdout" | "stderr", chunk: Uint8Array): void => {
      if (name === "stderr" || !request.passesOutput) output.take(name, chunk);
      request.onOutput?.(name, chunk);
      if (output.droppedBytes() > MAX_DROPPED_BYTES) {
        exceed(`It wrote more than ${MAX_DROPPED_BYTES} bytes that nobody could keep.`);
      }
    };
    child.stdout?.on("data", (chunk: Buffer) => take("stdout", chunk));
    child.stderr?.on("data", (chunk: Buffer) => take("stderr", chunk));
    child.on("error", (error) => {
      end(cannotStart(request.program, error));
      if (pid === undefined) finish();
    });
    // Its number may belong to another process by now; that of its group cannot, as long as someone is in it.
    child.on("exit", (code, signalName) => {
      const reason = watchdog.explainEnd();
      const how = reason === undefined ? describeExit(code, signalName) : { ended: "limit" as const, reason };
      end(how, (group) => kill(-group));
    });
    child.on("close", finish);
  });
}

/** Those that run. A program that exits in the middle leaves none of them behind. */
const running = new Set<number>();

function endAll(): void {
  for (const pid of running) killTree(pid);
}

/** The answer takes it off the list again. */
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
  for (const stream of child.stdio) if (stream instanceof Socket) stream.unref();
}

function spawnOptions({
  cwd,
  env,
  stdin,
  sharesTerminal = false,
  handed = [],
}: ProcessRequest): SpawnOptions {
  const given = handed.map(() => "pipe" as const);
  const streams = [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe", ...given] as const;
  return {
    ...(cwd !== undefined && { cwd }),
    env,
    detached: !sharesTerminal,
    stdio: [...streams, ...coverInherited(streams.length)],
  };
}

function handOver(child: ChildProcess, { stdin, handed = [] }: ProcessRequest): void {
  if (child.stdin) writeAll(child.stdin, stdin ?? "");
  for (const [index, content] of handed.entries()) writeAll(child.stdio[3 + index], content);
}

function writeAll(
  stream: Readable | Writable | null | undefined,
  content: string | Uint8Array | Readable,
): void {
  if (!(stream && "end" in stream)) return;
  stream.on("error", () => undefined); // Whoever does not want to read it may close it.
  if (typeof content === "string" || content instanceof Uint8Array) stream.end(content);
  else content.on("error", () => stream.end()).pipe(stream); // A source that breaks has ended.
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): Ending {
  if (signal === null) return { ended: "exited", exitCode: code ?? 0 };
  return { ended: "signalled", signal, exitCode: 128 + constants.signals[signal] };
}

function cannotStart(program: string, error: unknown): Ending {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === "E2BIG" ? "its arguments are longer than the system takes" : message;
  return { ended: "refused", reason: `\`${program}\` cannot be started: ${why}.` };
}
