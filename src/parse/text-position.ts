/** Offsets to lines. Texts here have `\n` as their only line end. */
import type { Position } from "../skill/skill.ts";

const NEWLINE = 0x0a;

/** How many line ends stand in `text` from `start` up to `end`. */
export function countLineEnds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", start); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** The offset of the line end that closes the line of `at`, or the end of the text. */
export function findLineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** Where the line of `at` begins. */
export function findLineStart(text: string, at: number): number {
  if (at === 0 || text.charCodeAt(at - 1) === NEWLINE) return at;
  return text.lastIndexOf("\n", at - 1) + 1;
}

/** Line and column of `offset`, when the text's first line is line `firstLine` of its file. */
export function positionAt(text: string, offset: number, firstLine: number): Position {
  const at = Math.min(offset, text.length);
  const lineStart = findLineStart(text, at);
  return { line: firstLine + countLineEnds(text, 0, lineStart), column: at - lineStart + 1 };
}
