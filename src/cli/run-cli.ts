/** One command line from arguments to exit code, without a process: `main.ts` and the tests call it. */
import { run } from "@stricli/core";
import { EXIT } from "../foundation/exit-codes.ts";
import { VERSION } from "../foundation/version.ts";
import type { CliContext, CliIo } from "./context.ts";
import { hoistFlags } from "./hoist-flags.ts";
import { overviewText } from "./overview.ts";
import { buildProgram } from "./program.ts";
import { reportFault, usageError } from "./report-fault.ts";

export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const [only] = args;
  if (args.length === 0 || (args.length === 1 && ["--help", "-h", "help"].includes(only ?? ""))) {
    io.stdout.write(overviewText());
    return EXIT.done;
  }
  if (args.length === 1 && (only === "--version" || only === "-v")) {
    io.stdout.write(`${VERSION}\n`);
    return EXIT.done;
  }
  return runCommand(hoistFlags(args), io);
}

async function runCommand(args: readonly string[], io: CliIo): Promise<number> {
  // The parser's own complaints are collected, so that they come out in the form that was asked for.
  const complaints: string[] = [];
  const parser = { stdout: io.stdout, stderr: { write: (text: string) => void complaints.push(text) } };
  const context: CliContext = { process: parser, io, code: EXIT.done };
  const ending: { exitCode?: number | string | null } = {};
  await run(buildProgram(), args, {
    process: Object.assign(ending, parser),
    forCommand: () => context,
  });
  const misused = typeof ending.exitCode === "number" && ending.exitCode !== 0;
  const fault = context.fault ?? (misused ? usageError(complaints.join("")) : undefined);
  if (fault === undefined) return context.code;
  const { record, text, exitCode } = reportFault(fault);
  if (args.includes("--json")) io.stdout.write(`${JSON.stringify({ error: record }, undefined, 2)}\n`);
  else io.stderr.write(text);
  return exitCode;
}
