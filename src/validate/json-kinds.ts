/** What kind of value stands in a frontmatter, and how it reads as text. */
import type { Json } from "../skill/manifest.ts";

export type JsonMap = { readonly [key: string]: Json };

export function isMap(value: Json | undefined): value is JsonMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** In words, for messages. */
export function kindOf(value: Json): string {
  if (value === null) return "empty value";
  if (Array.isArray(value)) return "list";
  if (typeof value === "object") return "map";
  return typeof value === "string" ? "text" : typeof value;
}

/** A list or map as its author wrote it: `[file]`, `[optional: date]`, `python: 3.12`. */
export function flowText(value: Json): string {
  if (Array.isArray(value)) return `[${value.map((item: Json) => flowText(item)).join(", ")}]`;
  if (!isMap(value)) return value === null ? "" : String(value);
  return Object.entries(value)
    .map(([key, item]) => (item === null ? key : `${key}: ${flowText(item)}`))
    .join(", ");
}
