/** Measures how many terminal columns a text takes, and fits texts to a width. */

const WIDE =
  /^(?:\p{Emoji_Presentation}|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|[\uFF01-\uFF60\uFFE0-\uFFE6\u3000-\u303E])/u;
const NO_WIDTH = /^[\p{M}\p{Default_Ignorable_Code_Point}]+$/u;
const ASCII = /^[\x20-\x7E]*$/;

/** Created on first use: its data takes about 10 ms to load. */
let segmenter: Intl.Segmenter | undefined;

/** Splits text into what a person sees as single characters. */
export function splitCharacters(text: string): readonly string[] {
  if (ASCII.test(text)) return text.split("");
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** For text without control characters. */
export function textWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  return splitCharacters(text).reduce((sum, character) => sum + characterWidth(character), 0);
}

export function characterWidth(character: string): number {
  if (NO_WIDTH.test(character)) return 0;
  return WIDE.test(character) || character.includes("\uFE0F") ? 2 : 1;
}
