/** Draws a multi-line text in a terminal: rows with a prompt before them, and the cursor. */
import { stripVTControlCharacters } from "node:util";
import { characterWidth, splitCharacters, textWidth } from "../output/text-width.ts";
import type { EditBuffer } from "./edit-buffer.ts";

interface DrawnBuffer {
  readonly rows: readonly string[];
  readonly row: number;
  readonly column: number;
}

const TAB = "    ";

/** Further lines are indented to the text of the first. */
export function layOut({ text, cursor }: EditBuffer, prompt: string, columns: number): DrawnBuffer {
  const indent = textWidth(stripVTControlCharacters(prompt));
  const width = Math.max(indent + 2, columns - 1); // Terminals disagree about the cursor in the last column.
  const lead = " ".repeat(indent);
  const rows = [prompt];
  let column = indent;
  let place = { row: 0, column };
  let offset = 0;
  const nextRow = (): void => {
    rows.push(lead);
    column = indent;
  };
  for (const character of splitCharacters(text)) {
    const shown = character === "\t" ? TAB : character;
    const taken = character === "\t" ? TAB.length : characterWidth(character);
    if (character !== "\n" && column + taken > width) nextRow();
    if (offset === cursor) place = { row: rows.length - 1, column };
    offset += character.length;
    if (character === "\n") nextRow();
    else {
      rows[rows.length - 1] += shown;
      column += taken;
    }
  }
  if (offset === cursor) place = { row: rows.length - 1, column };
  return { rows, ...place };
}

/** Draws over its last drawing. If the text is taller than the terminal, shows the part around the cursor. */
interface Drawing {
  draw(drawn: DrawnBuffer, below: readonly string[], height: number): string;
  /** The terminal's width now: rows wider than this wrapped. */
  resized(columns: number): void;
  /** The cursor is at the start of an empty line. */
  forget(): void;
}

const END_OF_ROW = "\u001b[K";
const REST_OF_SCREEN = "\u001b[J";

export function createDrawing(): Drawing {
  let cursorRow = 0;
  let above: readonly string[] = [];
  let cursorColumn = 0;
  let isReflowed = false;
  return {
    resized(columns) {
      isReflowed = true;
      const rowsOf = (width: number): number => Math.max(1, Math.ceil(width / columns));
      const before = above.map((row) => rowsOf(textWidth(stripVTControlCharacters(row))));
      cursorRow = before.reduce((sum, rows) => sum + rows, 0) + Math.floor(cursorColumn / columns);
    },
    forget() {
      [cursorRow, above, cursorColumn] = [0, [], 0];
    },
    draw({ rows, row, column }, below, height) {
      const most = Math.max(1, height - 1);
      const first = Math.max(0, Math.min(row - most + 1, rows.length - most));
      const window = [...rows.slice(first, first + most), ...below].slice(0, most);
      const up = cursorRow > 0 ? `\u001b[${cursorRow}A` : "";
      cursorRow = row - first;
      [above, cursorColumn] = [window.slice(0, cursorRow), column];
      const back = window.length - 1 - cursorRow;
      // Clears row by row: terminals copy a screen cleared from the top into their scrollback.
      const text = [
        `${up}\r${isReflowed ? REST_OF_SCREEN : ""}`,
        window.map((line) => `${line}${END_OF_ROW}`).join("\r\n"),
        REST_OF_SCREEN,
        back > 0 ? `\u001b[${back}A` : "",
        `\r${column > 0 ? `\u001b[${column}C` : ""}`,
      ].join("");
      isReflowed = false;
      return text;
    },
  };
}
