/** The process: its arguments, its streams, its signals, its exit code. */
import type { CliIo } from "./context.ts";
import { runCli } from "./run-cli.ts";

const { stdin, stdout, stderr, env } = process;

const io: CliIo = {
  stdout,
  stderr,
  cwd: process.cwd(),
  environment: env,
  interactive: Boolean(stdin.isTTY && stdout.isTTY),
  color: Boolean(stdout.isTTY) && !env.NO_COLOR && env.TERM !== "dumb",
  async ask(question) {
    const { createInterface } = await import("node:readline/promises");
    const reader = createInterface({ input: stdin, output: stdout });
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
