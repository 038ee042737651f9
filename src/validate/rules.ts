/** What "valid" means: the rules in the order in which they are applied. Each stands in its own file. */
import { findGiven } from "./read-fields.ts";
import type { Report } from "./report.ts";
import type { Rule, RuleSubject } from "./rule.ts";
import { accessRule } from "./rules/access.ts";
import { bodyRule } from "./rules/body.ts";
import { capabilitiesRule } from "./rules/capabilities.ts";
import { compatibilityRule } from "./rules/compatibility.ts";
import { descriptionRule } from "./rules/description.ts";
import { environmentRule } from "./rules/environment.ts";
import { knownFieldsRule } from "./rules/known-fields.ts";
import { metadataRule } from "./rules/metadata.ts";
import { nameRule } from "./rules/name.ts";
import { nameDirectoryRule } from "./rules/name-directory.ts";
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
];

/** Most skills have few fields, so most rules need not be asked. */
export function applyRules(rules: readonly Rule[], subject: RuleSubject, report: Report): void {
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index];
    if (rule !== undefined && isConcerned(rule, subject)) rule.check(subject, report);
  }
}

function isConcerned({ fields }: Rule, { fields: { known } }: RuleSubject): boolean {
  if (fields === undefined) return true;
  for (let index = 0; index < fields.length; index++) {
    if (findGiven(known, fields[index] ?? "") !== undefined) return true;
  }
  return false;
}
