/**
 * Streams Markdown to a terminal: words appear as they come, headings and code line by line, tables when complete.
 * Wraps lines at words, and makes control characters visible first.
 */
import { safeText } from "@metier/base/text";
import { readSpans, type StyledText, takeSpans } from "./markdown-inline.ts";
import { isTableLine, tableText } from "./markdown-table.ts";
import { createRowWriter, type RowWriter } from "./row-writer.ts";
import type { Style } from "./style.ts";

export interface MarkdownStream {
  /** The text that can be shown now. */
  push(text: string): string;
  /** Returns the rest and resets the stream. Ends with a line break unless nothing was written. */
  end(): string;
}

const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(\S.*)$/;
/** Signs that close a heading. */
const CLOSING = /(?<=\s)#{1,6}$/;
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9}[.)]))\s+(?:\[([ xX])\]\s+)?/;
const QUOTE = /^\s{0,3}((?:>\s?)+)/;
/** The start of a line that may still become one of the above. */
const UNDECIDED =
  /^\s*(?:#.*|\|.*|`{1,2}|`{3}.*|~{1,2}|~{3}.*|[-*_]+|[-*+]\s*(?:\[[ xX]?\]?)?|\d{1,9}[.)]?\s*|[>\s]*)$/;

export function createMarkdownStream(style: Style, columns: () => number): MarkdownStream {
  return new MarkdownLines(style, columns);
}

class MarkdownLines implements MarkdownStream {
  readonly #style: Style;
  readonly #columns: () => number;
  readonly #writer: RowWriter;
  #pending = "";
  /** The kind of the line is known, and part of it is written. */
  #isLineBegun = false;
  #fence: string | undefined;
  #rows: readonly string[] = [];
  #isBlank = true;

  constructor(style: Style, columns: () => number) {
    this.#style = style;
    this.#columns = columns;
    this.#writer = createRowWriter(columns);
  }

  push(text: string): string {
    this.#pending += safeText(text.replace(/\r\n?/g, "\n")).replaceAll("\t", "    ");
    for (let end = this.#pending.indexOf("\n"); end !== -1; end = this.#pending.indexOf("\n")) {
      const line = this.#pending.slice(0, end);
      this.#pending = this.#pending.slice(end + 1);
      this.#takeLine(line);
    }
    this.#takePart();
    return this.#writer.take();
  }

  end(): string {
    if (this.#pending !== "" || this.#isLineBegun) this.#takeLine(this.#pending);
    this.#endTable();
    this.#pending = "";
    this.#fence = undefined;
    this.#isBlank = true;
    return this.#writer.take();
  }

  #takeLine(line: string): void {
    if (this.#isLineBegun) this.#writeLine(readSpans(line, this.#style));
    else if (this.#fence !== undefined) this.#takeCode(line, this.#fence);
    else if (isTableLine(line)) this.#rows = [...this.#rows, line];
    else {
      this.#endTable();
      if (line.trim() === "") this.#takeBlank();
      else this.#takeBlock(line);
    }
  }

  /** For a line that hasn't ended yet. */
  #takePart(): void {
    if (this.#fence !== undefined || this.#pending === "") return;
    if (!this.#isLineBegun) {
      if (UNDECIDED.test(this.#pending) || isTableLine(this.#pending)) return;
      this.#endTable();
      this.#pending = this.#beginLine(this.#pending);
    }
    const { spans, rest } = takeSpans(this.#pending, this.#style);
    this.#writer.write(spans);
    this.#pending = rest;
  }

  #takeCode(line: string, mark: string): void {
    const text = line.trim();
    if (text.startsWith(mark) && text.replaceAll(mark.slice(0, 1), "") === "") this.#fence = undefined;
    else this.#writer.raw(`  ${line}\n`);
  }

  #takeBlank(): void {
    if (!this.#isBlank) this.#writer.raw("\n"); // Merges several blank lines into one.
    this.#isBlank = true;
  }

  #takeBlock(line: string): void {
    const [, mark, language = ""] = FENCE.exec(line) ?? [];
    const [, level, title = ""] = HEADING.exec(line) ?? [];
    this.#isBlank = false;
    if (mark !== undefined) {
      this.#fence = mark;
      if (language !== "") this.#writer.raw(`  ${this.#style.dim(language)}\n`);
    } else if (level !== undefined)
      this.#writeHeading(level.length, title.trimEnd().replace(CLOSING, "").trimEnd());
    else if (RULE.test(line))
      this.#writer.raw(`${this.#style.dim("─".repeat(Math.min(this.#columns(), 40)))}\n`);
    else this.#writeLine(readSpans(this.#beginLine(line), this.#style));
  }

  /** Writes the sign that starts the line, and returns the rest. */
  #beginLine(line: string): string {
    const item = ITEM.exec(line);
    const quote = item ? null : QUOTE.exec(line);
    this.#isLineBegun = true;
    this.#isBlank = false;
    if (item) {
      const [whole, blanks = "", , number, box] = item;
      const mark = number ?? (box === undefined ? "•" : box === " " ? "☐" : "☑");
      this.#writer.begin(`${blanks}${mark} `, this.#style.cyan);
      return line.slice(whole.length);
    }
    if (quote) {
      const [whole, marks = ""] = quote;
      this.#writer.begin("│ ".repeat(marks.replace(/\s/g, "").length), this.#style.dim);
      return line.slice(whole.length);
    }
    this.#writer.begin(/^\s*/.exec(line)?.[0] ?? "", this.#style.dim);
    return line.trimStart();
  }

  #writeLine(spans: readonly StyledText[]): void {
    this.#writer.write(spans);
    this.#writer.endLine();
    this.#isLineBegun = false;
  }

  #writeHeading(level: number, title: string): void {
    const { bold, underline } = this.#style;
    const look: StyledText["look"] = level === 1 ? (text) => bold(underline(text)) : bold;
    this.#writer.begin("", look);
    this.#writeLine(
      readSpans(title, this.#style).map((span) => ({ ...span, look: (text) => look(span.look(text)) })),
    );
  }

  #endTable(): void {
    if (this.#rows.length === 0) return;
    this.#writer.raw(`${tableText(this.#rows, this.#style, this.#columns())}\n`);
    this.#rows = [];
    this.#isBlank = false;
  }
}
