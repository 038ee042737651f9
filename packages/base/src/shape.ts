/**
 * Checks values from outside against small shapes. Each fault has a place and a message that says what the value is
 * and what it must be. A shape returns `undefined` after it has reported a fault; nothing is thrown.
 */
import { isJsonObject, type Json, type JsonSchema } from "./json.ts";
import { done, type Result, refused } from "./result.ts";
import { nearestNames, showNames, showValue, spellingsOf, toKebabCase } from "./text.ts";

export interface ShapeFault {
  /** Keys as written, and item numbers. */
  readonly path: readonly string[];
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Where a value is, and where its faults go. */
export interface ShapePlace {
  readonly path: readonly string[];
  readonly faults: ShapeFault[];
}

export interface Shape<Value> {
  (value: unknown, place: ShapePlace): Value | undefined;
  /** What it accepts, for editors. */
  schema?(): JsonSchema;
}

/** A shape with an equivalent JSON Schema. */
export function describedShape<Value>(schema: () => JsonSchema, shape: Shape<Value>): Shape<Value> {
  return Object.assign(shape, { schema });
}

/** To editors, a shape without a schema accepts anything. */
export function schemaOf(shape: Shape<unknown>): JsonSchema {
  return shape.schema?.() ?? {};
}

/** The value as the shape reads it, or everything that is wrong with it. */
export function readShape<Value>(shape: Shape<Value>, value: unknown): Result<Value, readonly ShapeFault[]> {
  const place: ShapePlace = { path: [], faults: [] };
  const read = shape(value, place);
  return read === undefined || place.faults.length > 0 ? refused(place.faults) : done(read);
}

/** For values that only need a yes or no: one of Metier's own files that may be damaged. */
export function fitShape<Value>(shape: Shape<Value>, value: unknown): Value | undefined {
  const read = readShape(shape, value);
  return read.ok ? read.value : undefined;
}

export function reportAt({ path, faults }: ShapePlace, message: string, hint?: string): undefined {
  faults.push({ path, message, hint });
}

/** For a value of the wrong type. */
export function refuseShape(value: unknown, place: ShapePlace, allowed: string, hint?: string): undefined {
  return reportAt(place, `${nameOf(place)} is ${showValue(value)}; it must be ${allowed}.`, hint);
}

export const textShape: Shape<string> = describedShape(
  () => ({ type: "string" }),
  (value, place) =>
    typeof value === "string" ? value : refuseShape(value, place, "a text", "Put it in quotes."),
);

export const flagShape: Shape<boolean> = describedShape(
  () => ({ type: "boolean" }),
  (value, place) => (typeof value === "boolean" ? value : refuseShape(value, place, "`true` or `false`")),
);

export const countShape: Shape<number> = describedShape(
  () => ({ type: "integer", minimum: 0 }),
  (value, place) =>
    Number.isInteger(value) && Number(value) >= 0
      ? Number(value)
      : refuseShape(value, place, "a whole number, 0 or greater"),
);

/** Anything JSON can hold. */
export const jsonShape: Shape<Json> = (value) => value as Json;

export function choiceShape<Value extends string>(...values: readonly Value[]): Shape<Value> {
  return describedShape<Value>(
    () => ({ enum: [...values] }),
    (value, place) =>
      values.find((allowed) => allowed === value) ?? refuseShape(value, place, `one of ${showNames(values)}`),
  );
}

/** Accepts what a custom test accepts. `allowed` is for messages. */
export function testedShape<Value>(test: (value: unknown) => value is Value, allowed: string): Shape<Value> {
  return (value, place) => (test(value) ? value : refuseShape(value, place, allowed));
}

export function listShape<Item>(item: Shape<Item>): Shape<readonly Item[]> {
  return describedShape<readonly Item[]>(
    () => ({ type: "array", items: schemaOf(item) }),
    (value, place) => {
      if (!Array.isArray(value)) return refuseShape(value, place, "a list");
      return allRead(value.map((entry, number) => item(entry, below(place, String(number)))));
    },
  );
}

/** Keys of the author's choice. */
export function mapShape<Value>(shape: Shape<Value>): Shape<Readonly<Record<string, Value>>> {
  return describedShape<Readonly<Record<string, Value>>>(
    () => ({ type: "object", additionalProperties: schemaOf(shape) }),
    (value, place) => {
      if (!isJsonObject(value)) return refuseShape(value, place, "keys and values");
      const keys = Object.keys(value);
      const values = allRead(keys.map((key) => shape(value[key], below(place, key))));
      return values && Object.fromEntries(keys.map((key, index) => [key, values[index] as Value]));
    },
  );
}

/** Text as the short form of a list or a table. `allowed` is for messages. */
export function textOrShape<Short, Long>(
  short: Shape<Short>,
  long: Shape<Long>,
  allowed: string,
): Shape<Short | Long> {
  return describedShape<Short | Long>(
    () => ({ anyOf: [{ type: "string", ...schemaOf(short) }, schemaOf(long)] }),
    (value, place) => {
      if (typeof value === "string") return short(value, place);
      const isLong = typeof value === "object" && value !== null;
      return isLong ? long(value, place) : refuseShape(value, place, allowed, "Put text in quotes.");
    },
  );
}

type Fields<Table> = { readonly [Key in keyof Table]-?: Shape<Exclude<Table[Key], undefined>> };

/** A table that a person writes: accepts keys in any of the three spellings; an unknown key is a fault. */
export function tableShape<Table extends object>(
  fields: Fields<Table>,
  required: readonly (keyof Table & string)[] = [],
): Shape<Table> {
  const names = Object.keys(fields) as (keyof Table & string)[];
  const byName = new Map(names.map((name) => [toKebabCase(name), name]));
  const read: Shape<Table> = (value, place) => {
    if (!isJsonObject(value))
      return refuseShape(value, place, `a table with ${showNames([...byName.keys()])}`);
    const table: Partial<Table> = {};
    const before = place.faults.length;
    for (const [key, item] of Object.entries(value)) {
      const name = byName.get(toKebabCase(key));
      if (name === undefined) reportUnknown(key, below(place, key), [...byName.keys()]);
      else if (name in table)
        reportAt(below(place, key), `\`${key}\` appears in two spellings.`, "Keep one of them.");
      else Object.assign(table, { [name]: fields[name](item, below(place, key)) });
    }
    for (const name of required.filter((key) => !(key in table))) {
      reportAt(place, `${nameOf(place)} needs \`${toKebabCase(name)}\`.`);
    }
    return place.faults.length === before ? (table as Table) : undefined;
  };
  return describedShape(() => tableSchema(fields, required), read);
}

/** Every spelling of a key; for a required key, any of them. */
function tableSchema(
  fields: Readonly<Record<string, Shape<unknown>>>,
  required: readonly string[],
): JsonSchema {
  const properties = Object.entries(fields).flatMap(([name, shape]) =>
    spellingsOf(toKebabCase(name)).map((spelling) => [spelling, schemaOf(shape)] as const),
  );
  const needed = required.map((name) => spellingsOf(toKebabCase(name)));
  const choices = needed
    .filter((spellings) => spellings.length > 1)
    .map((spellings) => ({ anyOf: spellings.map((spelling) => ({ required: [spelling] })) }));
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: false,
    ...(required.length > 0 && { required: needed.flatMap((all) => (all.length === 1 ? all : [])) }),
    ...(choices.length > 0 && { allOf: choices }),
  };
}

/** An object that a program writes: exact keys only, and unknown ones are ignored. */
export function recordShape<Table extends object>(
  fields: Fields<Table>,
  optional: readonly (keyof Table & string)[] = [],
): Shape<Table> {
  const names = Object.keys(fields) as (keyof Table & string)[];
  return (value, place) => {
    if (!isJsonObject(value)) return refuseShape(value, place, "an object");
    const table: Partial<Table> = {};
    const before = place.faults.length;
    for (const name of names) {
      if (value[name] !== undefined)
        Object.assign(table, { [name]: fields[name](value[name], below(place, name)) });
      else if (!optional.includes(name)) reportAt(place, `${nameOf(place)} needs \`${name}\`.`);
    }
    return place.faults.length === before ? (table as Table) : undefined;
  };
}

function reportUnknown(key: string, place: ShapePlace, known: readonly string[]): void {
  const near = nearestNames(toKebabCase(key), known);
  const hint = near.length > 0 ? `Did you mean ${showNames(near)}?` : `Use ${showNames(known)}.`;
  reportAt(place, `The key ${showValue(key)} is unknown here.`, hint);
}

function allRead<Value>(values: readonly (Value | undefined)[]): readonly Value[] | undefined {
  const read = values.filter((value) => value !== undefined);
  return read.length === values.length ? read : undefined;
}

function below({ path, faults }: ShapePlace, key: string): ShapePlace {
  return { path: [...path, key], faults };
}

/** `expect.text`; item numbers don't help a reader who gets the line. */
function nameOf({ path }: ShapePlace): string {
  const keys = path.filter((key) => !/^\d+$/.test(key));
  return keys.length > 0 ? `\`${keys.join(".")}\`` : "It";
}

export { checkKeys, type OptionKeys } from "./options.ts";
