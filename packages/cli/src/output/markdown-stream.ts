/**
 * Markdown for a terminal while it is written: words appear as they come, headings and code line by line, tables when they
 * are whole. Lines are wrapped at words. What would steer the terminal is made visible first.
 */
import { safeText } from "@metier/base/text";
import { readSpans, type StyledText, takeSpans } from "./markdown-inline.ts";
import { isTableLine, tableText } from "./markdown-table.ts";
import type { Style } from "./style.ts";
import { textWidth } from "./text-width.ts";

export interface MarkdownStream {
  /** What can be shown now. */
  push(text: string): string;
  /** The rest; then the stream is at the beginning again. Ends with a line end, unless nothing was written. */
  end(): string;
}

const FENCE = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^\s{0,3}(#{1,6})\s+(\S.*)$/;
/** Signs that close a heading. */
const CLOSING = /(?<=\s)#{1,6}$/;
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9}[.)]))\s+(?:\[([ xX])\]\s+)?/;
const QUOTE = /^\s{0,3}((?:>\s?)+)/;
/** The beginning of a line that may still become one of the above. */
const UNDECIDED =
  /^\s*(?:#.*|\|.*|`{1,2}|`{3}.*|~{1,2}|~{3}.*|[-*_]+|[-*+]\s*(?:\[[ xX]?\]?)?|\d{1,9}[.)]?\s*|[>\s]*)$/;

export function createMarkdownStream(style: Style, columns: () => number): MarkdownStream {
  const writer = createWriter(columns);
  let pending = "";
  /** The kind of the line is known, and a part of it is written. */
  let isLineBegun = false;
  let fence: string | undefined;
  let rows: readonly string[] = [];
  let isBlank = true;

  const endTable = (): void => {
    if (rows.length === 0) return;
    writer.raw(`${tableText(rows, style, columns())}\n`);
    rows = [];
    isBlank = false;
  };
  const beginLine = (line: string): string => {
    const item = ITEM.exec(line);
    const quote = item ? null : QUOTE.exec(line);
    isLineBegun = true;
    isBlank = false;
    if (item) {
      const [whole, blanks = "", , number, box] = item;
      const mark = number ?? (box === undefined ? "•" : box === " " ? "☐" : "☑");
      writer.begin(`${blanks}${mark} `, style.cyan);
      return line.slice(whole.length);
    }
    if (quote) {
      const [whole, marks = ""] = quote;
      writer.begin("│ ".repeat(marks.replace(/\s/g, "").length), style.dim);
      return line.slice(whole.length);
    }
    writer.begin(/^\s*/.exec(line)?.[0] ?? "", style.dim);
    return line.trimStart();
  };
  const writeLine = (spans: readonly StyledText[]): void => {
    writer.write(spans);
    writer.endLine();
    isLineBegun = false;
  };
  const writeHeading = (level: number, title: string): void => {
    const look: StyledText["look"] = level === 1 ? (text) => style.bold(style.underline(text)) : style.bold;
    writer.begin("", look);
    writeLine(readSpans(title, style).map((span) => ({ ...span, look: (text) => look(span.look(text)) })));
  };
  const takeCode = (line: string, mark: string): void => {
    const text = line.trim();
    if (text.startsWith(mark) && text.replaceAll(mark.slice(0, 1), "") === "") fence = undefined;
    else writer.raw(`  ${line}\n`);
  };
  const takeBlank = (): void => {
    if (!isBlank) writer.raw("\n"); // Several blank lines are one.
    isBlank = true;
  };
  const takeBlock = (line: string): void => {
    const [, mark, language = ""] = FENCE.exec(line) ?? [];
    const [, level, title = ""] = HEADING.exec(line) ?? [];
    isBlank = false;
    if (mark !== undefined) {
      fence = mark;
      if (language !== "") writer.raw(`  ${style.dim(language)}\n`);
    } else if (level !== undefined)
      writeHeading(level.length, title.trimEnd().replace(CLOSING, "").trimEnd());
    else if (RULE.test(line)) writer.raw(`${style.dim("─".repeat(Math.min(columns(), 40)))}\n`);
    else writeLine(readSpans(beginLine(line), style));
  };
  const takeLine = (line: string): void => {
    if (isLineBegun) writeLine(readSpans(line, style));
    else if (fence !== undefined) takeCode(line, fence);
    else if (isTableLine(line)) rows = [...rows, line];
    else {
      endTable();
      if (line.trim() === "") takeBlank();
      else takeBlock(line);
    }
  };
  /** Of a line without its end yet. */
  const takePart = (): void => {
    if (fence !== undefined || pending === "") return;
    if (!isLineBegun) {
      if (UNDECIDED.test(pending) || isTableLine(pending)) return;
      endTable();
      pending = beginLine(pending);
    }
    const { spans, rest } = takeSpans(pending, style);
    writer.write(spans);
    pending = rest;
  };
  return {
    push(text) {
      pending += safeText(text.replace(/\r\n?/g, "\n")).replaceAll("\t", "    ");
      for (let end = pending.indexOf("\n"); end !== -1; end = pending.indexOf("\n")) {
        const line = pending.slice(0, end);
        pending = pending.slice(end + 1);
        takeLine(line);
      }
      takePart();
      return writer.take();
    },
    end() {
      if (pending !== "" || isLineBegun) takeLine(pending);
      endTable();
      [pending, fence, isBlank] = ["", undefined, true];
      return writer.take();
    },
  };
}

interface Writer {
  /** What stands before the line; further rows of it begin below its text. */
  begin(lead: string, look: StyledText["look"]): void;
  write(spans: readonly StyledText[]): void;
  endLine(): void;
  /** Whole lines, as they are. */
  raw(text: string): void;
  /** What was written since the last time. */
  take(): string;
}

/** Words go out when they are whole, so that none is broken by the end of a row. */
function createWriter(columns: () => number): Writer {
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
