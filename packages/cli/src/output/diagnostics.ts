/** Diagnostics for people and programs: text, SARIF 2.1.0 for code scanning, workflow commands for GitHub Actions. */
import { relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { DIAGNOSTIC_CODES, type Diagnostic, type Severity } from "@metier/base/diagnostic";
import { safeLine, safeText } from "@metier/base/text";
import { count, type Style } from "./style.ts";

export function diagnosticsText(diagnostics: readonly Diagnostic[], style: Style): string {
  return diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)).join("\n");
}

/** One line with place and code; program output and the hint follow below it. */
export function diagnosticText(diagnostic: Diagnostic, style: Style): string {
  const { path, line, column, severity, code, message, hint } = diagnostic;
  const place = [path, line, column].filter((part) => part !== undefined).join(":");
  const [what = "", ...said] = message.split(/\r?\n/);
  return [
    `${safeLine(place)}  ${severityText(severity, style)}  ${safeLine(what)}  ${style.dim(code)}`,
    ...said.map((text) => `    | ${safeLine(text)}`), // Marked, so that text from a skill can't pass for Metier's own.
    ...(hint ? [`    ${style.dim(`→ ${safeLine(hint)}`)}`] : []),
  ].join("\n");
}

function severityText(severity: Severity, style: Style): string {
  if (severity === "error") return style.red("error");
  return severity === "warning" ? style.yellow("warning") : style.cyan("info");
}

/** `2 errors, 1 warning, 3 notes`; empty if there are none. */
export function countDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const parts = Object.entries(LEVELS).flatMap(([severity, word]) => {
    const number = diagnostics.filter((entry) => entry.severity === severity).length;
    return number > 0 ? [count(number, word)] : [];
  });
  return parts.join(", ");
}

/** SARIF's names, worst first. */
const LEVELS: Record<Severity, string> = { error: "error", warning: "warning", info: "note" };
const GITHUB_COMMAND: Record<Severity, string> = { error: "error", warning: "warning", info: "notice" };

export function sarifReport(diagnostics: readonly Diagnostic[], cwd: string, version: string): object {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  const rules = codes.map((id) => ({ id, shortDescription: { text: DIAGNOSTIC_CODES[id] } }));
  const results = diagnostics.map((diagnostic) =>
    sarifResult(diagnostic, codes.indexOf(diagnostic.code), cwd),
  );
  return sarifDocument(cwd, version, rules, results);
}

function sarifResult(
  { code, severity, message, hint, path, line, column }: Diagnostic,
  ruleIndex: number,
  cwd: string,
): object {
  const region = line === undefined ? undefined : { startLine: line, startColumn: column || undefined };
  return {
    ruleId: code,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: hint ? `${message} ${hint}` : message },
    locations: [{ physicalLocation: { artifactLocation: sarifLocation(path, cwd), region } }],
  };
}

/** One workflow command per line. Values are escaped as the runner demands, so a skill can't issue commands. */
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

/** The SARIF 2.1.0 envelope. */
export function sarifDocument(
  cwd: string,
  version: string,
  rules: readonly object[],
  results: readonly object[],
): object {
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "metier", version, rules } },
        originalUriBaseIds: { ROOT: { uri: `${pathToFileURL(cwd).href}/` } },
        results,
      },
    ],
  };
}

/** Relative to the working directory if possible. */
export function sarifLocation(path: string, cwd: string): object {
  const inside = relative(cwd, path);
  if (inside === "" || inside.startsWith("..")) return { uri: pathToFileURL(path).href };
  return { uri: inside.split(sep).map(encodeURIComponent).join("/"), uriBaseId: "ROOT" };
}
