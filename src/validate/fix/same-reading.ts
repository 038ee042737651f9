/** Whether two texts are read as the same skill. A number that is now text may show how it was written: `1` and `1.0`. */
export function isSameReading(a: unknown, b: unknown): boolean {
  if (typeof a === "string" && typeof b === "string") return a === b || isSameNumber(a, b);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isSameReading((a as Fields)[key], (b as Fields)[key]));
}

type Fields = Readonly<Record<string, unknown>>;

function isSameNumber(a: string, b: string): boolean {
  return a.trim() !== "" && b.trim() !== "" && Number(a) === Number(b);
}
