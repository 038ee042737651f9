/** What a scan finds: a rule that applies at a place in a skill's files, with how bad it is. */
import { createHash } from "node:crypto";
import { SCAN_SEVERITIES, type ScanSeverity } from "../config/scan-fields.ts";
import { compareText } from "../foundation/diagnostic.ts";

export interface Finding {
  /** Of the rule; stable: `exfiltration.secret`. */
  readonly id: string;
  readonly severity: ScanSeverity;
  /** Below the skill's folder, with `/` between segments. */
  readonly path: string;
  /** 1-based; 1 where a file is meant as a whole. */
  readonly line: number;
  readonly column?: number;
  readonly message: string;
  /** What was seen there, cleaned and cut. Secrets are masked in it. */
  readonly evidence?: string;
  /** The same for the same thing in the same file, on whatever line it stands. */
  readonly fingerprint: string;
}

export function isAtLeast(severity: ScanSeverity, level: ScanSeverity): boolean {
  return SCAN_SEVERITIES.indexOf(severity) >= SCAN_SEVERITIES.indexOf(level);
}

export function milderOf(a: ScanSeverity, b: ScanSeverity): ScanSeverity {
  return isAtLeast(a, b) ? b : a;
}

/** Worst first, then by place. */
export function compareFindings(a: Finding, b: Finding): number {
  return (
    SCAN_SEVERITIES.indexOf(b.severity) - SCAN_SEVERITIES.indexOf(a.severity) ||
    compareText(a.path, b.path) ||
    a.line - b.line ||
    (a.column ?? 0) - (b.column ?? 0) ||
    compareText(a.id, b.id) ||
    compareText(a.fingerprint, b.fingerprint)
  );
}

/** Blanks do not count, so that indenting a line changes nothing. */
export function fingerprintOf(id: string, path: string, seen: string): string {
  const normal = seen.normalize("NFC").replace(/\s+/g, " ").trim();
  return createHash("sha256").update(`${id}\0${path}\0${normal}`).digest("hex").slice(0, 32);
}
