/**
 * The one place that starts processes: without a shell, in a group of their own, with bounded output and time. However a
 * process ends, everything it started is ended with it, and how it ended is a value. Knows nothing of sandboxes.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import { keepOutput } from "./keep-output.ts";
import { kill, killTree, measureTree } from "./process-tree.ts";
import type { CommandOutcome, SandboxLimits } from "./sandbox.ts";

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
  readonly signal?: AbortSignal;
  onOutput?(stream: "stdout" | "stderr", chunk: Uint8Array): void;
  /** Further processes that belong to this one although its tree does not show them. */
  findStrays?(): readonly number[];
}

type Ending = Pick<CommandOutcome, "ended" | "exitCode" | "signal" | "reason">;

/** A process that floods its output is ended rather than read for ever. */
const MAX_DROPPED_BYTES = 64 * 1024 * 1024;
const WATCH_EVERY_MS = 250;
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
  const { pid } = child;
  return new Promise((settle) => {
    let ending: Ending | undefined;
    let closeTimer: NodeJS.Timeout | undefined;

    /** The first reason counts; from here on nothing of the tree is left running. */
    const end = (reason: Ending, killAll: (pid: number) => void = killTree): void => {
      if (ending) return;
      ending = reason;
      if (pid !== undefined) killAll(pid);
      for (const stray of request.findStrays?.() ?? []) kill(stray);
      closeTimer = setTimeout(finish, CLOSE_GRACE_MS);
    };
    const finish = (): void => {
      clearTimeout(timeout);
      clearTimeout(closeTimer);
      clearInterval(watchdog);
      signal?.removeEventListener("abort", cancel);
      for (const stream of child.stdio) stream?.destroy();
      settle(describe(ending ?? { ended: "exited" }));
    };
    const cancel = (): void => end({ ended: "cancelled" });
    const timeout = setTimeout(() => end({ ended: "timeout" }), limits.timeoutMs);
    const watchdog = watchTree(pid, limits, end);
    signal?.addEventListener("abort", cancel, { once: true });

    const take = (name: "stdout" | "stderr", chunk: Uint8Array): void => {
      output.take(name, chunk);
      request.onOutput?.(name, chunk);
      if (output.droppedBytes() > MAX_DROPPED_BYTES) {
        end({
          ended: "limit",
          reason: `It wrote more than ${MAX_DROPPED_BYTES} bytes that nobody could keep.`,
        });
      }
    };
    child.stdout?.on("data", (chunk: Buffer) => take("stdout", chunk));
    child.stderr?.on("data", (chunk: Buffer) => take("stderr", chunk));
    child.on("error", (error) => {
      end(cannotStart(request.program, error));
      if (pid === undefined) finish();
    });
    // Its number may belong to another process by now; that of its group cannot, as long as someone is in it.
    child.on("exit", (code, signalName) => end(describeExit(code, signalName), (group) => kill(-group)));
    child.on("close", finish);
    handOver(child, request);
  });
}

function spawnOptions({ cwd, env, stdin, handed = [] }: ProcessRequest): SpawnOptions {
  return {
    ...(cwd !== undefined && { cwd }),
    env,
    detached: true,
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe", ...handed.map(() => "pipe" as const)],
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
  else content.pipe(stream);
}

/** Looks at the size of the tree while it runs. */
function watchTree(
  pid: number | undefined,
  { maxProcesses, maxMemoryBytes }: SandboxLimits,
  end: (reason: Ending) => void,
): NodeJS.Timeout | undefined {
  if (pid === undefined || (maxProcesses === undefined && maxMemoryBytes === undefined)) return undefined;
  return setInterval(() => {
    const { processes, residentBytes } = measureTree(pid);
    if (maxProcesses !== undefined && processes > maxProcesses) {
      end({ ended: "limit", reason: `It had ${processes} processes; at most ${maxProcesses} are allowed.` });
    } else if (maxMemoryBytes !== undefined && residentBytes > maxMemoryBytes) {
      const reason = `It used ${residentBytes} bytes of memory; at most ${maxMemoryBytes} are allowed.`;
      end({ ended: "limit", reason });
    }
  }, WATCH_EVERY_MS);
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
