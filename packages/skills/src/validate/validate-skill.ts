/**
 * The validate stage: turns a parsed skill into a manifest, or reasons why not; pure, and reports everything, not only
 * the first problem. Defines "valid": the rules in the order in which they apply. A rule reports what is wrong and
 * fixes the draft if the skill is still loaded.
 */
import { compareDiagnostics, type Diagnostic, type DiagnosticCode, hasErrors } from "@metier/base/diagnostic";
import { bodyFacts } from "../parse/skill-head.ts";
import { MANIFEST_FIELDS, MAX_DESCRIPTION_LENGTH } from "../skill/manifest-fields.ts";
import type { BodyFacts, CheckedSkill, ParsedHead, ParsedSkill } from "../skill/skill.ts";
import { buildManifest, type GivenFields, type ManifestDraft, readFields } from "./build-manifest.ts";
import { createReport, type Profile, type Report, severityIn } from "./profiles.ts";
import {
  accessRule,
  capabilitiesRule,
  environmentRule,
  hooksRule,
  packagesRule,
  toolsetsRule,
  toolsRule,
  triggersRule,
} from "./rules/access-rules.ts";
import { knownFieldsRule, metadataRule, requirementsRule } from "./rules/field-rules.ts";
import {
  bodyRule,
  compatibilityRule,
  descriptionRule,
  nameDirectoryRule,
  nameRule,
  skillFileRule,
} from "./rules/spec-rules.ts";

export function validateSkill(parsed: ParsedSkill, profile: Profile): CheckedSkill {
  return validate(parsed, bodyFacts(parsed.body), profile, () => describeBody(parsed.body));
}

/** The same for a skill whose body was only measured. `lenient` needs its text for a skill without a description. */
export function validateHead(
  parsed: ParsedHead,
  body: BodyFacts,
  profile: Exclude<Profile, "lenient">,
): CheckedSkill {
  return validate(parsed, body, profile);
}

function validate(
  parsed: ParsedHead,
  body: BodyFacts,
  profile: Profile,
  describe?: () => string,
): CheckedSkill {
  const diagnostics = regrade(parsed.diagnostics, profile);
  const report = createReport(parsed, profile, diagnostics);
  const frontmatter = parsed.frontmatter ?? (profile === "lenient" ? {} : undefined);
  const fields = readFields(parsed, report);
  const draft = buildManifest(fields, report, parsed);
  const subject = { parsed, fields, draft, body, profile };
  for (let index = 0; index < SKILL_FILE_RULES.length; index++)
    SKILL_FILE_RULES[index]?.check(subject, report);
  if (frontmatter !== undefined) applyFieldRules(subject, report);
  if (profile === "lenient" && describe) describeFromBody(draft, describe, report);

  const valid = !hasErrors(diagnostics);
  const loads = draft.description !== "" && (valid || profile !== "strict");
  if (diagnostics.length > 1) diagnostics.sort(compareDiagnostics);
  return { manifest: loads ? draft : undefined, diagnostics, valid, body };
}

/** What others found, with its severity under this profile. */
export function regrade(found: readonly Diagnostic[], profile: Profile): Diagnostic[] {
  const graded: Diagnostic[] = [];
  if (found.length === 0) return graded;
  for (const diagnostic of found) {
    const severity = severityIn(profile, diagnostic.code, diagnostic.severity);
    if (severity !== "off") graded.push({ ...diagnostic, severity });
  }
  return graded;
}

/** `lenient` loads everything with a description or a body. */
function describeFromBody(draft: ManifestDraft, describe: () => string, report: Report): void {
  if (draft.description !== "") return;
  draft.description = describe();
  if (draft.description !== "") return;
  report("skill-file.empty", "The skill has neither a description nor a body.", {
    hint: "Write frontmatter with `name` and `description`, and instructions below it.",
  });
}

const MAX_LOOKED_AT = 4096;

/** The first paragraph of the body, or its heading. */
function describeBody(body: string): string {
  const blocks = body.slice(0, MAX_LOOKED_AT).split(/\n\s*\n/);
  const paragraph = blocks.find((block) => /^[\p{L}\p{N}*_"'([]/u.test(block.trim()));
  const text = paragraph ?? blocks[0]?.replace(/^[#\s]+/, "") ?? "";
  return text.replace(/\s+/g, " ").trim().slice(0, MAX_DESCRIPTION_LENGTH);
}

export interface RuleSubject {
  readonly parsed: ParsedHead;
  readonly fields: GivenFields;
  readonly draft: ManifestDraft;
  readonly body: BodyFacts;
  readonly profile: Profile;
}

export interface Rule {
  /** Every code it can report. */
  readonly codes: readonly DiagnosticCode[];
  /** The fields it is about: it applies if one of them is given. Absent: it always applies. */
  readonly fields?: readonly string[];
  check(subject: RuleSubject, report: Report): void;
}

/** About the file, with or without frontmatter. */
export const SKILL_FILE_RULES: readonly Rule[] = [skillFileRule, bodyRule];

/** About the fields. `environment` precedes `requirements`, which adds names that are not the author's. */
export const FIELD_RULES: readonly Rule[] = [
  knownFieldsRule,
  nameRule,
  nameDirectoryRule,
  descriptionRule,
  compatibilityRule,
  metadataRule,
  toolsRule,
  capabilitiesRule,
  environmentRule,
  requirementsRule,
  accessRule,
  triggersRule,
  toolsetsRule,
  hooksRule,
  packagesRule,
];

/** Rules of `FIELD_RULES` as bits: bit 3 is the rule at index 3. */
type RuleBits = number;

const ALWAYS: RuleBits = rulesWhere((rule) => rule.fields === undefined);

let about: ReadonlyMap<string, RuleBits> | undefined;

function rulesWhere(isMeant: (rule: Rule) => boolean): RuleBits {
  return FIELD_RULES.reduce((bits, rule, index) => (isMeant(rule) ? bits | (1 << index) : bits), 0);
}

/** Runs the rules for fields the skill has; those are few, and a tree may have thousands of skills. */
function applyFieldRules(subject: RuleSubject, report: Report): void {
  const { known } = subject.fields;
  about ??= new Map(
    MANIFEST_FIELDS.map(({ name }) => [name, rulesWhere((rule) => rule.fields?.includes(name) ?? false)]),
  );
  let due = ALWAYS;
  for (let index = 0; index < known.length; index++) due |= about.get(known[index]?.name ?? "") ?? 0;
  for (let index = 0; due !== 0; index++, due >>>= 1) {
    if ((due & 1) === 1) FIELD_RULES[index]?.check(subject, report);
  }
}
