/**
 * Why a source cannot be had or an installation is not done: a code, what happened, and what to do about it. Inside this
 * package it is the refusal of a `Result`; commands give it to their callers as `fault`.
 */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { ErrorCode } from "@metier/base/errors";
import { type Refused, type Result, refused } from "@metier/base/result";
import { nearestNames } from "@metier/base/text";

/** `ERROR_CODES` says with which exit code each of them ends a command. */
export type InstallFaultCode = Extract<
  ErrorCode,
  `source.${string}` | `install.${string}` | "git.missing" | "cancelled"
>;

/** Why a source cannot be used, or why nothing was installed. */
export interface InstallFault {
  /** Stable: programs may compare it. */
  readonly code: InstallFaultCode;
  /** What, and which value, in whole sentences. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}

/** What a command gives when it did nothing. */
export type FaultOutcome = { readonly ok: false; readonly fault: InstallFault };

/** What a command comes to before it leaves the package. */
export type CommandResult<Outcome extends { readonly ok: boolean }> = Result<
  Omit<Extract<Outcome, { readonly ok: true }>, "ok">,
  InstallFault
>;

/** As whoever called a command gets it. */
export function outcomeOf<Report extends object, Fault>(
  result: Result<Report, Fault>,
): ({ readonly ok: true } & Report) | { readonly ok: false; readonly fault: Fault } {
  return result.ok ? { ok: true, ...result.value } : { ok: false, fault: result.refusal };
}

export function faulty(code: InstallFaultCode, message: string, hint: string): Refused<InstallFault> {
  return refused({ code, message, hint });
}

/** `Did you mean …?`, or nothing where no known name is near. */
export function suggestName(name: string, known: Iterable<string>): string {
  const near = nearestNames(name, known).map((one) => `\`${one}\``);
  return near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "";
}

/** What to do about a name that none has: the nearest one, also of those by which some are `alsoCalled`, and all. */
export function listKnown(
  name: string,
  known: readonly string[],
  alsoCalled: readonly string[] = [],
): string {
  const all = `Known are ${known.map((one) => `\`${one}\``).join(", ")}.`;
  return `${suggestName(name, [...known, ...alsoCalled])} ${all}`.trimStart();
}

export function cancelledFault(): Refused<InstallFault> {
  return faulty("cancelled", "Cancelled; nothing was installed.", "Run the command again when you want it.");
}

/** A lock file that cannot be used, as the fault of whatever needed it. */
export function lockFault({ path, line, message, hint }: Diagnostic): Refused<InstallFault> {
  const place = line === undefined ? path : `${path}:${line}`;
  return faulty(
    "install.lock",
    `\`${place}\`: ${message}`,
    hint ?? "Repair the file, then run the command again.",
  );
}

type RefusalCode = "source.unsafe" | "source.limited" | "source.damaged" | "source.failed";

const HINTS: Readonly<Record<RefusalCode, string>> = {
  "source.unsafe": "Nothing of it was installed. Tell its author, or get it from somewhere else.",
  "source.limited":
    "Nothing of it was installed. Ask its author for a smaller package, or install from its repository.",
  "source.damaged": "Nothing of it was installed. Download it again, or tell its author.",
  "source.failed": "Nothing of it was installed. Wait until nothing writes to it any more, then try again.",
};

/** What an archive or folder does that nothing installable may do. Thrown while it is read, from wherever that is. */
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

/** Any other fault is the machine's own, and is thrown on. `what`: the archive or folder. */
export function describeRefusal(fault: unknown, what: string): Refused<InstallFault> {
  if (!(fault instanceof RefusedTree)) throw fault;
  if (fault.code === "cancelled") return cancelledFault();
  return faulty(fault.code, `${what} is refused. ${fault.message}`, HINTS[fault.code]);
}

/** Between two files: whether someone called it off. */
export function stopIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new RefusedTree("cancelled", "It was called off.");
}
