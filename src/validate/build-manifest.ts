/** Fields become a manifest in the making: every value in the type its field has, the rest at its default. */
import type { SkillManifest } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { coerceList, coerceTools } from "./coerce-list.ts";
import { coerceLists, coerceMap } from "./coerce-map.ts";
import { coerceBoolean, coerceChoice, coerceCount, coerceProse, coerceText } from "./coerce-scalar.ts";
import type { GivenField, GivenFields } from "./read-fields.ts";
import type { Report } from "./report.ts";

/** What rules check and mend until it is a manifest. */
export type ManifestDraft = { -readonly [K in keyof SkillManifest]: SkillManifest[K] };

const NONE: readonly string[] = Object.freeze([]);

/** What a field has that is not given; the index leaves these out. */
export const MANIFEST_DEFAULTS: ManifestDraft = Object.freeze({
  name: "",
  description: "",
  metadata: Object.freeze({}),
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
  requires: Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, os: NONE }),
  optIn: false,
  paths: NONE,
  toolsets: NONE,
});

/** Fields whose rules say themselves that there is no value. */
const REPORTED_BY_RULE: ReadonlySet<string> = new Set(["name", "description", "compatibility"]);

export function buildManifest(fields: GivenFields, report: Report, parsed: ParsedSkill): ManifestDraft {
  const draft: ManifestDraft = { ...MANIFEST_DEFAULTS };
  // The table ties each kind of field to properties of that type, so assigning by name is sound.
  const slots: Record<string, unknown> = draft;
  for (const given of fields.known.values()) {
    const { field, key, value } = given;
    if (field.fallbackFor !== undefined && isGiven(fields, field.fallbackFor)) continue;
    if (value !== null) {
      const read = readValue(given, report, parsed);
      if (read !== undefined) slots[field.property] = read;
    } else if (!REPORTED_BY_RULE.has(field.name)) {
      report("field.empty", `\`${key}\` has no value.`, { key, hint: "Give it a value or remove it." });
    }
  }
  if (draft.defaultEnabled === false) draft.optIn = true;
  return draft;
}

function isGiven(fields: GivenFields, name: string): boolean {
  const given = fields.known.get(name);
  return given !== undefined && given.value !== null;
}

function readValue(given: GivenField, report: Report, { written }: ParsedSkill): unknown {
  const { field, value } = given;
  switch (field.kind) {
    case "prose":
      return coerceProse(given, report, written);
    case "text":
      return coerceText(given, report, written);
    case "boolean":
      return coerceBoolean(given, report);
    case "count":
      return coerceCount(given, report);
    case "list":
      return coerceList(given, field, report);
    case "tools":
      return coerceTools(given, report);
    case "choice":
      return coerceChoice(given, field.choices, report);
    case "lists":
      return coerceLists(given, field, report);
    case "map":
      return coerceMap(given, report);
    case "json":
      return value;
    case "access":
      return undefined;
  }
}
