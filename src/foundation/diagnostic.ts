/**
 * What is wrong, or worth knowing, about a skill, a source or a config file.
 * Diagnostics are data: they are returned, never thrown, and nothing is dropped without one.
 */
import type { DiagnosticCode } from "./diagnostic-codes.ts";

export type Severity = "error" | "warning" | "info";

export interface Diagnostic {
  /** Stable, dotted, lower case; listed with its meaning in `diagnostic-codes.ts`. */
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** What, and which value; identifiers in backticks. */
  readonly message: string;
  /** The file or directory it is about, absolute where there is one. */
  readonly path: string;
  /** 1-based. */
  readonly line?: number;
  /** 1-based. */
  readonly column?: number;
  /** What to do about it. */
  readonly hint?: string;
}

const SEVERITY_ORDER: Record<Severity, number> = { error: 0, warning: 1, info: 2 };

/** By path, then line, then severity, then code: the order in which a person reads them. */
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

/** Code-unit order: the same on every machine and in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
