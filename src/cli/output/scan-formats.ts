/** The machine-readable forms of a scan: JSON, and SARIF 2.1.0 for code scanning. */
import { join } from "node:path";
import type { ScanSeverity } from "../../config/scan-fields.ts";
import type { Finding } from "../../scan/finding.ts";
import type { RuleFacts } from "../../scan/rule.ts";
import { listScanRules } from "../../scan/rules.ts";
import type { ScannedPath } from "../../scan/scan-paths.ts";
import type { ScanResult } from "../actions/scan.ts";
import { sarifDocument, sarifLocation } from "./sarif.ts";

/** `path` of a finding leads to the file, whichever skill it belongs to. */
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
    return { name, location, ...(digest !== undefined && { digest }), files, bytes, skipped };
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

/** How GitHub sorts findings of code scanning; from 0 to 10. */
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
  return sarifDocument({ version, cwd, rules: rules.map(toRule), results });
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
          region: { startLine: line, ...(column !== undefined && { startColumn: column }) },
        },
      },
    ],
    partialFingerprints: { "metierScan/v1": fingerprint },
    properties: { severity, skill: name },
  };
}
