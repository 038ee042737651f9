/** Writes rows of text to a terminal. Words go out only when complete, so the end of a row never breaks one. */
import type { StyledText } from "./markdown-inline.ts";
import { textWidth } from "./text-width.ts";

export interface RowWriter {
  /** The prefix of the line; its further rows are indented to its text. */
  begin(lead: string, look: StyledText["look"]): void;
  write(spans: readonly StyledText[]): void;
  endLine(): void;
  /** Whole lines, unchanged. */
  raw(text: string): void;
  /** What was written since the last call. */
  take(): string;
}

export function createRowWriter(columns: () => number): RowWriter {
  let out = "";
  let indent = 0;
  let column = 0;
  let blanks = 0;
  let word = "";
  let wordWidth = 0;
  const flush = (): void => {
    if (wordWidth === 0) return;
    const isTooLong = column + blanks + wordWidth > columns() && column > indent;
    out += isTooLong ? `\n${" ".repeat(indent)}` : " ".repeat(blanks);
    column = (isTooLong ? indent : column + blanks) + wordWidth;
    out += word;
    [word, wordWidth, blanks] = ["", 0, 0];
  };
  return {
    begin(lead, look) {
      out += lead === "" ? "" : look(lead);
      indent = column = textWidth(lead);
    },
    write(spans) {
      for (const { text, look } of spans) {
        for (const part of text.split(/( +)/)) {
          if (part === "") continue;
          if (part.startsWith(" ")) {
            flush();
            blanks += part.length;
          } else {
            word += look(part);
            wordWidth += textWidth(part);
          }
        }
      }
    },
    endLine() {
      flush();
      out += "\n";
      [column, indent, blanks] = [0, 0, 0];
    },
    raw(text) {
      out += text;
    },
    take() {
      const taken = out;
      out = "";
      return taken;
    },
  };
}
