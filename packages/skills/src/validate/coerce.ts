/**
 * Converts one frontmatter value to text, a boolean, a number, a choice, a list or a map, and reports what was
 * converted.
 */
import { isJsonObject, type Json, type JsonObject } from "@metier/base/json";
import { nearestNames, showNames, showValue, toCamelCase, toKebabCase } from "@metier/base/text";
import { splitToolPatterns } from "../skill/field-grammars.ts";
import type { ManifestField, Separator } from "../skill/manifest.ts";
import type { ParsedSkill } from "../skill/skill.ts";
import type { GivenValue } from "./build-manifest.ts";
import type { Report } from "./profiles.ts";

type Written = ParsedSkill["written"];

/** Text for people and models: lists and maps written by mistake are converted to text. */
export function coerceProse(given: GivenValue, report: Report, written: Written): string | undefined {
  const { key, value } = given;
  if (typeof value !== "object" || value === null) return coerceText(given, report, written);
  // The brackets of `argument-hint: [file]` are part of the intended text.
  const text = given.name === "argument-hint" ? flowText(value) : flowText(value).replace(/^\[|\]$/g, "");
  const message = `\`${key}\` is a ${jsonKind(value)}; it is read as the text ${showValue(text)}.`;
  report("field.structure-for-text", message, { key, hint: `Write ${showEntry(key, text)}.` });
  return text;
}

/** A number or boolean becomes its written text. */
export function coerceText(given: GivenValue, report: Report, written: Written): string | undefined {
  const { key, value } = given;
  if (typeof value === "string") return value.trim();
  if (typeof value === "number" || typeof value === "boolean") {
    const text = written(key) ?? String(value);
    const message = `\`${key}\` is the ${typeof value} ${showValue(value)}; it is read as the text ${showValue(text)}.`;
    const hint = "Put it in quotes, so that every client reads it the same way.";
    report("field.scalar-for-text", message, { key, hint });
    return text;
  }
  reportWrongType(given, "text", report);
  return undefined;
}

const TRUE_WORDS: ReadonlySet<string> = new Set(["true", "yes", "on", "1"]);
const FALSE_WORDS: ReadonlySet<string> = new Set(["false", "no", "off", "0"]);

export function coerceBoolean(given: GivenValue, report: Report): boolean | undefined {
  const { value } = given;
  if (typeof value === "boolean") return value;
  const word = typeof value === "object" ? "" : String(value).trim().toLowerCase();
  const answer = TRUE_WORDS.has(word) ? true : FALSE_WORDS.has(word) ? false : undefined;
  if (answer === undefined) reportWrongType(given, "`true` or `false`", report);
  else reportCoerced(given, answer, report);
  return answer;
}

/** A whole number of at least 1. */
export function coerceCount(given: GivenValue, report: Report): number | undefined {
  const { value } = given;
  const number = typeof value === "string" && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) {
    reportWrongType(given, "a whole number of at least 1", report);
    return undefined;
  }
  if (number !== value) reportCoerced(given, number, report);
  return number;
}

export function coerceChoice<T extends string>(
  given: GivenValue,
  choices: readonly T[],
  report: Report,
): T | undefined {
  const { key, value } = given;
  const choice = choices.find((each) => typeof value === "string" && each === value.trim().toLowerCase());
  if (choice !== undefined) return choice;
  const near = typeof value === "string" ? nearestNames(value, choices, 1)[0] : undefined;
  report(
    "field.wrong-choice",
    `\`${key}\` is ${showValue(value)}; it must be one of ${showNames(choices)}.`,
    {
      key,
      hint: near === undefined ? "Remove it, or choose one of these." : `Did you mean \`${near}\`?`,
    },
  );
  return undefined;
}

function reportWrongType(given: GivenValue, wanted: string, report: Report): void {
  report("field.wrong-type", `\`${given.key}\` is the ${jsonKind(given.value)} ${showValue(given.value)}.`, {
    key: given.key,
    hint: `Write ${wanted}; until then the field is ignored.`,
  });
}

function reportCoerced(given: GivenValue, result: Json, report: Report): void {
  const { key, value } = given;
  const message = `\`${key}\` is the ${jsonKind(value)} ${showValue(value)}; it is read as the ${jsonKind(result)} ${showValue(result)}.`;
  const [parent, child] = key.split(".", 2);
  const entry =
    child === undefined ? showEntry(key, result) : `${showEntry(child, result)} below \`${parent}\``;
  report("field.coerced", message, { key, hint: `Write ${entry}.` });
}

function showEntry(key: string, value: Json): string {
  return showValue(`${key}: ${JSON.stringify(value)}`);
}

/** In words, for messages. */
export function jsonKind(value: Json): string {
  if (value === null) return "empty value";
  if (Array.isArray(value)) return "list";
  if (typeof value === "object") return "map";
  return typeof value === "string" ? "text" : typeof value;
}

/** A list or map as its author wrote it: `[file]`, `[optional: date]`, `python: 3.12`. */
function flowText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => flowText(item)).join(", ")}]`;
  if (!isJsonObject(value)) return value === null ? "" : String(value);
  return Object.entries(value)
    .map(([key, item]) => (item === null ? key : `${key}: ${flowText(item)}`))
    .join(", ");
}

interface ListForm {
  readonly separator: Separator;
  readonly takesLine?: boolean;
}

/** A line becomes its parts; `false` becomes the empty list. */
export function coerceList(
  given: GivenValue,
  { separator, takesLine = false }: ListForm,
  report: Report,
): readonly string[] | undefined {
  const { value } = given;
  if (Array.isArray(value)) return coerceItems(given, value, report);
  if (value === false) return [];
  if (typeof value !== "string" && typeof value !== "number") {
    reportWrongType(given, "a list", report);
    return undefined;
  }
  const items = splitLine(String(value), separator);
  if (!takesLine) reportCoerced(given, items, report);
  return items;
}

/**
 * Tool patterns from a line or a list. Unreadable ones are kept as written: they match no tool, while dropping them
 * could leave the list empty, which means "all".
 */
export function coerceTools(given: GivenValue, report: Report): readonly string[] {
  const { value } = given;
  if (typeof value === "string") return splitToolPatterns(value);
  if (Array.isArray(value)) return coerceItems(given, value, report).flatMap(splitToolPatterns);
  report("field.wrong-type", `\`${given.key}\` is the ${jsonKind(value)} ${showValue(value)}.`, {
    key: given.key,
    hint: "Write tool names on one line, such as `Bash(git:*) Read`.",
  });
  return isJsonObject(value) ? Object.keys(value) : [String(value)];
}

/** Split at commas if there are any, otherwise at spaces, unless the line is one item. */
export function splitLine(line: string, separator: Separator): readonly string[] {
  const atCommas = separator === "commas" || line.includes(",");
  const parts = separator === "none" ? [line] : line.split(atCommas ? "," : /\s+/);
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

function coerceItems(given: GivenValue, items: readonly Json[], report: Report): readonly string[] {
  const texts: string[] = [];
  for (const item of items) {
    const text = itemText(item);
    if (text === undefined) {
      const message = `\`${given.key}\` has the ${jsonKind(item)} ${showValue(item)} as an item.`;
      const hint = "Each item must be text; this one is ignored.";
      report("field.wrong-item", message, { key: given.key, hint });
    } else if (text !== "") texts.push(text);
  }
  return texts;
}

/** Some dialects write `{ name: X, required: true }` for `X`. */
function itemText(item: Json): string | undefined {
  if (typeof item === "string") return item.trim();
  if (typeof item === "number" || typeof item === "boolean") return String(item);
  if (isJsonObject(item) && typeof item.name === "string") {
    return item.required === false ? "" : item.name.trim();
  }
  return undefined;
}

const WORDS = { separator: "words" } as const;

/** A map, or text that contains one as JSON. */
export function coerceMap(given: GivenValue, report: Report): JsonObject | undefined {
  const { key, value } = given;
  if (isJsonObject(value)) return value;
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
  if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const name = toKebabCase(key);
      if (!keys.includes(name)) {
        report("field.unknown-key", `\`${given.key}\` has the unknown key ${showValue(key)}.`, {
          key: given.key,
          hint: `It may have ${showNames(keys)}.`,
        });
      } else if (item !== null) {
        const list = coerceList({ ...given, key: `${given.key}.${key}`, value: item }, WORDS, report);
        if (list !== undefined) lists[toCamelCase(name)] = list;
      }
    }
    return lists;
  }
  if (field.plain === undefined || typeof value === "boolean") {
    reportWrongType(given, `a map with ${showNames(keys)}`, report);
    return undefined;
  }
  lists[field.plain] = coerceList(given, WORDS, report) ?? [];
  return lists;
}

function parseJsonMap(text: string): JsonObject | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    const value: Json = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    // Not JSON after all: the caller reports the text as a wrong type.
    return undefined;
  }
}
