/** How rules say what they found: the profile turns a code into a severity, or into nothing. */
import type { Diagnostic } from "../foundation/diagnostic.ts";
import type { DiagnosticCode } from "../foundation/diagnostic-codes.ts";
import type { ParsedSkill, Position } from "../skill/skill.ts";
import { type Profile, severityIn } from "./profiles.ts";

export interface FindingDetails {
  /** The key it is about, as written: it gives line and column. `requires.bins` stands where `requires` does. */
  readonly key?: string;
  /** Where there is no such key; the first line unless given. */
  readonly line?: number;
  readonly hint?: string;
}

export type Report = (code: DiagnosticCode, message: string, details?: FindingDetails) => void;

/** A report that appends to `diagnostics`. */
export function createReport(parsed: ParsedSkill, profile: Profile, diagnostics: Diagnostic[]): Report {
  return (code, message, { key, line = 1, hint } = {}) => {
    const severity = severityIn(profile, code);
    if (severity === "off") return;
    const position = (key !== undefined && findKey(parsed, key)) || { line };
    const path = parsed.candidate.file;
    diagnostics.push({ code, severity, message, path, ...position, ...(hint !== undefined && { hint }) });
  };
}

function findKey(parsed: ParsedSkill, key: string): Position | undefined {
  return parsed.position(key) ?? parsed.position(key.split(".", 1)[0] ?? key);
}

const MAX_SHOWN = 80;

/** A value from a skill file as it stands in a message: short, on one line, nothing invisible. */
export function showValue(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const cut = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return `\`${cut.replace(/[\p{C}\p{Zl}\p{Zp}`]/gu, escapeCharacter)}\``;
}

/** `a`, `b` and `c`, each in backticks. */
export function showNames(names: readonly string[]): string {
  const shown = names.map(showValue);
  const last = shown.pop() ?? "";
  return shown.length > 0 ? `${shown.join(", ")} and ${last}` : last;
}

function escapeCharacter(character: string): string {
  if (character === "`") return "'";
  if (character === "\n") return "\\n";
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
