/** Fields become a manifest in the making: every value in the type its field has, the rest at its default. */
import type { SkillManifest, SkillRequirements } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { findGiven, type GivenFields } from "./read-fields.ts";
import { readValue } from "./read-value.ts";
import type { Report } from "./report.ts";

/** What rules check and mend until it is a manifest. */
export type ManifestDraft = { -readonly [K in keyof SkillManifest]: SkillManifest[K] };

const NONE: readonly string[] = Object.freeze([]);
const NO_METADATA: SkillManifest["metadata"] = Object.freeze({});
const NO_REQUIREMENTS: SkillRequirements = Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, os: NONE });

function emptyDraft(): ManifestDraft {
  return {
    name: "",
    description: "",
    metadata: NO_METADATA,
    tags: NONE,
    authors: NONE,
    disallowedTools: NONE,
    requiredTools: NONE,
    arguments: NONE,
    disableModelInvocation: false,
    userInvocable: true,
    sensitive: false,
    chatTypes: NONE,
    env: NONE,
    packages: NONE,
    capabilities: NONE,
    requires: NO_REQUIREMENTS,
    optIn: false,
    paths: NONE,
    toolsets: NONE,
  };
}

/** What a field has that is not given; the index leaves these out. */
export const MANIFEST_DEFAULTS: ManifestDraft = Object.freeze(emptyDraft());

/** Fields whose rules say themselves that there is no value. */
const REPORTED_BY_RULE: ReadonlySet<string> = new Set(["name", "description", "compatibility"]);

export function buildManifest(fields: GivenFields, report: Report, parsed: ParsedSkill): ManifestDraft {
  const draft = emptyDraft();
  // The table ties each kind of field to properties of that type, so assigning by name is sound.
  const slots: Record<string, unknown> = draft;
  for (let index = 0; index < fields.known.length; index++) {
    const given = fields.known[index];
    if (given === undefined) continue;
    const { name, field, key, value } = given;
    if (field.fallbackFor !== undefined && isGiven(fields, field.fallbackFor)) continue;
    if (value !== null) {
      const read = readValue(given, report, parsed.written);
      if (read !== undefined) slots[field.property] = read;
    } else if (!REPORTED_BY_RULE.has(name)) {
      report("field.empty", `\`${key}\` has no value.`, { key, hint: "Give it a value or remove it." });
    }
  }
  if (draft.defaultEnabled === false) draft.optIn = true;
  return draft;
}

function isGiven(fields: GivenFields, name: string): boolean {
  const given = findGiven(fields.known, name);
  return given !== undefined && given.value !== null;
}
