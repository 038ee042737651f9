/** Whether a value of unknown origin is an object as JSON has them: with names, and no list. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
