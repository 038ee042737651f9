/** The fields of a skill file as written, each with its effective value and how it is used. */
import type { Diagnostic } from "@metier/base/diagnostic";
import type { Json } from "@metier/base/json";
import { findManifestField, MANIFEST_FIELDS, type ParsedSkill, type SkillManifest } from "@metier/skills";
import type { ApiManifestField } from "../api.ts";
import { boundText } from "./bounds.ts";

const MOST_FIELDS = 300;
/** Of a value as JSON. */
const MOST_VALUE = 20_000;
const MOST_REMARK = 1_000;
const NOT_ACTED_ON = "Metier reads this field but ignores it.";

/** Those that are written, in the order of the file; then those that are not. */
export function describeManifest(
  parsed: Pick<ParsedSkill, "frontmatter" | "position">,
  manifest: SkillManifest | undefined,
  diagnostics: readonly Diagnostic[],
): readonly ApiManifestField[] {
  const { frontmatter = {} } = parsed;
  const keys = Object.keys(frontmatter).slice(0, MOST_FIELDS);
  const places = keys.map((key) => parsed.position(key)?.line ?? 0);
  const behind = (line: number): number =>
    Math.min(...places.filter((other) => other > line), Number.MAX_SAFE_INTEGER);
  const written = keys.map((key, index) => {
    const line = places[index] ?? 0;
    const end = behind(line);
    const found = diagnostics.filter((one) => line > 0 && (one.line ?? 0) >= line && (one.line ?? 0) < end);
    return describeWritten(key, frontmatter[key] ?? null, manifest, line === 0 ? [] : found);
  });
  const given = new Set(keys.map((key) => findManifestField(key)?.name));
  const missing = MANIFEST_FIELDS.filter(
    ({ name, belongsTo }) => !given.has(name) && belongsTo === undefined,
  );
  return [
    ...written,
    ...missing.map(({ name, property }) => describeMissing(name, manifest?.[property], diagnostics)),
  ];
}

function describeWritten(
  key: string,
  value: Json,
  manifest: SkillManifest | undefined,
  found: readonly Diagnostic[],
): ApiManifestField {
  const field = findManifestField(key);
  const counted = field === undefined || manifest === undefined ? value : manifest[field.property];
  const isIdle = field?.honouredBy === undefined && field?.belongsTo === undefined;
  const remarks = [
    ...found.map(({ message }) => boundText(message, MOST_REMARK)),
    ...(field !== undefined && isIdle ? [NOT_ACTED_ON] : []),
  ];
  const verdict = worst(found) ?? (isIdle ? "ignored" : "given");
  return { field: boundText(key, MOST_REMARK), value: boundValue(counted), verdict, remarks };
}

function describeMissing(
  field: string,
  value: unknown,
  diagnostics: readonly Diagnostic[],
): ApiManifestField {
  const found = diagnostics.filter(({ code }) => code === `${field}.missing`);
  const remarks = found.map(({ message }) => boundText(message, MOST_REMARK));
  return { field, value: boundValue(value), verdict: worst(found) ?? "default", remarks };
}

function worst(found: readonly Diagnostic[]): "error" | "warning" | undefined {
  return (["error", "warning"] as const).find((severity) => found.some((one) => one.severity === severity));
}

/** A value that is too large to show is shown as the beginning of its JSON. */
function boundValue(value: unknown): Json {
  const text = JSON.stringify(value ?? null);
  return text.length <= MOST_VALUE ? (JSON.parse(text) as Json) : boundText(text, MOST_VALUE);
}
