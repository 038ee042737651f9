/** Allow and deny lists over skill names: `pdf-*`, `{a,b}`, exact names. Patterns come from config; names are untrusted. */
import picomatch from "picomatch";

export type NameMatcher = (name: string) => string | undefined;

/** A function that answers with the first pattern matching a name. */
export function nameMatcher(patterns: readonly string[]): NameMatcher {
  const compiled = patterns.map((pattern) => ({
    pattern,
    matches: picomatch(pattern, { nonegate: true, noext: true }),
  }));
  return (name) => compiled.find(({ matches }) => matches(name))?.pattern;
}
