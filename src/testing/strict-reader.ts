/**
 * Readers of a test file's values, strict: what has another type, or a key that is not known, is a fault with its place.
 * A reader answers `undefined` after it reported; keys may be written in any of the three spellings.
 */
import { nearestNames } from "../foundation/nearest-names.ts";
import { toKebabCase } from "../foundation/spelling.ts";
import type { Json } from "../skill/manifest.ts";
import { showNames, showValue } from "../validate/report.ts";

export interface Fault {
  /** Keys as written, and numbers of items. */
  readonly path: readonly string[];
  readonly message: string;
  readonly hint?: string;
}

/** Where a value stands, and where its faults go. */
export interface Place {
  readonly path: readonly string[];
  readonly faults: Fault[];
}

export type Read<Value> = (value: unknown, place: Place) => Value | undefined;

export function report({ path, faults }: Place, message: string, hint?: string): undefined {
  faults.push({ path, message, ...(hint !== undefined && { hint }) });
}

/** For a value of the wrong type. */
export function refuse(value: unknown, place: Place, allowed: string, hint?: string): undefined {
  return report(place, `${nameOf(place)} is ${showValue(value)}; it must be ${allowed}.`, hint);
}

export const readText: Read<string> = (value, place) =>
  typeof value === "string" ? value : refuse(value, place, "a text", "Put it in quotes.");

export const readFlag: Read<boolean> = (value, place) =>
  typeof value === "boolean" ? value : refuse(value, place, "`true` or `false`");

export const readCount: Read<number> = (value, place) =>
  Number.isInteger(value) && Number(value) >= 0
    ? Number(value)
    : refuse(value, place, "a whole number from 0");

/** Whatever JSON can hold. */
export const readData: Read<Json> = (value) => value as Json;

export function readChoice<Value extends string>(...values: readonly Value[]): Read<Value> {
  return (value, place) =>
    values.find((allowed) => allowed === value) ?? refuse(value, place, `one of ${showNames(values)}`);
}

export function readList<Item>(readItem: Read<Item>): Read<readonly Item[]> {
  return (value, place) => {
    if (!Array.isArray(value)) return refuse(value, place, "a list");
    return readAll(value.map((item, number) => readItem(item, below(place, String(number)))));
  };
}

/** Keys of the author's own choosing. */
export function readMap<Value>(readValue: Read<Value>): Read<Readonly<Record<string, Value>>> {
  return (value, place) => {
    if (!isTable(value)) return refuse(value, place, "keys and values");
    const keys = Object.keys(value);
    const values = readAll(keys.map((key) => readValue(value[key], below(place, key))));
    return values && Object.fromEntries(keys.map((key, index) => [key, values[index] as Value]));
  };
}

/** A text, as the short form of what is otherwise a list or a table. `allowed` is what messages say. */
export function readTextOr<Short, Long>(
  readShort: Read<Short>,
  readLong: Read<Long>,
  allowed: string,
): Read<Short | Long> {
  return (value, place) => {
    if (typeof value === "string") return readShort(value, place);
    const isLong = typeof value === "object" && value !== null;
    return isLong ? readLong(value, place) : refuse(value, place, allowed, "Put a text in quotes.");
  };
}

export function readTable<Table extends object>(
  fields: { readonly [Key in keyof Table]-?: Read<Exclude<Table[Key], undefined>> },
  required: readonly (keyof Table & string)[] = [],
): Read<Table> {
  const names = Object.keys(fields) as (keyof Table & string)[];
  const byName = new Map(names.map((name) => [toKebabCase(name), name]));
  return (value, place) => {
    if (!isTable(value)) return refuse(value, place, `a table with ${showNames([...byName.keys()])}`);
    const table: Partial<Table> = {};
    const before = place.faults.length;
    for (const [key, item] of Object.entries(value)) {
      const name = byName.get(toKebabCase(key));
      if (name === undefined) reportUnknown(key, below(place, key), [...byName.keys()]);
      else if (name in table)
        report(below(place, key), `\`${key}\` stands there in two spellings.`, "Keep one.");
      else Object.assign(table, { [name]: fields[name](item, below(place, key)) });
    }
    for (const name of required.filter((key) => !(key in table))) {
      report(place, `${nameOf(place)} has no \`${toKebabCase(name)}\`, which is needed.`);
    }
    return place.faults.length === before ? (table as Table) : undefined;
  };
}

function reportUnknown(key: string, place: Place, known: readonly string[]): void {
  const near = nearestNames(toKebabCase(key), known);
  const hint = near.length > 0 ? `Did you mean ${showNames(near)}?` : `Known are ${showNames(known)}.`;
  report(place, `The key ${showValue(key)} is not known here.`, hint);
}

function readAll<Value>(values: readonly (Value | undefined)[]): readonly Value[] | undefined {
  const read = values.filter((value) => value !== undefined);
  return read.length === values.length ? read : undefined;
}

function below({ path, faults }: Place, key: string): Place {
  return { path: [...path, key], faults };
}

/** `expect.text`; the numbers of items say nothing to a reader who is told the line. */
function nameOf({ path }: Place): string {
  const keys = path.filter((key) => !/^\d+$/.test(key));
  return keys.length > 0 ? `\`${keys.join(".")}\`` : "It";
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
