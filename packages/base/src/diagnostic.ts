/**
 * What is wrong, or worth knowing, about a skill, a source or a config file. Diagnostics are data: returned, never
 * thrown. Nothing is dropped without one.
 */
import type { DiagnosticCode } from "./diagnostic-codes.ts";
import { compareText } from "./text.ts";

/** How serious a diagnostic is, from `error` down to `info`. */
export type Severity = "error" | "warning" | "info";

/** One finding about a skill, a source, a config file or a run; returned as data, never thrown. */
export interface Diagnostic {
  /** Stable, dotted, lower case; listed with its meaning in `diagnostic-codes.ts`. */
  readonly code: DiagnosticCode;
  /** How serious it is; for rules about skill files, the profile decides. */
  readonly severity: Severity;
  /** What happened, and to which value; identifiers in backticks. */
  readonly message: string;
  /** The file or directory it concerns; absolute if it exists on disk. */
  readonly path: string;
  /** 1-based. */
  readonly line?: number | undefined;
  /** 1-based. */
  readonly column?: number | undefined;
  /** What to do about it. */
  readonly hint?: string | undefined;
}

const SEVERITY_ORDER: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/** Sorts by path, line, severity and code: the order in which people read them. */
export function compareDiagnostics(a: Diagnostic, b: Diagnostic): number {
  return (
    compareText(a.path, b.path) ||
    (a.line ?? 0) - (b.line ?? 0) ||
    SEVERITY_ORDER[a.severity] - SEVERITY_ORDER[b.severity] ||
    compareText(a.code, b.code)
  );
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

export { DIAGNOSTIC_CODES, type DiagnosticCode } from "./diagnostic-codes.ts";
export {
  CALLBACK_FAILED,
  type ConsoleLogger,
  callHost,
  describeCallback,
  LOG_LEVELS,
  type LogFields,
  type Logger,
  type LogLevel,
  openHostCalls,
  openLog,
  type PinoLogger,
  sayFault,
  type TellHost,
  type WriteLog,
  warnOnce,
} from "./host.ts";
