/** Scan findings by skill, worst first, each with what to do; as text, JSON or SARIF 2.1.0. */
import { join } from "node:path";
import { safeLine } from "@metier/base/text";
import type { Finding, RuleFacts, ScannedPath } from "@metier/scan";
import { findScanRule, listScanRules } from "@metier/scan/engine";
import { SCAN_SEVERITIES, type ScanSeverity } from "@metier/skills/config";
import type { ScanResult } from "../actions/scan.ts";
import { diagnosticText, sarifDocument, sarifLocation } from "./diagnostics.ts";
import { count, type Style } from "./style.ts";

export function scanText({ skills, diagnostics, accepted, stale }: ScanResult, style: Style): string {
  const shown = skills.filter(({ findings, skipped }) => findings.length + skipped.length > 0);
  const notes = [
    ...stale.map(
      ({ skill, id, path }) =>
        `The baseline accepts \`${id}\` in ${skill}/${path}, but the scan no longer finds it.`,
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

/** A finding's `path` leads to the file, no matter which skill it belongs to. */
export function scanJson({ skills, diagnostics, accepted, stale }: ScanResult): object {
  const findings = skills.flatMap(({ name, directory, findings }) =>
    findings.map((finding) => ({
      ...finding,
      path: join(directory, finding.path),
      skill: name,
      file: finding.path,
    })),
  );
  const scanned = skills.map(({ name, location, digest, files, bytes, skipped }) => {
    return { name, location, digest, files, bytes, skipped };
  });
  return { findings, skills: scanned, diagnostics, accepted, stale };
}

const LEVELS: Readonly<Record<ScanSeverity, string>> = {
  info: "note",
  low: "note",
  medium: "warning",
  high: "error",
  block: "error",
};

/** The score from 0 to 10 by which GitHub sorts code scanning findings. */
const SECURITY_SEVERITY: Readonly<Record<ScanSeverity, string>> = {
  info: "0.1",
  low: "3.0",
  medium: "5.5",
  high: "8.0",
  block: "9.5",
};

export function scanSarif({ skills }: ScanResult, cwd: string, version: string): object {
  const rules = listScanRules();
  const results = skills.flatMap((skill) =>
    skill.findings.map((finding) => toResult(finding, skill, rules, cwd)),
  );
  return sarifDocument(cwd, version, rules.map(toRule), results);
}

function toRule({ id, family, severity, title, explanation, help }: RuleFacts): object {
  return {
    id,
    shortDescription: { text: `${title}.` },
    fullDescription: { text: explanation },
    help: { text: help },
    defaultConfiguration: { level: LEVELS[severity] },
    properties: { tags: ["security", family], "security-severity": SECURITY_SEVERITY[severity] },
  };
}

function toResult(
  { id, severity, path, line, column, message, evidence, fingerprint }: Finding,
  { name, directory }: ScannedPath,
  rules: readonly RuleFacts[],
  cwd: string,
): object {
  return {
    ruleId: id,
    ruleIndex: rules.findIndex((rule) => rule.id === id),
    level: LEVELS[severity],
    message: { text: evidence ? `${message} ${evidence}` : message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: sarifLocation(join(directory, path), cwd),
          region: { startLine: line, startColumn: column },
        },
      },
    ],
    partialFingerprints: { "metierScan/v1": fingerprint },
    properties: { severity, skill: name },
  };
}
