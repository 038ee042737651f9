/** `metadata` is a map of texts. Its version, author and tags go before those at the top level. */
import type { Json } from "../../skill/manifest.ts";
import type { ParsedSkill } from "../../skill/skill.ts";
import { splitLine } from "../coerce-list.ts";
import type { JsonMap } from "../json-kinds.ts";
import { findGiven } from "../read-fields.ts";
import { type Report, showNames } from "../report.ts";
import type { Rule } from "../rule.ts";

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

/** Numbers and booleans become the text they are written as; lists and maps stay as they are. */
function coerceScalars(metadata: JsonMap, key: string, report: Report, parsed: ParsedSkill): JsonMap {
  const scalars: string[] = [];
  const nested: string[] = [];
  for (const name in metadata) {
    const value = metadata[name];
    if (typeof value === "number" || typeof value === "boolean") scalars.push(name);
    else if (typeof value === "object" && value !== null) nested.push(name);
  }
  if (nested.length > 0) {
    report(
      "metadata.nested",
      `Below \`${key}\`, ${showNames(nested)} ${be(nested)} not text; other clients may drop it.`,
      {
        key,
        hint: "The specification has only texts there.",
      },
    );
  }
  if (scalars.length === 0) return metadata;
  report(
    "metadata.scalar",
    `Below \`${key}\`, ${showNames(scalars)} ${be(scalars)} a number or boolean; it is read as text.`,
    {
      key,
      hint: `Write ${scalars.length > 1 ? "them" : "it"} in quotes.`,
    },
  );
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
