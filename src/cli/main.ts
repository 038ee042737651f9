/** The process: its arguments, its streams, its signals, its exit code. */
import { fstatSync, writeSync } from "node:fs";
import { CancelledError, UsageError } from "../foundation/errors.ts";
import { EXIT } from "../foundation/exit-codes.ts";
import type { LineEditor } from "./chat/line-editor.ts";
import type { CliIo, CliStream } from "./context.ts";
import { reportFault } from "./report-fault.ts";
import { runCli } from "./run-cli.ts";

const { env } = process;
const [STDIN, STDOUT, STDERR] = [0, 1, 2];

let editor: LineEditor | undefined;

const io: CliIo = {
  stdout: openStream(STDOUT),
  stderr: openStream(STDERR),
  input: () => (isPiped(STDIN) ? process.stdin : undefined),
  get cwd() {
    try {
      return process.cwd();
    } catch {
      throw new UsageError("The working directory no longer exists.", {
        hint: "Change to another folder, or use `--cwd`.",
      });
    }
  },
  environment: env,
  interactive: isTerminal(STDIN) && isTerminal(STDOUT),
  color: !env.NO_COLOR && env.TERM !== "dumb" && isTerminal(STDOUT),
  async ask(question, signal) {
    const { createInterface } = await import("node:readline/promises");
    const reader = createInterface({ input: process.stdin, output: process.stdout });
    const closed = new Promise<never>((_, reject) => {
      reader.once("close", () => reject(new CancelledError()));
    });
    try {
      return await Promise.race([reader.question(question, { ...(signal && { signal }) }), closed]);
    } catch {
      throw new CancelledError(); // Ctrl-C, the end of the input, or taken back.
    } finally {
      reader.close();
    }
  },
  async readLine(prompt, history) {
    const { createLineEditor } = await import("./chat/line-editor.ts");
    editor ??= createLineEditor(process.stdin, process.stdout);
    return editor.read(prompt, history);
  },
  onInterrupt(end) {
    process.once("SIGINT", end);
    process.once("SIGTERM", end);
    return () => {
      process.off("SIGINT", end);
      process.off("SIGTERM", end);
    };
  },
};

process.exitCode = await runCli(process.argv.slice(2), io);

function openStream(descriptor: number): CliStream {
  return {
    write: (text) => writeFully(descriptor, text),
    get isTerminal() {
      return isTerminal(descriptor);
    },
  };
}

/** A pipe, a file or a socket: not a terminal, not `/dev/null`, not closed. */
function isPiped(descriptor: number): boolean {
  try {
    return !fstatSync(descriptor).isCharacterDevice();
  } catch {
    return false;
  }
}

/**
 * Node's own streams cost every start some milliseconds, and a terminal is told apart by a module that loads the network.
 * A device that is no terminal (`/dev/null`) is rare enough to ask that module about.
 */
function isTerminal(descriptor: number): boolean {
  try {
    if (!fstatSync(descriptor).isCharacterDevice()) return false;
  } catch {
    return false; // Closed.
  }
  return process.getBuiltinModule("node:tty").isatty(descriptor);
}

/** Whole, also into a slow pipe; a reader that has gone (`metier list | head`) is no fault. */
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
