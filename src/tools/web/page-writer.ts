/** Puts words together to lines and paragraphs, one blank, line end or empty line between them at most. */

export interface PageWriter {
  /** Runs of blanks become one. */
  writeWords(text: string): void;
  writeExact(text: string): void;
  /** Stands before the next words; another one, also an empty one, takes its place. */
  begin(opening: string): void;
  /** 1: the next words stand on a new line; 2: with an empty line before. */
  breakLine(breaks: 0 | 1 | 2): void;
  mark(): void;
  /** Only when there were words since `mark`. */
  writeIfAny(text: string): void;
  text(): string;
}

export function createPageWriter(): PageWriter {
  const parts: string[] = [];
  let breaks = 0;
  let blank = false;
  let opening = "";
  let marked = 0;
  const write = (text: string): void => {
    if (parts.length > 0) parts.push(breaks > 0 ? "\n".repeat(breaks) : blank ? " " : "");
    parts.push(opening + text);
    breaks = 0;
    blank = false;
    opening = "";
  };
  return {
    writeWords(text) {
      const words = text.replace(/\s+/g, " ");
      if (words.startsWith(" ")) blank = true;
      if (words.trim() !== "") write(words.trim());
      if (words.endsWith(" ")) blank = true;
    },
    writeExact(text) {
      if (text !== "") write(text);
    },
    begin(text) {
      opening = text;
    },
    breakLine(wanted) {
      breaks = Math.max(breaks, wanted);
    },
    mark() {
      marked = parts.length;
    },
    writeIfAny(text) {
      if (parts.length > marked) parts.push(text);
    },
    text: () => parts.join("").trim(),
  };
}
