/** Input that a person wrote in place of a tool's input. Pure. */
import type { JsonObject } from "@metier/base/json";
import { done, type Result, refused } from "@metier/base/result";

/** A tool's input is an object. */
export function readEdited(text: string): Result<JsonObject> {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value))
      return done(value as JsonObject);
    return refused({ message: "This is JSON, but not an object. Write { … }." });
  } catch (fault) {
    return refused({
      message: `This is not JSON: ${fault instanceof Error ? fault.message : String(fault)}`,
    });
  }
}
