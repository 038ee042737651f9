/** JSON that someone else wrote: an object, or nothing that can be used. */
import { isJsonObject } from "@metier/base/json";

export type JsonFields = Readonly<Record<string, unknown>>;

export function parseJsonObject(text: string): JsonFields | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // Another format, or a page that says something else.
  }
}
