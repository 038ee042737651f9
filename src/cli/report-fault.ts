/** How a fault reads: one line that says what, one that says what to do; or the same as JSON. */
import { type ErrorRecord, MetierError, UsageError } from "../foundation/errors.ts";
import { EXIT, type ExitCode } from "../foundation/exit-codes.ts";
import { safeLine, safeText } from "./output/style.ts";

export interface FaultReport {
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
    record: { code: "internal.fault", message, hint: "This is a fault in Metier; please report it." },
    text: `error: ${stack ?? message}\n  → This is a fault in Metier; please report it with the lines above.\n`,
    exitCode: EXIT.failed,
  };
}

/** What the operating system refused: no fault of ours, so no stack. */
function isSystemFault(fault: unknown): fault is NodeJS.ErrnoException {
  return (
    fault instanceof Error && "syscall" in fault && typeof (fault as NodeJS.ErrnoException).code === "string"
  );
}

const SYSTEM_WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission was denied",
  EPERM: "permission was denied",
  EROFS: "the file system is read-only",
  ENOSPC: "no room is left",
  EEXIST: "something is there already",
  ENOENT: "it does not exist",
  ENOTDIR: "a part of its path is not a folder",
};

function reportSystemFault({ code = "", path, syscall, message }: NodeJS.ErrnoException): FaultReport {
  const what =
    path === undefined
      ? message
      : `\`${path}\`: ${SYSTEM_WORDS[code] ?? `the system refused \`${syscall}\``} (${code}).`;
  const hint = "Check the path and its permissions, then try again.";
  return {
    record: { code: "io.failed", message: what, hint },
    text: `error: ${safeLine(what)}\n  → ${hint}\n`,
    exitCode: EXIT.failed,
  };
}

/** The parser's complaint as an error like any other. */
export function usageError(complaint: string, [command, action]: readonly string[]): UsageError {
  const lines = complaint
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  // `skill` and `skill manage` do something without an action, so the parser takes a wrong one for an argument.
  const isUnknownAction =
    command === "skill" && action !== undefined && lines[0]?.startsWith("Too many arguments");
  const message = isUnknownAction
    ? `\`${action}\` is not something \`metier skill\` can do.`
    : lines.join(" ");
  return new UsageError(message || "The command line could not be understood.", {
    hint: "`metier --help` lists the commands, `metier <command> --help` the options.",
  });
}
