/** Which fields a frontmatter has: spellings resolved, unknown keys set apart. */
import type { Json } from "../skill/manifest.ts";
import type { ManifestField } from "../skill/manifest-field.ts";
import { findManifestField, findManifestFieldInAnyCase } from "../skill/manifest-fields.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import { isSameValue } from "./read-value.ts";
import { type Report, showValue } from "./report.ts";

/** A value of some frontmatter: all that is needed to read it in a type, and to say what is wrong with it. */
export interface GivenValue {
  /** The field's, in kebab-case. */
  readonly name: string;
  /** As it is written in the file. */
  readonly key: string;
  readonly value: Json;
}

/** A value of a skill's frontmatter. */
export interface GivenField extends GivenValue {
  readonly field: ManifestField;
}

export interface GivenFields {
  /**
   * Each field once. Code that runs for every skill goes through them by index: until it is compiled, `for … of`
   * makes an object at every step, and over thousands of skills that is seen.
   */
  readonly known: readonly GivenField[];
  readonly unknown: readonly string[];
}

const NONE: readonly string[] = Object.freeze([]);

export function readFields({ frontmatter = {}, written }: ParsedSkill, report: Report): GivenFields {
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

/** There are few, so that looking through them is the fastest way. */
export function findGiven(known: readonly GivenField[], name: string): GivenField | undefined {
  for (let index = 0; index < known.length; index++) {
    const given = known[index];
    if (given?.name === name) return given;
  }
  return undefined;
}

/** The key a field is written with; its own name where it is not given. */
export function keyOf(known: readonly GivenField[], name: string): string {
  return findGiven(known, name)?.key ?? name;
}

/** Of two spellings the field's own name wins, then the first that has a value. */
function addField(
  known: GivenField[],
  given: GivenField,
  report: Report,
  written: ParsedSkill["written"],
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
    { key, hint: `Keep \`${name}\` and remove the other; now \`${winner.key}\` is used.` },
  );
}

function adoptOtherCase(known: GivenField[], key: string, value: Json, report: Report): boolean {
  const field = findManifestFieldInAnyCase(key);
  if (field === undefined || findGiven(known, field.name) !== undefined) return false;
  known.push({ name: field.name, field, key, value });
  report("field.case", `${showValue(key)} is read as the field \`${field.name}\`.`, {
    key,
    hint: `Write \`${field.name}\`; other clients do not read it in this letter case.`,
  });
  return true;
}
