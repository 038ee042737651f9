/**
 * A form made from the JSON Schema of a skill's input: its fields, their defaults, and the value they make. What a
 * form can't express becomes a JSON field; the server checks everything again. Pure.
 */
import { isJsonObject, type Json, type JsonObject, type JsonSchema } from "@metier/base/json";

interface FieldBase {
  readonly label: string;
  readonly about?: string | undefined;
  readonly isRequired: boolean;
  readonly start?: Json | undefined;
}

export type FormField = FieldBase &
  (
    | { readonly kind: "text"; readonly least: number; readonly most: number }
    | { readonly kind: "number"; readonly isWhole: boolean; readonly least: number; readonly most: number }
    | { readonly kind: "boolean" }
    | { readonly kind: "choice"; readonly options: readonly Json[] }
    | { readonly kind: "list"; readonly item: FormField; readonly least: number; readonly most: number }
    | { readonly kind: "group"; readonly fields: readonly NamedField[] }
    | { readonly kind: "json" }
  );

interface NamedField {
  readonly name: string;
  readonly field: FormField;
}

export type GroupField = Extract<FormField, { kind: "group" }>;
export type ListField = Extract<FormField, { kind: "list" }>;

/** The contents of the fields: every leaf is a text, `""` if empty. */
export type Draft = string | readonly Draft[] | { readonly [name: string]: Draft };

const MOST_DEPTH = 5;
const MOST_FIELDS = 100;
const MOST_OPTIONS = 500;
/** With one of these, a schema says more than a form can. */
const BEYOND_FORMS = [
  "$ref",
  "$dynamicRef",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "patternProperties",
  "prefixItems",
];

export function readInputSchema(schema: JsonSchema): FormField {
  return readField("Input", schema, true, 0);
}

function readField(name: string, schema: Json | undefined, isRequired: boolean, depth: number): FormField {
  const base: FieldBase = { label: name, isRequired };
  if (!isJsonObject(schema)) return { ...base, kind: "json" };
  const { title, description, default: start } = schema;
  const told: FieldBase = {
    label: typeof title === "string" && title !== "" ? title : name,
    about: typeof description === "string" ? description : undefined,
    isRequired,
    start,
  };
  if (BEYOND_FORMS.some((word) => Object.hasOwn(schema, word))) return { ...told, kind: "json" };
  const options = "const" in schema ? [schema.const ?? null] : schema.enum;
  if (Array.isArray(options) && options.length > 0 && options.length <= MOST_OPTIONS)
    return { ...told, kind: "choice", options: options as readonly Json[] };
  return readTyped(told, schema, depth);
}

function readTyped(told: FieldBase, schema: JsonObject, depth: number): FormField {
  switch (typeOf(schema)) {
    case "string":
      return { ...told, kind: "text", ...boundsOf(schema, "minLength", "maxLength") };
    case "integer":
      return { ...told, kind: "number", isWhole: true, ...boundsOf(schema, "minimum", "maximum") };
    case "number":
      return { ...told, kind: "number", isWhole: false, ...boundsOf(schema, "minimum", "maximum") };
    case "boolean":
      return { ...told, kind: "boolean" };
    case "array":
      return depth < MOST_DEPTH && isJsonObject(schema.items)
        ? {
            ...told,
            kind: "list",
            item: readField(told.label, schema.items, true, depth + 1),
            ...boundsOf(schema, "minItems", "maxItems"),
          }
        : { ...told, kind: "json" };
    case "object":
      return readGroup(told, schema, depth);
    default:
      return { ...told, kind: "json" };
  }
}

/** A type, or one that may also be `null`. */
function typeOf({ type }: JsonObject): Json | undefined {
  if (!Array.isArray(type)) return type;
  const others = type.filter((one) => one !== "null");
  return others.length === 1 ? others[0] : undefined;
}

function boundsOf(schema: JsonObject, least: string, most: string): { least: number; most: number } {
  const bound = (name: string, otherwise: number): number => {
    const value = schema[name];
    return typeof value === "number" ? value : otherwise;
  };
  return { least: bound(least, Number.NEGATIVE_INFINITY), most: bound(most, Number.POSITIVE_INFINITY) };
}

function readGroup(told: FieldBase, schema: JsonObject, depth: number): FormField {
  const { properties, required, additionalProperties } = schema;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const isForm =
    names.length > 0 &&
    names.length <= MOST_FIELDS &&
    depth < MOST_DEPTH &&
    !isJsonObject(additionalProperties);
  if (!isForm || !isJsonObject(properties)) return { ...told, kind: "json" };
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = names.map((name) => ({
    name,
    field: readField(name, properties[name], needed.has(name), depth + 1),
  }));
  return { ...told, kind: "group", fields };
}

/** The initial contents of the fields: the schema's defaults. */
export function startDraft(field: FormField, given: Json | undefined = field.start): Draft {
  switch (field.kind) {
    case "list":
      return Array.isArray(given)
        ? (given as readonly Json[]).map((item) => startDraft(field.item, item))
        : [];
    case "group":
      return startGroup(field, given);
    case "choice":
      return startChoice(field, given);
    case "boolean":
      return typeof given === "boolean" ? String(given) : field.isRequired ? "false" : "";
    case "json":
      return given === undefined ? "" : JSON.stringify(given, null, 2);
    default:
      return typeof given === "string" || typeof given === "number" ? String(given) : "";
  }
}

function startGroup({ fields }: GroupField, given: Json | undefined): Draft {
  const known = isJsonObject(given) ? given : {};
  return Object.fromEntries(
    fields.map(({ name, field }) => [
      name,
      startDraft(field, Object.hasOwn(known, name) ? known[name] : field.start),
    ]),
  );
}

/** A choice with one option is already made. */
function startChoice(field: Extract<FormField, { kind: "choice" }>, given: Json | undefined): string {
  const { options, isRequired } = field;
  const place = options.findIndex((option) => JSON.stringify(option) === JSON.stringify(given));
  if (place >= 0) return String(place);
  return isRequired && options.length === 1 ? "0" : "";
}
