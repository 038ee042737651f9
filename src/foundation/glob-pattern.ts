/** Allow and deny lists over skill names: `pdf-*`, `{a,b}`, exact names. Patterns come from config; names are untrusted. */

/** Answers with the first pattern that matches a name. */
export type NameMatcher = (name: string) => string | undefined;

const GLOB_CHARACTERS = /[*?[\]{}()!+@\\]/;

/** The glob library is loaded only for lists that hold a glob: most name skills plainly, or are empty. */
export async function nameMatcher(patterns: readonly string[]): Promise<NameMatcher> {
  if (!patterns.some((pattern) => GLOB_CHARACTERS.test(pattern))) {
    return (name) => (patterns.includes(name) ? name : undefined);
  }
  const { default: picomatch } = await import("picomatch");
  const compiled = patterns.map((pattern) => ({
    pattern,
    matches: picomatch(pattern, { nonegate: true, noext: true }),
  }));
  return (name) => compiled.find(({ matches }) => matches(name))?.pattern;
}
