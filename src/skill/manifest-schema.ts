/** The JSON Schema of the frontmatter, for editors: made from the table of fields, so that it cannot drift. */
import { spellingsOf } from "../foundation/spelling.ts";
import type { Json } from "./manifest.ts";
import { acceptedSpellings, type ManifestField } from "./manifest-field.ts";
import { MANIFEST_FIELDS } from "./manifest-fields.ts";
import { SKILL_NAME_PATTERN } from "./skill-name.ts";

type Schema = { readonly [key: string]: Json };

const LIST: Schema = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };

/** Draft 2020-12. Other spellings of a field are checked like the field, but not offered. */
export function manifestJsonSchema(): Schema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Agent Skill frontmatter",
    description: "The YAML frontmatter of a SKILL.md file, as Metier reads it.",
    type: "object",
    required: ["name", "description"],
    properties: Object.fromEntries(MANIFEST_FIELDS.map((field) => [field.name, fieldSchema(field)])),
    patternProperties: Object.fromEntries(MANIFEST_FIELDS.flatMap(otherSpellings)),
  };
}

function otherSpellings(field: ManifestField): readonly (readonly [string, Schema])[] {
  const others = acceptedSpellings(field).filter((spelling) => spelling !== field.name);
  return others.length > 0 ? [[`^(?:${others.join("|")})$`, { $ref: `#/properties/${field.name}` }]] : [];
}

function fieldSchema(field: ManifestField): Schema {
  const { description, belongsTo } = field;
  return {
    description: belongsTo === undefined ? description : `${description} Belongs to \`${belongsTo}\`.`,
    ...(belongsTo !== undefined && { deprecated: true }),
    ...valueSchema(field),
  };
}

function valueSchema(field: ManifestField): Schema {
  switch (field.kind) {
    case "prose":
      return {
        type: "string",
        minLength: 1,
        ...(field.maxLength !== undefined && { maxLength: field.maxLength }),
        ...(field.name === "name" && { pattern: SKILL_NAME_PATTERN }),
      };
    case "text":
      return { type: "string" };
    case "boolean":
      return { type: "boolean" };
    case "count":
      return { type: "integer", minimum: 1 };
    case "list":
    case "tools":
      return LIST;
    case "choice":
      return { enum: field.choices };
    case "map":
      return field.name === "metadata"
        ? { type: "object", additionalProperties: { type: "string" } }
        : { type: "object" };
    case "access":
      return mapOfLists(field.keys);
    case "lists":
      return field.plain === undefined ? mapOfLists(field.keys) : { anyOf: [mapOfLists(field.keys), LIST] };
    case "json":
      return {};
  }
}

function mapOfLists(keys: Readonly<Record<string, string>>): Schema {
  const properties = Object.entries(keys).flatMap(([key, description]) =>
    spellingsOf(key).map((spelling) => [spelling, { description, ...LIST }] as const),
  );
  return { type: "object", properties: Object.fromEntries(properties), additionalProperties: false };
}
