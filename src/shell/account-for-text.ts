/**
 * A parser that forgives can lose text without a word. So whatever stands between the commands must be blanks,
 * operators, comments or the words of `if` and `while`; else the parse proves nothing.
 */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** A command of words alone. */
  readonly isPlain: boolean;
}

/** How many subshells, groups and negations were found: each has its signs in the text, and no sign stands for nothing. */
export interface Signs {
  subshells: number;
  groups: number;
  negations: number;
}

const COMMENT = /(?<=^|[\s;&|()])#[^\n]*/g;
const BETWEEN = /^(?:[\s;&|(){}!]|\\\n|\b(?:if|then|elif|else|fi|while|until|do|done)\b)*$/;

/** Why the text is not covered; `undefined` when it is. */
export function accountForText(text: string, spans: readonly Span[], signs: Signs): string | undefined {
  const ordered = spans.toSorted((a, b) => a.start - b.start);
  let end = 0;
  let between = "";
  for (const span of [...ordered, { start: text.length, end: text.length }]) {
    const gap = text.slice(end, span.start);
    const isGlued = gap.startsWith("#") && end > 0;
    const left = gap.replace(COMMENT, "");
    if (span.start < end || isGlued || !BETWEEN.test(left)) return "a part of it is not understood";
    between += left;
    end = span.end;
  }
  const count = (sign: string): number => between.split(sign).length - 1;
  const isComplete =
    count("(") === signs.subshells &&
    count(")") === signs.subshells &&
    count("{") === signs.groups &&
    count("}") === signs.groups &&
    count("!") === signs.negations;
  return isComplete ? undefined : "its brackets are not understood";
}
