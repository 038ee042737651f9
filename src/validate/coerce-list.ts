/** Values that become lists of text: lists, lines of words, tool patterns. */
import type { Json } from "../skill/manifest.ts";
import type { Separator } from "../skill/manifest-field.ts";
import { splitToolPatterns } from "../skill/tool-pattern.ts";
import { reportCoerced, reportWrongType } from "./coerce-scalar.ts";
import { isMap, kindOf } from "./json-kinds.ts";
import type { GivenValue } from "./read-fields.ts";
import { type Report, showValue } from "./report.ts";

export interface ListForm {
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
 * Tool patterns from a line or a list. What cannot be read is kept as it was written: it then matches no tool,
 * while dropping it could leave the list empty, which means "all".
 */
export function coerceTools(given: GivenValue, report: Report): readonly string[] {
  const { value } = given;
  if (typeof value === "string") return splitToolPatterns(value);
  if (Array.isArray(value)) {
    const patterns: string[] = [];
    for (const item of coerceItems(given, value, report)) patterns.push(...splitToolPatterns(item));
    return patterns;
  }
  report("field.wrong-type", `\`${given.key}\` is the ${kindOf(value)} ${showValue(value)}.`, {
    key: given.key,
    hint: "Write tool names in one line, such as `Bash(git:*) Read`.",
  });
  return isMap(value) ? Object.keys(value) : [String(value)];
}

/** At commas where there are any, otherwise at spaces, unless the line is one item. */
export function splitLine(line: string, separator: Separator): readonly string[] {
  const parts =
    separator === "none"
      ? [line]
      : separator === "commas" || line.includes(",")
        ? line.split(",")
        : line.split(/\s+/);
  const items: string[] = [];
  for (const part of parts) {
    const item = part.trim();
    if (item !== "") items.push(item);
  }
  return items;
}

function coerceItems(given: GivenValue, items: readonly Json[], report: Report): readonly string[] {
  const texts: string[] = [];
  for (const item of items) {
    const text = itemText(item);
    if (text === undefined) {
      report("field.wrong-item", `\`${given.key}\` has the ${kindOf(item)} ${showValue(item)} as an item.`, {
        key: given.key,
        hint: "Each item must be text; this one is left out.",
      });
    } else if (text !== "") texts.push(text);
  }
  return texts;
}

/** Some dialects write `{ name: X, required: true }` for `X`. */
function itemText(item: Json): string | undefined {
  if (typeof item === "string") return item.trim();
  if (typeof item === "number" || typeof item === "boolean") return String(item);
  if (isMap(item) && typeof item.name === "string") {
    return item.required === false ? "" : item.name.trim();
  }
  return undefined;
}
