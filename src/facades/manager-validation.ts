/** A validation as the facades give it: whether it is valid, and the messages by severity. */
import type { ValidationReport } from "../catalog/validate-paths.ts";
import type { Diagnostic } from "../foundation/diagnostic.ts";

export interface ManagerValidation {
  readonly valid: boolean;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  readonly skillPath: string;
}

/** `asked` is the path where no skill was found. */
export function summariseReport(
  { valid, results, diagnostics }: ValidationReport,
  asked: string,
): ManagerValidation {
  const all = [...diagnostics, ...results.flatMap((result) => result.diagnostics)];
  return { valid, ...messagesOf(all), skillPath: results[0]?.path ?? asked };
}

export function messagesOf(
  diagnostics: readonly Diagnostic[],
): Pick<ManagerValidation, "errors" | "warnings"> {
  const messages = (severity: string): readonly string[] =>
    diagnostics.filter((entry) => entry.severity === severity).map(({ message }) => message);
  return { errors: messages("error"), warnings: messages("warning") };
}
