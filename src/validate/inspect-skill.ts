/** Everything `validate` says about a skill: its rules, notes for its author, and what of it must be on disk. */
import { compareDiagnostics, hasErrors } from "../foundation/diagnostic.ts";
import type { CheckedSkill, ParsedSkill } from "../skill/skill.ts";
import { checkLinks } from "./check-links.ts";
import { checkToolsets } from "./check-toolsets.ts";
import { noteFields } from "./note-fields.ts";
import type { Profile } from "./profiles.ts";
import { validateSkill } from "./validate-skill.ts";

export function inspectSkill(parsed: ParsedSkill, profile: Profile): CheckedSkill {
  const checked = validateSkill(parsed, profile);
  const diagnostics = [
    ...checked.diagnostics,
    ...noteFields(parsed, profile),
    ...checkLinks(parsed, profile),
    ...checkToolsets(parsed, checked.manifest, profile),
  ];
  diagnostics.sort(compareDiagnostics);
  return { ...checked, diagnostics, valid: !hasErrors(diagnostics) };
}
