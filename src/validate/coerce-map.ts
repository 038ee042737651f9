/** Values that become maps: as they are, or as maps of lists with known keys. */
import { toCamelCase, toKebabCase } from "../foundation/spelling.ts";
import type { Json } from "../skill/manifest.ts";
import type { ManifestField } from "../skill/manifest-field.ts";
import { coerceList } from "./coerce-list.ts";
import { reportWrongType } from "./coerce-scalar.ts";
import { isMap, type JsonMap } from "./json-kinds.ts";
import type { GivenValue } from "./read-fields.ts";
import { type Report, showNames, showValue } from "./report.ts";

const WORDS = { separator: "words" } as const;

/** A map, or text that holds one as JSON. */
export function coerceMap(given: GivenValue, report: Report): JsonMap | undefined {
  const { key, value } = given;
  if (isMap(value)) return value;
  const map = typeof value === "string" ? parseJsonMap(value) : undefined;
  if (map === undefined) {
    reportWrongType(given, "a map of keys and values", report);
    return undefined;
  }
  report("field.coerced", `\`${key}\` is JSON inside quotes; it is read as a map.`, {
    key,
    hint: "Remove the quotes around it.",
  });
  return map;
}

/** All known keys of the field in camelCase, each with its list. */
export function coerceLists(
  given: GivenValue,
  field: ManifestField & { readonly kind: "lists" },
  report: Report,
): Readonly<Record<string, readonly string[]>> | undefined {
  const { value } = given;
  const keys = Object.keys(field.keys);
  const lists: Record<string, readonly string[]> = Object.fromEntries(
    keys.map((key) => [toCamelCase(key), []]),
  );
  if (isMap(value)) {
    for (const [key, item] of Object.entries(value)) readKey(given, key, item, keys, lists, report);
    return lists;
  }
  if (field.plain === undefined || typeof value === "boolean") {
    reportWrongType(given, `a map with ${showNames(keys)}`, report);
    return undefined;
  }
  lists[field.plain] = coerceList(given, WORDS, report) ?? [];
  return lists;
}

function readKey(
  given: GivenValue,
  key: string,
  value: Json,
  keys: readonly string[],
  lists: Record<string, readonly string[]>,
  report: Report,
): void {
  const name = toKebabCase(key);
  if (!keys.includes(name)) {
    report("field.unknown-key", `\`${given.key}\` has the key ${showValue(key)}, which is not known.`, {
      key: given.key,
      hint: `It can have ${showNames(keys)}.`,
    });
  } else if (value !== null) {
    const list = coerceList({ ...given, key: `${given.key}.${key}`, value }, WORDS, report);
    if (list !== undefined) lists[toCamelCase(name)] = list;
  }
}

function parseJsonMap(text: string): JsonMap | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return isMap(value) ? value : undefined;
  } catch {
    // Not JSON after all: the caller reports the text as a wrong type.
    return undefined;
  }
}
