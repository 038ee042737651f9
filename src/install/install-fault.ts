/** Why a source cannot be had or installed, as a value: what happened, and what to do about it. */
import type { ErrorCode } from "../foundation/errors.ts";

/** `ERROR_CODES` says with which exit code each of them ends a command. */
export type InstallFaultCode = Extract<
  ErrorCode,
  `source.${string}` | `install.${string}` | "git.missing" | "cancelled"
>;

export interface InstallFault {
  readonly code: InstallFaultCode;
  /** What, and which value, in whole sentences. */
  readonly message: string;
  /** What to do. */
  readonly hint: string;
}

export type FaultOutcome = { readonly ok: false; readonly fault: InstallFault };

export function faulty(code: InstallFaultCode, message: string, hint: string): FaultOutcome {
  return { ok: false, fault: { code, message, hint } };
}

export function cancelledFault(): FaultOutcome {
  return faulty("cancelled", "Cancelled; nothing was installed.", "Run the command again when you want it.");
}
