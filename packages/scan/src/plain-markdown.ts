/**
 * Finds the headings of a Markdown document that has no mark of code or comments. Nothing else in it matters to a scan,
 * so the grammar need not read it. Where a heading might be inside a list or quotation, the grammar decides.
 * `test/plain-markdown.test.ts` compares both.
 */

/** A longer document may have lines or paragraphs that the grammar splits. */
const MOST_CHARACTERS = 16_000;
/** What code and comments start with. */
const MARKS = ["`", "~~~", "<!--"];
const HEADING = /^#{1,6}(?:[ \t\r]|$)/;
/** Spaces, and what opens a list or quotation. */
const MAY_BE_NESTED = /^[\s>*+\d.)-]*$/;

interface Heading {
  readonly from: number;
  readonly to: number;
}

/** In text order; `undefined` if only the grammar can tell. */
export function findPlainHeadings(text: string): readonly Heading[] | undefined {
  if (text.length > MOST_CHARACTERS || MARKS.some((mark) => text.includes(mark))) return undefined;
  const headings: Heading[] = [];
  for (let at = text.indexOf("#"); at !== -1; ) {
    const from = text.lastIndexOf("\n", at) + 1;
    const end = text.indexOf("\n", at);
    const to = end === -1 ? text.length : end;
    if (at > from && MAY_BE_NESTED.test(text.slice(from, at))) return undefined;
    if (at === from && HEADING.test(text.slice(from, to))) headings.push({ from, to });
    at = text.indexOf("#", to);
  }
  return headings;
}
