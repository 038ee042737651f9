/** Findings for people: by skill, worst first, each with where it is and what to do. */
import type { ScanSeverity } from "../../config/scan-fields.ts";
import { SCAN_SEVERITIES } from "../../config/scan-fields.ts";
import type { Finding } from "../../scan/finding.ts";
import type { RuleFacts } from "../../scan/rule.ts";
import { findScanRule } from "../../scan/rules.ts";
import type { ScannedPath } from "../../scan/scan-paths.ts";
import type { ScanResult } from "../actions/scan.ts";
import { diagnosticText } from "./diagnostics-text.ts";
import { count, type Style, safeLine } from "./style.ts";

export function scanText({ skills, diagnostics, accepted, stale }: ScanResult, style: Style): string {
  const shown = skills.filter(({ findings, skipped }) => findings.length + skipped.length > 0);
  const notes = [
    ...stale.map(
      ({ skill, id, path }) =>
        `The baseline accepts \`${id}\` in ${skill}/${path}, which is no longer found.`,
    ),
    ...(accepted > 0 ? [`${count(accepted, "finding")} accepted by the baseline.`] : []),
  ];
  return [
    ...diagnostics.map((diagnostic) => diagnosticText(diagnostic, style)),
    ...shown.map((skill) => skillText(skill, style)),
    ...notes.map((note) => style.dim(safeLine(note))),
    summary(skills, style),
  ].join("\n");
}

function skillText({ name, location, findings, skipped }: ScannedPath, style: Style): string {
  const head = `${style.bold(safeLine(name))}  ${style.dim(safeLine(location))}`;
  const rest = skipped.map(({ path, reason }) => `  ${style.dim(`${safeLine(path)}  ${safeLine(reason)}`)}`);
  return [head, ...findings.map((finding) => findingText(finding, style)), ...rest, ""].join("\n");
}

function findingText({ id, severity, path, line, message, evidence }: Finding, style: Style): string {
  const first = `  ${severityText(severity, style)}  ${safeLine(`${path}:${line}`)}  ${safeLine(message)}  ${style.dim(id)}`;
  const help = findScanRule(id)?.help;
  return [
    first,
    ...(evidence ? [`      ${style.dim(safeLine(evidence))}`] : []),
    ...(help ? [`      ${style.dim(`→ ${help}`)}`] : []),
  ].join("\n");
}

function severityText(severity: ScanSeverity, style: Style): string {
  if (severity === "block" || severity === "high") return style.red(severity);
  return severity === "medium" ? style.yellow(severity) : style.cyan(severity);
}

function summary(skills: readonly ScannedPath[], style: Style): string {
  const findings = skills.flatMap((skill) => skill.findings);
  const numbers = SCAN_SEVERITIES.toReversed().flatMap((level) => {
    const number = findings.filter(({ severity }) => severity === level).length;
    return number > 0 ? [`${number} ${level}`] : [];
  });
  const scanned = `${count(skills.length, "skill")} scanned`;
  return numbers.length === 0
    ? `${style.green("nothing found")}: ${scanned}.`
    : `${scanned}: ${numbers.join(", ")}.`;
}

export function rulesText(rules: readonly RuleFacts[], style: Style): string {
  return rules
    .map(({ id, severity, title, explanation, help }) =>
      [
        `${style.bold(id)}  ${severityText(severity, style)}`,
        `  ${title}. ${explanation}`,
        `  ${style.dim(`→ ${help}`)}`,
      ].join("\n"),
    )
    .join("\n\n");
}
