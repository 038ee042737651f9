/** Short ways to write the JSON Schemas of the desk: objects are closed, lists and texts bounded. */
import type { JsonObject } from "../capabilities/capability.ts";

/** Names that end in `?` may be absent. */
export function objectOf(properties: Readonly<Record<string, JsonObject>>): JsonObject {
  const entries = Object.entries(properties);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ""), schema])),
    required: entries.map(([name]) => name).filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

export function textOf(maxLength: number, description: string, more: JsonObject = {}): JsonObject {
  return { type: "string", maxLength, description, ...more };
}

export function wholeNumber(
  minimum: number,
  maximum: number,
  description: string,
  more: JsonObject = {},
): JsonObject {
  return { type: "integer", minimum, maximum, description, ...more };
}

export function yesOrNo(description: string): JsonObject {
  return { type: "boolean", description };
}

export function listOf(items: JsonObject, maxItems: number, more: JsonObject = {}): JsonObject {
  return { type: "array", items, maxItems, ...more };
}
