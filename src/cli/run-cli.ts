/** One command line from arguments to exit code, without a process: `main.ts` and the tests call it. */
import { run } from "@stricli/core";
import { EXIT } from "../foundation/exit-codes.ts";
import { VERSION } from "../foundation/version.ts";
import type { CliContext, CliIo } from "./context.ts";
import { hoistFlags, joinArguments } from "./hoist-flags.ts";
import { overviewText } from "./overview.ts";
import { buildProgram } from "./program.ts";
import { reportFault, usageError } from "./report-fault.ts";

export async function runCli(args: readonly string[], io: CliIo): Promise<number> {
  const hoisted = hoistFlags(args);
  const [command, about, ...more] = hoisted.rest;
  const isAlone = about === undefined || about.startsWith("--");
  if (command === undefined || (HELP.has(command) && isAlone)) {
    io.stdout.write(overviewText());
    return EXIT.done;
  }
  if ((command === "--version" || command === "-v") && isAlone) {
    io.stdout.write(`${VERSION}\n`);
    return EXIT.done;
  }
  // `metier help list` is what `metier list --help` is.
  const rest = command === "help" && !isAlone ? [about, ...more, "--help"] : hoisted.rest;
  return runCommand(joinArguments({ ...hoisted, rest }), io);
}

const HELP: ReadonlySet<string> = new Set(["help", "--help", "-h"]);

async function runCommand(args: readonly string[], io: CliIo): Promise<number> {
  // The parser's own complaints are collected, so that they come out in the form that was asked for.
  const complaints: string[] = [];
  const parser = { stdout: io.stdout, stderr: { write: (text: string) => void complaints.push(text) } };
  const context: CliContext = { process: parser, io, code: EXIT.done };
  const ending: { exitCode?: number | string | null } = {};
  await run(buildProgram(args[0]), args, {
    process: Object.assign(ending, parser),
    forCommand: () => context,
  });
  const misused = typeof ending.exitCode === "number" && ending.exitCode !== 0;
  const fault = context.fault ?? (misused ? usageError(complaints.join(""), args) : undefined);
  if (fault === undefined) return context.code;
  const { record, text, exitCode } = reportFault(fault);
  if (args.some((arg) => arg === "--json" || arg === "--json=true"))
    io.stdout.write(`${JSON.stringify({ error: record }, undefined, 2)}\n`);
  else io.stderr.write(text);
  return exitCode;
}
