/** Every field is one that somebody reads, and stands where it is read. */
import { nearestNames } from "../../foundation/nearest-names.ts";
import { isSpecField } from "../../skill/manifest-field.ts";
import { MANIFEST_FIELDS } from "../../skill/manifest-fields.ts";
import type { GivenField } from "../read-fields.ts";
import { type Report, showNames, showValue } from "../report.ts";
import type { Rule } from "../rule.ts";

export const knownFieldsRule: Rule = {
  codes: ["field.unknown", "field.case", "field.misplaced", "field.not-in-spec", "field.both-spellings"],
  check({ fields }, report) {
    const { known, unknown } = fields;
    for (let index = 0; index < unknown.length; index++) {
      const key = unknown[index] ?? "";
      report("field.unknown", `The field ${showValue(key)} is not known.`, { key, hint: hintFor(key) });
    }
    for (let index = 0; index < known.length; index++) {
      const given = known[index];
      if (given !== undefined) checkPlace(given, report);
    }
  },
};

const SPEC_NAMES: ReadonlySet<string> = new Set(MANIFEST_FIELDS.filter(isSpecField).map(({ name }) => name));

function checkPlace({ field, key }: GivenField, report: Report): void {
  if (SPEC_NAMES.has(key)) return;
  if (field.belongsTo !== undefined) {
    report("field.misplaced", `\`${key}\` is not a field of the specification.`, {
      key,
      hint: `Move it to \`${field.belongsTo}\`, where other clients keep it.`,
    });
  } else {
    const hint = isSpecField(field) ? `Write \`${field.name}\`.` : "Remove it, or validate as `standard`.";
    report("field.not-in-spec", `\`${key}\` is not a field of the specification.`, { key, hint });
  }
}

/** Names that are near in meaning, not in spelling. */
const KNOWN_MISTAKES: ReadonlyMap<string, readonly string[]> = new Map([
  ["tools", ["allowed-tools", "required-tools"]],
  ["arguments-hint", ["argument-hint"]],
  ["summary", ["description"]],
]);

const MAX_HINTS = 1000;
const hints = new Map<string, string>();

/** Remembered, since a whole tree of skills tends to have the same few unknown fields. */
function hintFor(key: string): string {
  const known = hints.get(key);
  if (known !== undefined) return known;
  const names = MANIFEST_FIELDS.map((field) => field.name);
  const near = KNOWN_MISTAKES.get(key) ?? nearestNames(key, names);
  const hint =
    near.length > 0
      ? `Did you mean ${showNames(near).replace(" and ", " or ")}? Otherwise move it below \`metadata\`.`
      : "Move it below `metadata` or remove it.";
  if (hints.size < MAX_HINTS) hints.set(key, hint);
  return hint;
}
