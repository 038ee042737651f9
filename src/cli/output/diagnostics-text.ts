/** Diagnostics for people: one line each with place and code; what a program said, and the hint, below it. */
import type { Diagnostic, Severity } from "../../foundation/diagnostic.ts";
import { type Style, safeLine } from "./style.ts";

export function diagnosticText(diagnostic: Diagnostic, style: Style): string {
  const { path, line, column, severity, code, message, hint } = diagnostic;
  const place = [path, line, column].filter((part) => part !== undefined).join(":");
  const [what = "", ...said] = message.split(/\r?\n/);
  return [
    `${safeLine(place)}  ${severityText(severity, style)}  ${safeLine(what)}  ${style.dim(code)}`,
    ...said.map((text) => `    | ${safeLine(text)}`), // Marked, so that no text of a skill passes for a line of ours.
    ...(hint ? [`    ${style.dim(`→ ${safeLine(hint)}`)}`] : []),
  ].join("\n");
}

function severityText(severity: Severity, style: Style): string {
  if (severity === "error") return style.red("error");
  return severity === "warning" ? style.yellow("warning") : style.cyan("info");
}

/** `2 errors, 1 warning, 3 notes`; empty when there are none. */
export function countDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const words: readonly (readonly [Severity, string])[] = [
    ["error", "error"],
    ["warning", "warning"],
    ["info", "note"],
  ];
  return words
    .map(([severity, word]) => ({
      word,
      number: diagnostics.filter((entry) => entry.severity === severity).length,
    }))
    .filter(({ number }) => number > 0)
    .map(({ word, number }) => `${number} ${word}${number === 1 ? "" : "s"}`)
    .join(", ");
}
