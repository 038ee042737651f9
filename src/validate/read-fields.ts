/** Which fields a frontmatter has: spellings resolved, unknown keys set apart. Reads no value. */
import type { Json } from "../skill/manifest.ts";
import type { ManifestField } from "../skill/manifest-field.ts";
import { findManifestField, findManifestFieldInAnyCase } from "../skill/manifest-fields.ts";
import { type Report, showValue } from "./report.ts";

export interface GivenField {
  readonly field: ManifestField;
  /** As it is written in the file. */
  readonly key: string;
  readonly value: Json;
}

export interface GivenFields {
  /** By the field's kebab-case name. */
  readonly known: ReadonlyMap<string, GivenField>;
  readonly unknown: readonly string[];
}

export function readFields(frontmatter: Readonly<Record<string, Json>>, report: Report): GivenFields {
  const known = new Map<string, GivenField>();
  const unmatched: string[] = [];
  for (const [key, value] of Object.entries(frontmatter)) {
    const field = findManifestField(key);
    if (field === undefined) unmatched.push(key);
    else addField(known, { field, key, value }, report);
  }
  const unknown = unmatched.filter((key) => !adoptOtherCase(known, key, frontmatter[key] ?? null, report));
  return { known, unknown };
}

/** Of two spellings the field's own name wins, then the first that has a value. */
function addField(known: Map<string, GivenField>, given: GivenField, report: Report): void {
  const { field, key, value } = given;
  const other = known.get(field.name);
  if (other === undefined || other.value === null) {
    known.set(field.name, given);
    return;
  }
  if (value === null) return;
  const winner = key === field.name ? given : other;
  known.set(field.name, winner);
  if (JSON.stringify(value) === JSON.stringify(other.value)) return;
  report(
    "field.both-spellings",
    `\`${other.key}\` is ${showValue(other.value)} and \`${key}\` is ${showValue(value)}, but both are the field \`${field.name}\`.`,
    { key, hint: `Keep \`${field.name}\` and remove the other; now \`${winner.key}\` is used.` },
  );
}

function adoptOtherCase(known: Map<string, GivenField>, key: string, value: Json, report: Report): boolean {
  const field = findManifestFieldInAnyCase(key);
  if (field === undefined || known.has(field.name)) return false;
  known.set(field.name, { field, key, value });
  report("field.case", `${showValue(key)} is read as the field \`${field.name}\`.`, {
    key,
    hint: `Write \`${field.name}\`; other clients do not read it in this letter case.`,
  });
  return true;
}
