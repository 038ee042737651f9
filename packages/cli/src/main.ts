/** The process: its arguments, streams, signals and exit code. */
import { fstatSync, type Stats, statSync, writeSync } from "node:fs";
import { devNull } from "node:os";
import { CancelledError, EXIT, UsageError } from "@metier/base/errors";
import type { CliIo, CliStream } from "./context.ts";
import type { LineEditor } from "./editor/line-editor.ts";
import { reportFault, runCli } from "./run-cli.ts";

const { env } = process;
const [STDIN, STDOUT, STDERR] = [0, 1, 2];

/** Long enough to drain what is waiting in the terminal. */
const DROP_MS = 30;

let editor: LineEditor | undefined;

const io: CliIo = {
  stdout: openStream(STDOUT),
  stderr: openStream(STDERR),
  input: () => (isDevice(STDIN) === false ? process.stdin : undefined),
  get cwd() {
    try {
      return process.cwd();
    } catch {
      throw new UsageError("The working directory no longer exists.", {
        hint: "Change to another folder, or use `--cwd`.",
      });
    }
  },
  program: [process.execPath, process.argv[1] ?? ""],
  environment: env,
  get interactive() {
    return isTerminal(STDIN) && isTerminal(STDOUT);
  },
  get color() {
    return !env.NO_COLOR && env.TERM !== "dumb" && isTerminal(STDOUT);
  },
  async ask(question, signal) {
    const { createInterface } = await import("node:readline/promises");
    const reader = createInterface({ input: process.stdin, output: process.stdout });
    reader.on("SIGCONT", () => reader.resume()); // After Ctrl-Z and `fg` it would stay paused.
    const closed = new Promise<never>((_, reject) => {
      reader.once("close", () => reject(new CancelledError()));
    });
    try {
      return await Promise.race([reader.question(question, signal ? { signal } : {}), closed]);
    } catch {
      writeFully(STDOUT, "\n"); // The question's line is still open.
      throw new CancelledError(); // Ctrl-C, the end of the input, or withdrawn.
    } finally {
      reader.close();
    }
  },
  async dropTyped() {
    const { stdin } = process;
    const drop = (): void => undefined;
    stdin.on("data", drop);
    stdin.setRawMode(true); // Text typed without Enter is waiting, too.
    stdin.resume();
    await new Promise((resolve) => setTimeout(resolve, DROP_MS));
    stdin.pause();
    stdin.setRawMode(false);
    stdin.off("data", drop);
  },
  async readLine(prompt, history, complete) {
    const { createLineEditor } = await import("./editor/line-editor.ts");
    editor ??= createLineEditor(process.stdin, process.stdout, stopGroup);
    return editor.read(prompt, history, complete);
  },
  onInterrupt(end) {
    process.once("SIGINT", end);
    process.once("SIGTERM", end);
    return () => {
      process.off("SIGINT", end);
      process.off("SIGTERM", end);
    };
  },
  saveMemory() {
    // Skills stay in memory until they are shown, and V8 answers with a young generation of 48 MB; its second compiler
    // takes memory and a core for code that is soon done.
    const { setFlagsFromString } = process.getBuiltinModule("node:v8");
    setFlagsFromString("--semi-space-growth-factor=1");
    setFlagsFromString("--no-turbofan");
    // Nothing that is marked would be freed before the list is shown.
    setFlagsFromString("--no-incremental-marking");
  },
  quit: (code) => process.exit(code),
};

process.exitCode = await runCli(process.argv.slice(2), io);
// If nothing is left to do, Node would exit too, but would first free every object.
setImmediate(() => {
  if (process.getActiveResourcesInfo().length === 0) process.exit();
});

/** Does what the terminal does for Ctrl-Z: `npx` and the shell script around this process stop with it. */
function stopGroup(): void {
  process.kill(0, "SIGTSTP");
}

function openStream(descriptor: number): CliStream {
  return {
    write: (text) => writeFully(descriptor, text),
    get isTerminal() {
      return isTerminal(descriptor);
    },
    get columns() {
      return isTerminal(descriptor)
        ? (descriptor === STDOUT ? process.stdout : process.stderr).columns
        : undefined;
    },
  };
}

/** Otherwise a pipe, a file or a socket; `undefined` if closed. */
function isDevice(descriptor: number): boolean | undefined {
  return statsOf(descriptor)?.isCharacterDevice();
}

function statsOf(descriptor: number): Stats | undefined {
  try {
    return fstatSync(descriptor);
  } catch {
    return undefined;
  }
}

/**
 * Node's own streams cost every start some milliseconds, and detecting a terminal loads the network module, 10 ms: a
 * start without one, from a script or with `< /dev/null`, need not pay for it.
 */
function isTerminal(descriptor: number): boolean {
  const stats = statsOf(descriptor);
  if (!stats?.isCharacterDevice() || isNullDevice(stats)) return false;
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

function isNullDevice({ rdev }: Stats): boolean {
  const stats = statSync(devNull, { throwIfNoEntry: false });
  return stats?.isCharacterDevice() === true && stats.rdev === rdev;
}

/** Writes everything, even to a slow pipe; a reader that left (`metier list | head`) is not a fault. */
function writeFully(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(descriptor, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") process.exit(EXIT.done);
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      else if (descriptor === STDERR) process.exit(EXIT.failed);
      else {
        writeFully(STDERR, reportFault(error).text);
        process.exit(EXIT.failed);
      }
    }
  }
}
