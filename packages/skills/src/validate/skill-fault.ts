/** Why a file is not a skill, as an exception: its frontmatter cannot be read, or its content is not allowed. */
import type { Diagnostic, DiagnosticCode } from "@metier/base/diagnostic";
import { type SkillError, SkillParseError, SkillValidationError } from "@metier/base/errors";

const UNREADABLE: ReadonlySet<DiagnosticCode> = new Set<DiagnosticCode>([
  "yaml.invalid",
  "yaml.too-complex",
  "frontmatter.unclosed",
  "frontmatter.no-opening",
  "frontmatter.not-a-mapping",
  "frontmatter.too-large",
]);

/** For diagnostics with an error, or none if nothing was found at all. */
export function skillFault(name: string, path: string, diagnostics: readonly Diagnostic[]): SkillError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const syntax = errors.find(({ code }) => UNREADABLE.has(code));
  if (syntax) return new SkillParseError(name, syntax.path || path, syntax.message, { hint: syntax.hint });
  const messages = errors.map(({ message }) => message);
  return new SkillValidationError(name, messages.length > 0 ? messages : ["no skill was found there"], path);
}
