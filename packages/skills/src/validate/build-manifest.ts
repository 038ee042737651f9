/**
 * Turns frontmatter into fields, with spellings resolved and unknown keys set apart; and fields into a draft manifest,
 * with every value in its field's type and defaults for the rest.
 */
import type { Json } from "@metier/base/json";
import { showValue } from "@metier/base/text";
import type { ManifestField, SkillManifest, SkillRequirements } from "../skill/manifest.ts";
import { findManifestField, findManifestFieldInAnyCase } from "../skill/manifest-fields.ts";
import type { ParsedHead } from "../skill/skill.ts";
import {
  coerceBoolean,
  coerceChoice,
  coerceCount,
  coerceList,
  coerceLists,
  coerceMap,
  coerceProse,
  coerceText,
  coerceTools,
} from "./coerce.ts";
import type { Report } from "./profiles.ts";

/** A frontmatter value: everything needed to read it as a type, and to say what is wrong with it. */
export interface GivenValue {
  /** The field's name, in kebab-case. */
  readonly name: string;
  /** As written in the file. */
  readonly key: string;
  readonly value: Json;
}

/** A value in a skill's frontmatter. */
export interface GivenField extends GivenValue {
  readonly field: ManifestField;
}

export interface GivenFields {
  /**
   * Each field once. Code that runs for every skill iterates by index: until it is compiled, `for … of` allocates an
   * object at every step, which shows over thousands of skills.
   */
  readonly known: readonly GivenField[];
  readonly unknown: readonly string[];
}

/** What rules check and fix until it is a manifest. */
export type ManifestDraft = { -readonly [K in keyof SkillManifest]: SkillManifest[K] };

const NONE: readonly string[] = Object.freeze([]);
const NO_METADATA: SkillManifest["metadata"] = Object.freeze({});
const NO_REQUIREMENTS: SkillRequirements = Object.freeze({ bins: NONE, anyBins: NONE, env: NONE, os: NONE });

/** The defaults of absent fields; the index leaves these out. */
export const MANIFEST_DEFAULTS: ManifestDraft = Object.freeze({
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
});

/** Fields whose own rules report a missing value. */
const REPORTED_BY_RULE: ReadonlySet<string> = new Set(["name", "description", "compatibility"]);

export function buildManifest(fields: GivenFields, report: Report, parsed: ParsedHead): ManifestDraft {
  const draft: ManifestDraft = { ...MANIFEST_DEFAULTS };
  // The table ties each kind of field to properties of that type, so assigning by name is sound.
  const slots: Record<string, unknown> = draft;
  for (let index = 0; index < fields.known.length; index++) {
    const given = fields.known[index];
    if (given === undefined) continue;
    const { name, field, key, value } = given;
    const first = field.fallbackFor && findGiven(fields.known, field.fallbackFor);
    if (first && first.value !== null) continue;
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

export function readFields({ frontmatter = {}, written }: ParsedHead, report: Report): GivenFields {
  const known: GivenField[] = [];
  let unmatched: string[] | undefined;
  for (const key in frontmatter) {
    const value = frontmatter[key] ?? null;
    const field = findManifestField(key);
    if (field === undefined) {
      unmatched ??= [];
      unmatched.push(key);
    } else addField(known, { name: field.name, field, key, value }, report, written);
  }
  const unknown = unmatched?.filter((key) => !adoptOtherCase(known, key, frontmatter[key] ?? null, report));
  return { known, unknown: unknown ?? NONE };
}

/** There are few, so searching them is fastest. */
export function findGiven(known: readonly GivenField[], name: string): GivenField | undefined {
  for (let index = 0; index < known.length; index++) {
    const given = known[index];
    if (given?.name === name) return given;
  }
  return undefined;
}

/** The key a field is written with; its own name if it is absent. */
export function keyOf(known: readonly GivenField[], name: string): string {
  return findGiven(known, name)?.key ?? name;
}

/** Of two spellings the field's own name wins, then the first with a value. */
function addField(
  known: GivenField[],
  given: GivenField,
  report: Report,
  written: ParsedHead["written"],
): void {
  const { name, key, value } = given;
  const other = findGiven(known, name);
  if (other === undefined) {
    known.push(given);
    return;
  }
  if (other.value !== null && value === null) return;
  const winner = other.value === null || key === name ? given : other;
  known[known.indexOf(other)] = winner;
  if (other.value === null || isSameValue(given, other, written)) return;
  report(
    "field.both-spellings",
    `\`${other.key}\` is ${showValue(other.value)} and \`${key}\` is ${showValue(value)}, but both are the field \`${name}\`.`,
    { key, hint: `Keep \`${name}\` and remove the other; until then \`${winner.key}\` is used.` },
  );
}

function adoptOtherCase(known: GivenField[], key: string, value: Json, report: Report): boolean {
  const field = findManifestFieldInAnyCase(key);
  if (field === undefined || findGiven(known, field.name) !== undefined) return false;
  known.push({ name: field.name, field, key, value });
  report("field.case", `${showValue(key)} is read as the field \`${field.name}\`.`, {
    key,
    hint: `Write \`${field.name}\`; other clients do not recognize this spelling.`,
  });
  return true;
}

/** `undefined` if it cannot be read like this, or is left to a rule. */
function readValue(given: GivenField, report: Report, written: ParsedHead["written"]): unknown {
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

const SILENT: Report = () => undefined;

/** Whether two spellings of one field say the same: `Read` and `[Read]` are the same tools. */
function isSameValue(a: GivenField, b: GivenField, written: ParsedHead["written"]): boolean {
  if (JSON.stringify(a.value) === JSON.stringify(b.value)) return true;
  const read = readValue(a, SILENT, written);
  return read !== undefined && JSON.stringify(read) === JSON.stringify(readValue(b, SILENT, written));
}
