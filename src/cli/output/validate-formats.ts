/** The machine-readable forms of a validation: SARIF 2.1.0 for code scanning, workflow commands for GitHub Actions. */

import { relative } from "node:path";
import type { Diagnostic, Severity } from "../../foundation/diagnostic.ts";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../../foundation/diagnostic-codes.ts";
import { sarifDocument, sarifLocation } from "./sarif.ts";
import { safeText } from "./style.ts";

const SARIF_LEVEL: Record<Severity, string> = { error: "error", warning: "warning", info: "note" };
const GITHUB_COMMAND: Record<Severity, string> = { error: "error", warning: "warning", info: "notice" };

export function sarifReport(diagnostics: readonly Diagnostic[], cwd: string, version: string): object {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  const results = diagnostics.map((diagnostic) =>
    sarifResult(diagnostic, codes.indexOf(diagnostic.code), cwd),
  );
  return sarifDocument({ version, cwd, rules: codes.map(sarifRule), results });
}

function sarifRule(code: DiagnosticCode): object {
  return { id: code, shortDescription: { text: DIAGNOSTIC_CODES[code] } };
}

function sarifResult(
  { code, severity, message, hint, path, line, column }: Diagnostic,
  ruleIndex: number,
  cwd: string,
): object {
  const region =
    line === undefined ? {} : { region: { startLine: line, ...(column && { startColumn: column }) } };
  return {
    ruleId: code,
    ruleIndex,
    level: SARIF_LEVEL[severity],
    message: { text: hint ? `${message} ${hint}` : message },
    locations: [{ physicalLocation: { artifactLocation: sarifLocation(path, cwd), ...region } }],
  };
}

/** One workflow command a line; values escaped as the runner demands, so a skill cannot issue commands of its own. */
export function githubReport(diagnostics: readonly Diagnostic[], cwd: string): string {
  return diagnostics
    .map(({ code, severity, message, hint, path, line, column }) => {
      const properties = [
        `file=${escapeProperty(relative(cwd, path) || path)}`,
        ...(line === undefined ? [] : [`line=${line}`]),
        ...(column === undefined ? [] : [`col=${column}`]),
        `title=${escapeProperty(code)}`,
      ];
      return `::${GITHUB_COMMAND[severity]} ${properties.join(",")}::${escapeData(hint ? `${message} ${hint}` : message)}`;
    })
    .join("\n");
}

function escapeData(text: string): string {
  return safeText(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
