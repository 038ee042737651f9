/** Which fields belong where, and what a manifest collects from several places: `metadata` and `requires`. */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { nearestNames, showNames, showValue } from "@metier/base/text";
import { isSpecField, type SkillRequirements } from "../../skill/manifest.ts";
import { MANIFEST_FIELDS } from "../../skill/manifest-fields.ts";
import type { ParsedHead } from "../../skill/skill.ts";
import { findGiven, type GivenField } from "../build-manifest.ts";
import { splitLine } from "../coerce.ts";
import type { Report } from "../profiles.ts";
import type { Rule } from "../validate-skill.ts";

/** Every field must be one that somebody reads, in the right place. */
export const knownFieldsRule: Rule = {
  codes: ["field.unknown", "field.case", "field.misplaced", "field.not-in-spec", "field.both-spellings"],
  check({ fields }, report) {
    const { known, unknown } = fields;
    for (let index = 0; index < unknown.length; index++) {
      const key = unknown[index] ?? "";
      report("field.unknown", `Unknown field ${showValue(key)}.`, { key, hint: hintFor(key) });
    }
    for (let index = 0; index < known.length; index++) {
      const given = known[index];
      if (given !== undefined) checkPlace(given, report);
    }
  },
};

function checkPlace({ field, key }: GivenField, report: Report): void {
  if (isSpecField(field) && key === field.name) return;
  if (field.belongsTo !== undefined) {
    report("field.misplaced", `\`${key}\` is not a field of the specification.`, {
      key,
      hint: `Move it to \`${field.belongsTo}\`, where other clients keep it.`,
    });
  } else {
    const hint = isSpecField(field)
      ? `Write \`${field.name}\`.`
      : "Remove it, or validate with the profile `standard`.";
    report("field.not-in-spec", `\`${key}\` is not a field of the specification.`, { key, hint });
  }
}

/** Names that are similar in meaning, not in spelling. */
const KNOWN_MISTAKES: ReadonlyMap<string, readonly string[]> = new Map([
  ["tools", ["allowed-tools", "required-tools"]],
  ["arguments-hint", ["argument-hint"]],
  ["summary", ["description"]],
]);

const MAX_HINTS = 1000;
const hints = new Map<string, string>();

/** Cached, since a whole tree of skills tends to have the same few unknown fields. */
function hintFor(key: string): string {
  const known = hints.get(key);
  if (known !== undefined) return known;
  const names = MANIFEST_FIELDS.map((field) => field.name);
  const near = KNOWN_MISTAKES.get(key) ?? nearestNames(key, names);
  const hint =
    near.length > 0
      ? `Did you mean ${showNames(near).replace(" and ", " or ")}? Otherwise move it under \`metadata\`.`
      : "Move it under `metadata` or remove it.";
  if (hints.size < MAX_HINTS) hints.set(key, hint);
  return hint;
}

/** `metadata` is a map of strings. Its version, author and tags override those at the top level. */
export const metadataRule: Rule = {
  codes: ["metadata.scalar", "metadata.nested"],
  fields: ["metadata"],
  check({ draft, fields, parsed }, report) {
    const given = findGiven(fields.known, "metadata");
    if (given === undefined) return;
    draft.metadata = coerceScalars(draft.metadata, given.key, report, parsed);
    const { version, tags, author, authors } = draft.metadata;
    if (typeof version === "string" && version !== "") draft.version = version;
    const tagList = listOf(tags, "words");
    if (tagList.length > 0) draft.tags = tagList;
    const authorList = [...listOf(author, "none"), ...listOf(authors, "none")];
    if (authorList.length > 0) draft.authors = authorList;
  },
};

/** Numbers and booleans become their written text; lists and maps stay unchanged. */
function coerceScalars(metadata: JsonObject, key: string, report: Report, parsed: ParsedHead): JsonObject {
  const scalars: string[] = [];
  const nested: string[] = [];
  for (const name in metadata) {
    const value = metadata[name];
    if (typeof value === "number" || typeof value === "boolean") scalars.push(name);
    else if (typeof value === "object" && value !== null) nested.push(name);
  }
  if (nested.length > 0) {
    const message = `Under \`${key}\`, ${showNames(nested)} ${be(nested)} not text; other clients may drop it.`;
    report("metadata.nested", message, { key, hint: "The specification allows only text there." });
  }
  if (scalars.length === 0) return metadata;
  const message = `Under \`${key}\`, ${showNames(scalars)} ${be(scalars)} a number or boolean; it is read as text.`;
  report("metadata.scalar", message, { key, hint: `Put ${scalars.length > 1 ? "them" : "it"} in quotes.` });
  const texts = scalars.map((name) => [name, parsed.written(key, name) ?? String(metadata[name])] as const);
  return { ...metadata, ...Object.fromEntries(texts) };
}

function be(names: readonly string[]): string {
  return names.length > 1 ? "are" : "is";
}

function listOf(value: Json | undefined, separator: "words" | "none"): readonly string[] {
  if (typeof value === "string") return splitLine(value, separator);
  if (!Array.isArray(value)) return [];
  return value.filter((item: Json) => typeof item === "string" && item !== "");
}

const NAMESPACES = ["openclaw", "clawdbot", "moltbot"];

const PLATFORMS: ReadonlyMap<string, string> = new Map([
  ["macos", "darwin"],
  ["mac", "darwin"],
  ["osx", "darwin"],
  ["windows", "win32"],
]);

/**
 * What the machine must have, collected from all places: `requires`, `metadata.requires` and the `requires` of dialects
 * with a namespace under `metadata`.
 */
export const requirementsRule: Rule = {
  codes: [],
  fields: ["requires", "metadata"],
  check({ draft, fields }) {
    const { metadata } = draft;
    const namespaces = NAMESPACES.map((name) => metadata[name]).filter((value) => isJsonObject(value));
    const isGiven = metadata.requires !== undefined || findGiven(fields.known, "requires") !== undefined;
    if (namespaces.length === 0 && !isGiven) return;
    const found = [draft.requires, readRequires(metadata.requires), ...namespaces.map(readNamespace)];
    draft.requires = {
      bins: join(found.map((each) => each.bins)),
      anyBins: join(found.map((each) => each.anyBins)),
      env: join(found.map((each) => each.env)),
      os: join(found.map((each) => each.os.map(platformOf))),
    };
  },
};

function readNamespace(namespace: JsonObject): SkillRequirements {
  const requires = readRequires(namespace.requires);
  return { ...requires, os: [...requires.os, ...words(namespace.os)] };
}

/** A line or list of commands, or a map. */
function readRequires(value: Json | undefined): SkillRequirements {
  const map: JsonObject = isJsonObject(value) ? value : { bins: value ?? null };
  const anyBins = words(map.anyBins ?? map.any_bins ?? map["any-bins"]);
  return { bins: words(map.bins), anyBins, env: words(map.env), os: words(map.os) };
}

function words(value: Json | undefined): readonly string[] {
  return listOf(value, "words").filter((item) => item.trim() !== "");
}

function platformOf(name: string): string {
  const lower = name.toLowerCase();
  return PLATFORMS.get(lower) ?? lower;
}

function join(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}
