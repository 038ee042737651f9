/**
 * Text of a skill as a model may see it. Taken out: control characters, bidirectional, tag and other invisible
 * characters, and what is no character at all (half a surrogate pair, U+FFFE). Line ends become `\n`.
 */
import { CONTROL_CHARACTERS, nameCodePoint, takeOutInvisible } from "../foundation/hidden-characters.ts";

export interface CleanText {
  readonly text: string;
  /** What was taken out, for a diagnostic; absent when nothing was. */
  readonly removed?: {
    readonly count: number;
    /** One of them, as `U+202E`. */
    readonly example: string;
  };
}

/** Most text is plain, and thousands of descriptions are cleaned. */
const PLAIN = /^[\t\n\x20-\x7E]*$/;
const NO_CHARACTER = /[\p{Surrogate}\p{Noncharacter_Code_Point}]/gu;

export function cleanText(text: string): CleanText {
  if (PLAIN.test(text)) return { text };
  const removed: string[] = [];
  const note = (character: string): string => {
    removed.push(character);
    return "";
  };
  const printable = text
    .replace(/\r\n?/g, "\n")
    .replace(CONTROL_CHARACTERS, note)
    .replace(NO_CHARACTER, note);
  const visible = takeOutInvisible(printable);
  const example = removed[0] ?? visible.hidden[0]?.character;
  return example === undefined
    ? { text: visible.text }
    : {
        text: visible.text,
        removed: { count: removed.length + visible.hidden.length, example: nameCodePoint(example) },
      };
}

/** On one line, for formats in which a line break would begin something new. */
export function cleanLine(text: string): string {
  return cleanText(text)
    .text.replace(/[\s\u0085]+/g, " ")
    .trim();
}
