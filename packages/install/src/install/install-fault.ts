/**
 * Why a source is not available or an installation was refused: a code, what happened, and what to do. Inside this
 * package it is the refusal of a `Result`; commands return it as `fault`.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { ErrorCode } from "@metier/base/errors";
import { type Refused, type Result, refused } from "@metier/base/result";
import { nearestNames } from "@metier/base/text";

/** `ERROR_CODES` has the exit code of each. */
export type InstallFaultCode = Extract<
  ErrorCode,
  `source.${string}` | `install.${string}` | "git.missing" | "cancelled"
>;

/** Why a source cannot be used, or why nothing was installed. */
export interface InstallFault {
  /** Stable: programs may compare it. */
  readonly code: InstallFaultCode;
  /** What happened, to which value, in complete sentences. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}

/** The result of a command that did nothing. */
export type FaultOutcome = { readonly ok: false; readonly fault: InstallFault };

/** A command's result before it leaves the package. */
export type CommandResult<Outcome extends { readonly ok: boolean }> = Result<
  Omit<Extract<Outcome, { readonly ok: true }>, "ok">,
  InstallFault
>;

/** As a command's caller gets it. */
export function outcomeOf<Report extends object, Fault>(
  result: Result<Report, Fault>,
): ({ readonly ok: true } & Report) | { readonly ok: false; readonly fault: Fault } {
  return result.ok ? { ok: true, ...result.value } : { ok: false, fault: result.refusal };
}

export function faulty(code: InstallFaultCode, message: string, hint: string): Refused<InstallFault> {
  return refused({ code, message, hint });
}

/** `Did you mean …?`, or nothing if no known name is similar. */
export function suggestName(name: string, known: Iterable<string>): string {
  const near = nearestNames(name, known).map((one) => `\`${one}\``);
  return near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "";
}

/** What to do about an unknown name: suggests the nearest one, including other names in `alsoCalled`, and lists all. */
export function listKnown(
  name: string,
  known: readonly string[],
  alsoCalled: readonly string[] = [],
): string {
  const all = `Supported: ${known.map((one) => `\`${one}\``).join(", ")}.`;
  return `${suggestName(name, [...known, ...alsoCalled])} ${all}`.trimStart();
}

export function cancelledFault(): Refused<InstallFault> {
  return faulty(
    "cancelled",
    "Cancelled; nothing was installed.",
    "Run the command again when you are ready.",
  );
}

/** An unusable lock file, as the fault of the command that needed it. */
export function lockFault({ path, line, message, hint }: Diagnostic): Refused<InstallFault> {
  const place = line === undefined ? path : `${path}:${line}`;
  return faulty(
    "install.lock",
    `\`${place}\`: ${message}`,
    hint ?? "Fix the file, then run the command again.",
  );
}

type RefusalCode = "source.unsafe" | "source.limited" | "source.damaged" | "source.failed";

const HINTS: Readonly<Record<RefusalCode, string>> = {
  "source.unsafe": "Nothing was installed. Tell its author, or get it from another source.",
  "source.limited":
    "Nothing was installed. Ask its author for a smaller package, or install from its repository.",
  "source.damaged": "Nothing was installed. Download it again, or tell its author.",
  "source.failed": "Nothing was installed. Wait until nothing writes to it anymore, then try again.",
};

/** Something in an archive or folder that nothing installable may have. Thrown while it is read. */
export class RefusedTree extends Error {
  readonly code: RefusalCode | "cancelled";

  constructor(code: RefusalCode | "cancelled", message: string) {
    super(message);
    this.code = code;
  }
}

export function unsafe(message: string): RefusedTree {
  return new RefusedTree("source.unsafe", message);
}

export function limited(message: string): RefusedTree {
  return new RefusedTree("source.limited", message);
}

export function damaged(message: string): RefusedTree {
  return new RefusedTree("source.damaged", message);
}

/** Any other error is the machine's own and rethrown. `what`: the archive or folder. */
export function describeRefusal(fault: unknown, what: string): Refused<InstallFault> {
  if (!(fault instanceof RefusedTree)) throw fault;
  if (fault.code === "cancelled") return cancelledFault();
  return faulty(fault.code, `${what} was refused. ${fault.message}`, HINTS[fault.code]);
}

/** Between two files: whether it was cancelled. */
export function stopIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new RefusedTree("cancelled", "It was cancelled.");
}
