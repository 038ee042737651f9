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

const COMMENT = /(?<=^|[\s;&|()])#[^\n]*/g;
const BETWEEN = /^(?:[\s;&|(){}!]|\\\n|\b(?:if|then|elif|else|fi|while|until|do|done)\b)*$/;

/** Why the text is not covered; `undefined` when it is. */
export function accountForText(text: string, spans: readonly Span[]): string | undefined {
  const ordered = spans.toSorted((a, b) => a.start - b.start);
  let end = 0;
  for (const span of [...ordered, { start: text.length, end: text.length }]) {
    const gap = text.slice(end, span.start);
    const isComment = gap.startsWith("#") && end > 0;
    if (span.start < end || isComment || !BETWEEN.test(gap.replace(COMMENT, ""))) {
      return "a part of it is not understood";
    }
    end = span.end;
  }
  return undefined;
}
