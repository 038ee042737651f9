/** The process: its arguments, its streams, its signals, its exit code. */
import { isatty } from "node:tty";
import { CancelledError, UsageError } from "../foundation/errors.ts";
import { EXIT } from "../foundation/exit-codes.ts";
import type { CliIo } from "./context.ts";
import { reportFault } from "./report-fault.ts";
import { runCli } from "./run-cli.ts";

const { stdout, stderr, env } = process;
// Asking the descriptor does not open the stream, which would cost every start some milliseconds.
const isTerminal = isatty(0) && isatty(1);

const io: CliIo = {
  stdout,
  stderr,
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
  interactive: isTerminal,
  color: isatty(1) && !env.NO_COLOR && env.TERM !== "dumb",
  async ask(question) {
    const { createInterface } = await import("node:readline/promises");
    const reader = createInterface({ input: process.stdin, output: stdout });
    const closed = new Promise<never>((_, reject) => {
      reader.once("close", () => reject(new CancelledError()));
    });
    try {
      return await Promise.race([reader.question(question), closed]);
    } catch {
      throw new CancelledError(); // Ctrl-C or the end of the input.
    } finally {
      reader.close();
    }
  },
  onInterrupt(end) {
    process.once("SIGINT", end);
    process.once("SIGTERM", end);
  },
};

// `metier list | head` closes the pipe early; that is no fault.
stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  stderr.write(reportFault(error).text);
  process.exit(EXIT.failed);
});

process.exitCode = await runCli(process.argv.slice(2), io);
