/** What "valid" means: the rules in the order in which they are applied. Each stands in its own file. */
import { MANIFEST_FIELDS } from "../skill/manifest-fields.ts";
import type { Report } from "./report.ts";
import type { Rule, RuleSubject } from "./rule.ts";
import { accessRule } from "./rules/access.ts";
import { bodyRule } from "./rules/body.ts";
import { capabilitiesRule } from "./rules/capabilities.ts";
import { compatibilityRule } from "./rules/compatibility.ts";
import { descriptionRule } from "./rules/description.ts";
import { environmentRule } from "./rules/environment.ts";
import { hooksRule } from "./rules/hooks.ts";
import { knownFieldsRule } from "./rules/known-fields.ts";
import { metadataRule } from "./rules/metadata.ts";
import { nameRule } from "./rules/name.ts";
import { nameDirectoryRule } from "./rules/name-directory.ts";
import { packagesRule } from "./rules/packages.ts";
import { requirementsRule } from "./rules/requirements.ts";
import { skillFileRule } from "./rules/skill-file.ts";
import { toolsRule } from "./rules/tools.ts";
import { toolsetsRule } from "./rules/toolsets.ts";
import { triggersRule } from "./rules/triggers.ts";

/** About the file; these hold whether or not it has a frontmatter. */
export const FILE_RULES: readonly Rule[] = [skillFileRule, bodyRule];

/** About the fields. `environment` stands before `requirements`, which adds names that are not the author's. */
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

const ABOUT: ReadonlyMap<string, RuleBits> = new Map(
  MANIFEST_FIELDS.map(({ name }) => [name, rulesWhere((rule) => rule.fields?.includes(name) ?? false)]),
);

function rulesWhere(isMeant: (rule: Rule) => boolean): RuleBits {
  return FIELD_RULES.reduce((bits, rule, index) => (isMeant(rule) ? bits | (1 << index) : bits), 0);
}

export function applyFileRules(subject: RuleSubject, report: Report): void {
  for (let index = 0; index < FILE_RULES.length; index++) FILE_RULES[index]?.check(subject, report);
}

/** Asks the rules that are about a field the skill has; those are few, and a tree may have thousands of skills. */
export function applyFieldRules(subject: RuleSubject, report: Report): void {
  const { known } = subject.fields;
  let due = ALWAYS;
  for (let index = 0; index < known.length; index++) due |= ABOUT.get(known[index]?.name ?? "") ?? 0;
  for (let index = 0; due !== 0; index++, due >>>= 1) {
    if ((due & 1) === 1) FIELD_RULES[index]?.check(subject, report);
  }
}
