/** Lines and columns of many offsets in one text. `\n` is its only line end. */
import type { Position } from "../skill/skill.ts";

export type LineFinder = (offset: number) => Position;

export function createLineFinder(text: string, firstLine = 1): LineFinder {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= findLineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: firstLine + low, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
