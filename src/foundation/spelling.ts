/** The three spellings of a key: kebab-case is written, snake_case and camelCase are accepted. */

/** `max_iterations` and `maxIterations` → `max-iterations`. */
export function toKebabCase(key: string): string {
  return key
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** `max-iterations` → `max_iterations`. */
export function toSnakeCase(kebab: string): string {
  return kebab.replaceAll("-", "_");
}

/** `max-iterations` → `maxIterations`. */
export function toCamelCase(kebab: string): string {
  return kebab.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The accepted spellings of a kebab-case key, itself first, without repetition. */
export function spellingsOf(kebab: string): readonly string[] {
  return [...new Set([kebab, toSnakeCase(kebab), toCamelCase(kebab)])];
}
