/**
 * The profiles: for the same rules, they decide severity and what may be loaded. Rules report what they found; the
 * profile turns a code into a severity, or into nothing.
 */
import type { Diagnostic, DiagnosticCode, Severity } from "@metier/base/diagnostic";
import type { ParsedHead, Position } from "../skill/skill.ts";

export const PROFILES = ["strict", "standard", "lenient"] as const;

/**
 * How strictly skills are checked: `strict` loads only skills without errors, `standard` repairs what it can, `lenient`
 * loads everything with a description or a body.
 */
export type Profile = (typeof PROFILES)[number];

type Grade = Severity | "off";

/** Severity under strict, standard, lenient. Other codes keep their original severity. */
export const SEVERITIES: Partial<Record<DiagnosticCode, readonly [Grade, Grade, Grade]>> = {
  "file.bom": ["warning", "info", "off"],
  "file.line-ends": ["info", "info", "off"],
  "file.not-utf8": ["error", "warning", "warning"],
  "file.escaped-line-ends": ["error", "warning", "warning"],
  "frontmatter.missing": ["error", "error", "warning"],
  "frontmatter.no-opening": ["error", "error", "warning"],
  "frontmatter.unclosed": ["error", "error", "warning"],
  "frontmatter.glued-fence": ["warning", "warning", "info"],
  "frontmatter.stray-fence": ["error", "warning", "info"],
  "frontmatter.code-fence": ["error", "warning", "info"],
  "frontmatter.leading-comment": ["error", "warning", "info"],
  "frontmatter.leading-blank": ["error", "info", "off"],
  "frontmatter.empty": ["error", "error", "warning"],
  "frontmatter.not-a-mapping": ["error", "error", "warning"],
  "frontmatter.too-large": ["error", "error", "warning"],
  "yaml.invalid": ["error", "error", "warning"],
  "yaml.repaired": ["error", "warning", "info"],
  "yaml.dropped": ["error", "warning", "warning"],
  "yaml.duplicate-key": ["error", "warning", "warning"],
  "yaml.unsafe-key": ["error", "warning", "warning"],
  "yaml.too-complex": ["error", "error", "warning"],
  "instructions.not-text": ["error", "error", "error"],
  "text.control-character": ["error", "warning", "warning"],
  "text.invisible": ["warning", "warning", "warning"],

  "field.unknown": ["error", "warning", "warning"],
  "field.case": ["error", "warning", "info"],
  "field.not-in-spec": ["error", "off", "off"],
  "field.misplaced": ["error", "warning", "info"],
  "field.both-spellings": ["error", "error", "warning"],
  "field.wrong-type": ["error", "error", "warning"],
  "field.wrong-item": ["error", "warning", "warning"],
  "field.wrong-choice": ["error", "warning", "warning"],
  "field.unknown-key": ["error", "warning", "info"],
  "field.empty": ["warning", "info", "off"],
  "field.coerced": ["warning", "info", "off"],
  "field.scalar-for-text": ["warning", "warning", "info"],
  "field.structure-for-text": ["error", "warning", "info"],
  "field.not-honoured": ["info", "info", "off"],
  "field.not-portable": ["off", "info", "off"],

  "name.missing": ["error", "info", "info"],
  "name.grammar": ["error", "warning", "info"],
  "name.not-directory": ["error", "warning", "info"],
  "name.not-plain": ["warning", "info", "off"],
  "name.reserved": ["info", "info", "off"],
  "description.missing": ["error", "error", "warning"],
  "description.too-long": ["error", "warning", "info"],
  "description.markup": ["info", "info", "off"],
  "compatibility.empty": ["error", "info", "off"],
  "compatibility.too-long": ["error", "warning", "info"],
  "metadata.scalar": ["warning", "warning", "info"],
  "metadata.nested": ["warning", "warning", "off"],
  "tools.list": ["warning", "off", "off"],
  "tools.commas": ["warning", "off", "off"],
  "tools.malformed": ["warning", "warning", "warning"],
  "capability.not-namespaced": ["error", "error", "warning"],
  "env.name": ["error", "warning", "warning"],
  "access.unclear": ["error", "error", "error"],
  "trigger.pattern": ["error", "warning", "warning"],
  "toolset.malformed": ["error", "warning", "warning"],
  "toolset.missing": ["error", "error", "warning"],
  "hook.malformed": ["error", "warning", "warning"],
  "hook.unknown-event": ["warning", "warning", "info"],
  "package.name": ["error", "warning", "warning"],

  "skill-file.name": ["error", "warning", "info"],
  "skill-file.flat": ["error", "off", "off"],
  "skill-file.empty": ["error", "error", "error"],
  "body.empty": ["warning", "warning", "info"],
  "body.too-long": ["warning", "warning", "info"],
  "body.too-many-lines": ["warning", "warning", "info"],
  "body.floods-context": ["warning", "warning", "warning"],
  "reference.dangling": ["warning", "warning", "info"],
  "reference.outside": ["warning", "warning", "info"],
  "reference.limit": ["info", "info", "info"],
  "reference.missing": ["warning", "warning", "info"],
  "script.missing": ["warning", "warning", "info"],
  "eval.unreadable": ["error", "warning", "info"],
  "eval.invalid": ["error", "warning", "info"],
  "eval.unknown-field": ["warning", "warning", "info"],
  "eval.other-skill": ["warning", "warning", "info"],
  "eval.no-assertions": ["warning", "warning", "info"],
  "eval.missing-file": ["error", "warning", "info"],
  "test-file.invalid": ["error", "warning", "info"],
};

const COLUMN: Readonly<Record<Profile, number>> = { strict: 0, standard: 1, lenient: 2 };

/** A code's severity under a profile; `found` for codes that no profile changes. */
export function severityIn(profile: Profile, code: DiagnosticCode, found: Severity = "warning"): Grade {
  return SEVERITIES[code]?.[COLUMN[profile]] ?? found;
}

interface FindingDetails {
  /** The key it is about, as written: gives line and column. `requires.bins` is located at `requires`. */
  readonly key?: string;
  /** Used if there is no such key; default: the first line. */
  readonly line?: number;
  readonly hint?: string;
}

export type Report = (code: DiagnosticCode, message: string, details?: FindingDetails) => void;

/** A report that appends to `diagnostics`. */
export function createReport(parsed: ParsedHead, profile: Profile, diagnostics: Diagnostic[]): Report {
  return (code, message, { key, line = 1, hint } = {}) => {
    const severity = severityIn(profile, code);
    if (severity === "off") return;
    const position = (key !== undefined && findKey(parsed, key)) || { line };
    const path = parsed.candidate.file;
    diagnostics.push({ code, severity, message, path, ...position, ...(hint !== undefined && { hint }) });
  };
}

function findKey(parsed: ParsedHead, key: string): Position | undefined {
  return parsed.position(key) ?? parsed.position(key.split(".", 1)[0] ?? key);
}
