/** Parses untrusted JSON: an object, or nothing. */
import { isJsonObject } from "@metier/base/json";

export type JsonFields = Readonly<Record<string, unknown>>;

export function parseJsonObject(text: string): JsonFields | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // Another format, or an error page.
  }
}
