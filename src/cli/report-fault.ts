/** How a fault reads: one line that says what, one that says what to do; or the same as JSON. */
import { type ErrorRecord, MetierError, UsageError } from "../foundation/errors.ts";
import { EXIT, type ExitCode } from "../foundation/exit-codes.ts";
import { safeText } from "./output/style.ts";

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
  const message = fault instanceof Error ? fault.message : String(fault);
  const stack = fault instanceof Error ? fault.stack : undefined;
  return {
    record: { code: "internal.fault", message, hint: "This is a fault in Metier; please report it." },
    text: `error: ${stack ?? message}\n  → This is a fault in Metier; please report it with the lines above.\n`,
    exitCode: EXIT.failed,
  };
}

/** The parser's complaint as an error like any other. */
export function usageError(complaint: string): UsageError {
  const lines = complaint
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return new UsageError(lines.join(" ") || "The command line could not be understood.", {
    hint: "`metier --help` lists the commands, `metier <command> --help` the options.",
  });
}
