/** JSON values and basic operations on them, also for browsers. */

/** Any value that JSON can hold, read-only. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object: string keys, JSON values. */
export type JsonObject = { readonly [key: string]: Json };

/** Whether a value of unknown origin is a JSON object and not a list. */
export function isJsonObject(value: Json | undefined): value is JsonObject;
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>>;
export function isJsonObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type PresentFields<Fields> = {
  readonly [Name in keyof Fields as undefined extends Fields[Name] ? never : Name]: Fields[Name];
} & {
  readonly [Name in keyof Fields as undefined extends Fields[Name] ? Name : never]?: Exclude<
    Fields[Name],
    undefined
  >;
};

/** The name may be untrusted text. */
const OWN = { enumerable: true, configurable: true, writable: true };

/** Drops fields that are `undefined`, as JSON does, for types whose optional fields are left out. */
export function presentFields<const Fields extends object>(fields: Fields): PresentFields<Fields> {
  const given = fields as Readonly<Record<string, unknown>>;
  const present: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) {
    const value = given[name];
    if (value === undefined) continue;
    if (name === "__proto__") Object.defineProperty(present, name, { ...OWN, value });
    else present[name] = value;
  }
  return present as PresentFields<Fields>;
}

/** The same text for the same JSON value, no matter the order of its keys: for comparing and digesting. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (isJsonObject(part) ? sortKeys(part) : part));
}

/** Returns an object that is already sorted as it is. */
function sortKeys<Value>(value: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  const names = Object.keys(value);
  if (names.every((name, index) => index === 0 || (names[index - 1] ?? "") < name)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
