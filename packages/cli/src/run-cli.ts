/**
 * One command line from arguments to exit code, without a process: `main.ts` and the tests call it. Holds the commands
 * by group, the overview page and the routes, and words faults as text or JSON.
 */
import { type ErrorRecord, EXIT, type ExitCode, MetierError, UsageError } from "@metier/base/errors";
import { VERSION } from "@metier/base/places";
import { onCommandLine, safeLine, safeText } from "@metier/base/text";
import {
  type Application,
  buildApplication,
  buildRouteMap,
  type RouteMap,
  run,
  text_en,
  UnexpectedPositionalError,
} from "@stricli/core";
import { COMMON_FLAGS, type DeclaredCommand } from "./commands/define.ts";
import { COMMANDS, findCommand, MANAGE_COMMANDS, suggestCommands } from "./commands/groups.ts";
import { list } from "./commands/reading.ts";
import type { CliContext, CliIo } from "./context.ts";

export function runCli(args: readonly string[], io: CliIo): Promise<number> {
  return onCommandLine(() => answerArguments(args, io));
}

async function answerArguments(args: readonly string[], io: CliIo): Promise<number> {
  if (args[0] === "__complete") {
    const { complete } = await import("./actions/complete.ts");
    await complete(args.slice(1), io);
    return EXIT.done;
  }
  const words = readArguments(args);
  const answer = await answerAtOnce(words);
  if (answer === undefined) return runCommand(words, io);
  io.stdout.write(answer);
  return EXIT.done;
}

/** With the command first, under its real name. */
function readArguments(args: readonly string[]): readonly string[] {
  const start = countLeading(args);
  const [command = "", about = "", ...more] = args.slice(start);
  // `metier help list` means `metier list --help`.
  const isHelp = command === "help" && about !== "" && !about.startsWith("--");
  const rest = isHelp ? [about, ...more, "--help"] : args.slice(start);
  return moveBehind(args.slice(0, start), useRealNames(rest));
}

/** Requests that run no command: help and the version. */
async function answerAtOnce(words: readonly string[]): Promise<string | undefined> {
  const [command, about] = words;
  const isAlone = about === undefined || about.startsWith("--");
  if (command === undefined || isCommonFlag(command) || (HELP.has(command) && isAlone))
    return (await import("./output/help-text.ts")).overviewText();
  if ((command === "--version" || command === "-v") && isAlone) return `${VERSION}\n`;
  return asksForHelp(words) ? helpText(words) : undefined;
}

async function runCommand(words: readonly string[], io: CliIo): Promise<number> {
  // Collects the parser's complaints, so that they come out in the requested form.
  const complaints: string[] = [];
  const parser = { stdout: io.stdout, stderr: { write: (text: string) => void complaints.push(text) } };
  const context: CliContext = { process: parser, io, code: EXIT.done };
  const ending: { exitCode?: number | string | null } = {};
  let misuse: unknown;
  const noteMisuse = (fault: unknown): void => {
    misuse = fault;
  };
  if (isUnknown(words[0])) context.fault = unknownCommand(words[0] ?? "");
  else {
    await run(buildProgram(words[0], noteMisuse), words, {
      process: Object.assign(ending, parser),
      forCommand: () => context,
    });
  }
  const misused = typeof ending.exitCode === "number" && ending.exitCode !== 0;
  const fault = context.fault ?? (misused ? await usageError(misuse, complaints.join(""), words) : undefined);
  if (fault === undefined) return context.code;
  const { record, text, exitCode } = reportFault(fault);
  if (words.some((arg) => arg === "--json" || arg === "--json=true"))
    io.stdout.write(`${JSON.stringify({ error: record }, undefined, 2)}\n`);
  else {
    const { err } = await import("./context.ts");
    err(context, text);
  }
  return exitCode;
}

const HELP: ReadonlySet<string> = new Set(["help", "--help", "-h"]);

/** How many common options come before the command (`metier --json list`); the parser expects them after it. */
function countLeading(args: readonly string[]): number {
  let index = 0;
  while (index < args.length) {
    const arg = args[index] ?? "";
    if (!isCommonFlag(arg)) break;
    index += arg === "--json" || arg.includes("=") ? 1 : 2;
  }
  return index;
}

function isCommonFlag(arg: string): boolean {
  return arg.startsWith("--") && Object.hasOwn(COMMON_FLAGS, arg.slice(2).split("=")[0] ?? "");
}

/** Before `--`, after which nothing is an option. */
function moveBehind(leading: readonly string[], rest: readonly string[]): readonly string[] {
  const end = rest.indexOf("--");
  return end === -1 ? [...rest, ...leading] : [...rest.slice(0, end), ...leading, ...rest.slice(end)];
}

/** `ls` → `list`, also after `skill`. */
function useRealNames(words: readonly string[]): readonly string[] {
  const at = words[0] === "skill" ? 1 : 0;
  const name = findCommand(words[at] ?? "")?.name;
  return name === undefined ? words : words.with(at, name);
}

function isUnknown(word = ""): boolean {
  return word !== "skill" && findCommand(word) === undefined;
}

function unknownCommand(word: string): UsageError {
  const near = suggestCommands(word).map((name) => `\`${name}\``);
  const what = word.startsWith("-") ? "Unknown option" : "Unknown command";
  const question = near.length > 0 ? `: did you mean ${near.join(" or ")}?` : ".";
  const hint = "`metier --help` lists the commands; `metier run <skill>` runs a skill.";
  return new UsageError(`${what} \`${word}\`${question}`, { hint });
}

function asksForHelp(words: readonly string[]): boolean {
  const end = words.indexOf("--");
  return words
    .slice(0, end === -1 ? undefined : end)
    .some((word) => word === "--help" || word === "-h" || word === "--help=true");
}

/** `undefined` if there is no such command. */
async function helpText(words: readonly string[]): Promise<string | undefined> {
  const { commandText, holderText, overviewText } = await import("./output/help-text.ts");
  const [first = "", second = "", third = ""] = words;
  if (first !== "skill") {
    const command = findCommand(first);
    return command && commandText(command);
  }
  if (second.startsWith("-")) return overviewText();
  if (second !== "manage") {
    const command = findCommand(second);
    return command && commandText(command);
  }
  const managed = MANAGE_COMMANDS.find(({ name }) => name === third);
  if (managed) return commandText(managed);
  return holderText("skill manage", "Enable, disable, update, remove or list installed skills", [
    ...MANAGE_COMMANDS.slice(0, -1),
  ]);
}

/** The parser checks every flag of every command it gets, so it gets only a known command. */
function buildProgram(
  command: string | undefined,
  onMisuse: (fault: unknown) => void,
): Application<CliContext> {
  const only = command === undefined ? undefined : findCommand(command);
  const routes = only ? commandRoutes([only]) : { skill: skillRoutes(), list: list.command };
  const root = buildRouteMap({
    routes,
    docs: { brief: "The runtime for Agent Skills" },
  });
  return buildApplication(root, {
    name: "metier",
    scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true },
    documentation: { disableAnsiColor: true },
    localization: {
      text: {
        ...text_en,
        exceptionWhileParsingArguments(fault) {
          onMisuse(fault);
          return "";
        },
      },
    },
  });
}

/** `metier skill <command>` and `metier skill manage enable|disable|update|remove|list`, as in other systems. */
function skillRoutes(): RouteMap<CliContext> {
  return buildRouteMap({
    routes: { ...commandRoutes(COMMANDS), list: list.command, manage: manageRoutes() },
    defaultCommand: "list",
    docs: { brief: "The same commands, spelled `metier skill …`" },
  });
}

function manageRoutes(): RouteMap<CliContext> {
  return buildRouteMap({
    routes: commandRoutes(MANAGE_COMMANDS),
    defaultCommand: "actions",
    docs: { brief: "Enable, disable, update, remove or list installed skills", hideRoute: { actions: true } },
  });
}

function commandRoutes(commands: readonly DeclaredCommand[]): Record<string, DeclaredCommand["command"]> {
  return Object.fromEntries(commands.map(({ name, command }) => [name, command]));
}

interface FaultReport {
  readonly record: ErrorRecord;
  readonly text: string;
  readonly exitCode: ExitCode;
}

export function reportFault(fault: unknown): FaultReport {
  if (fault instanceof MetierError) {
    const record = fault.toJSON();
    const hint = record.hint ? `  → ${safeText(record.hint)}\n` : "";
    return { record, text: `error: ${safeText(record.message)}\n${hint}`, exitCode: fault.exitCode };
  }
  if (isSystemFault(fault)) return reportSystemFault(fault);
  const message = fault instanceof Error ? fault.message : String(fault);
  const stack = fault instanceof Error ? fault.stack : undefined;
  return {
    record: { code: "internal.fault", message, hint: "This is a bug in Metier; please report it." },
    text: `error: ${stack ?? message}\n  → This is a bug in Metier; please report it with the lines above.\n`,
    exitCode: EXIT.failed,
  };
}

/** A refusal by the operating system is not Metier's fault, so no stack is shown. */
function isSystemFault(fault: unknown): fault is NodeJS.ErrnoException {
  return (
    fault instanceof Error && "syscall" in fault && typeof (fault as NodeJS.ErrnoException).code === "string"
  );
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no space left on the device",
  EEXIST: "already exists",
  ENOENT: "does not exist",
  ENOTDIR: "part of the path is not a folder",
};

function reportSystemFault({ code = "", path, syscall, message }: NodeJS.ErrnoException): FaultReport {
  const what =
    path === undefined
      ? message
      : `\`${path}\`: ${SYSTEM_WORDS[code] ?? `the system refused \`${syscall}\``} (${code}).`;
  const hint =
    code === "ENOSPC" ? "Make room, then try again." : "Check the path and its permissions, then try again.";
  return {
    record: { code: "io.failed", message: what, hint },
    text: `error: ${safeLine(what)}\n  → ${hint}\n`,
    exitCode: EXIT.failed,
  };
}

/** The parser's complaint as an error like any other. */
async function usageError(fault: unknown, complaint: string, words: readonly string[]): Promise<UsageError> {
  const [command = "", action] = words;
  // `skill` and `skill manage` also work without an action, so the parser takes a wrong one for an argument.
  if (command === "skill" && action !== undefined && fault instanceof UnexpectedPositionalError) {
    return new UsageError(`\`${fault.input}\` is not a command of \`metier skill\`.`, {
      hint: "`metier --help` lists the commands, `metier <command> --help` the options.",
    });
  }
  const { describeMisuse } = await import("./output/misuse-text.ts");
  const declared = findCommand(command === "skill" ? (action ?? "") : command);
  return describeMisuse(fault, complaint.replace(/\s*\n\s*/g, " ").trim(), declared);
}
