/** The state of one search: what was found, what was said, what is left of the limits. */
import { basename } from "node:path";
import type { Diagnostic, Severity } from "../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import { isInside } from "../host/places.ts";
import type { SkillCandidate } from "../skill/skill.ts";
import { isSkillFileName, type ListFolder } from "./folder-listing.ts";
import type { ScanLimits } from "./scan-limits.ts";

export interface FoundSkill {
  readonly candidate: SkillCandidate;
  /** Where the skill file really is, all links resolved: what trust and duplicates are decided on. */
  readonly realFile: string;
}

export type ScanOutcome = "searched" | "missing" | "not-a-directory" | "unreadable" | "link-escapes";

export interface ScanSettings {
  readonly realRoot: string;
  /** Real paths a link may lead into. */
  readonly knownRoots: readonly string[];
  /** Whether a skill below another is a skill of its own. */
  readonly nested: boolean;
  readonly limits: ScanLimits;
  readonly listFolder: ListFolder;
}

export interface Scan extends ScanSettings {
  readonly found: FoundSkill[];
  readonly diagnostics: Diagnostic[];
  /** Real paths of folders entered through a link: each is entered once, so that links cannot multiply. */
  readonly linked: Set<string>;
  readonly used: { places: number; all: number };
  /** Limits that were already reported: once is enough. */
  readonly bitten: Set<string>;
  /** Whether a link may lead to `path`: into a known root and nowhere else. */
  isKnown(path: string): boolean;
  report(code: DiagnosticCode, severity: Severity, path: string, message: string, hint: string): void;
}

export function newScan(settings: ScanSettings): Scan {
  const diagnostics: Diagnostic[] = [];
  return {
    ...settings,
    found: [],
    diagnostics,
    linked: new Set(),
    used: { places: 0, all: 0 },
    bitten: new Set(),
    isKnown: (path) => settings.knownRoots.some((root) => isInside(path, root)),
    report(code, severity, path, message, hint) {
      // A skill file has lines; where it is not read, its first one stands for it.
      const line = isSkillFileName(basename(path)) ? { line: 1 } : {};
      diagnostics.push({ code, severity, path, ...line, message, hint });
    },
  };
}
