/** The process: its arguments, its streams, its signals, its exit code. */
import { isatty } from "node:tty";
import type { CliIo } from "./context.ts";
import { runCli } from "./run-cli.ts";

const { stdout, stderr, env } = process;
// Asking the descriptor does not open the stream, which would cost every start some milliseconds.
const isTerminal = isatty(0) && isatty(1);

const io: CliIo = {
  stdout,
  stderr,
  cwd: process.cwd(),
  environment: env,
  interactive: isTerminal,
  color: isatty(1) && !env.NO_COLOR && env.TERM !== "dumb",
  async ask(question) {
    const { createInterface } = await import("node:readline/promises");
    const reader = createInterface({ input: process.stdin, output: stdout });
    try {
      return await reader.question(question);
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
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), io);
