/** What is expected of a text, in tests and scripts, and whether a text is so. */

/** A text alone means `contains`. All that is said must hold. */
export type TextExpectation = string | TextRequirements;

export interface TextRequirements {
  readonly contains?: string | readonly string[];
  readonly excludes?: string | readonly string[];
  readonly equals?: string;
  /** A regular expression. Where nobody vouches for the text of one, an engine that is safe to use with it. */
  readonly matches?: string | TextPattern;
}

/** Also a `RegExp`. */
export interface TextPattern {
  test(text: string): boolean;
}

const MOST_SHOWN = 600;

/** In words, what of the expectation does not hold; nothing when all of it does. */
export function compareText(
  what: string,
  expected: TextExpectation | undefined,
  came: string,
): string | undefined {
  if (expected === undefined || fits(expected, came)) return undefined;
  return `expected of ${what}\n  ${JSON.stringify(expected)}\nbut it was\n  ${shortenText(came)}`;
}

function fits(expected: TextExpectation, came: string): boolean {
  const requirements = typeof expected === "string" ? { contains: expected } : expected;
  const { contains = [], excludes = [], equals, matches }: TextRequirements = requirements;
  const pattern = typeof matches === "string" ? new RegExp(matches, "u") : matches;
  return (
    [contains].flat().every((part) => came.includes(part)) &&
    ![excludes].flat().some((part) => came.includes(part)) &&
    (equals === undefined || came === equals) &&
    (pattern === undefined || pattern.test(came))
  );
}

/** In quotes, so that what stands at its ends is seen. */
export function shortenText(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
}
