/** A Markdown table in columns; a table too wide for the terminal stays as written. */
import { readSpans } from "./markdown-inline.ts";
import type { Style } from "./style.ts";
import { textWidth } from "./text-width.ts";

export function isTableLine(line: string): boolean {
  return /^\s*\|/.test(line);
}

interface Cell {
  readonly shown: string;
  readonly width: number;
}

const DELIMITER = /^\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$/;

export function tableText(lines: readonly string[], style: Style, columns: number): string {
  const [head = "", delimiter = "", ...body] = lines;
  if (!DELIMITER.test(delimiter)) return lines.join("\n");
  const sides = splitCells(delimiter).map((cell) => [cell.startsWith(":"), cell.endsWith(":")] as const);
  const rows = [head, ...body].map((line, row) =>
    splitCells(line).map((cell) => readCell(cell, style, row === 0)),
  );
  const widths = sides.map((_, column) => Math.max(1, ...rows.map((row) => row[column]?.width ?? 0)));
  const total = widths.reduce((sum, width) => sum + width + 3, 0);
  if (total > columns) return lines.join("\n");
  const shown = rows.map((row) =>
    widths
      .map((width, column) => align(row[column] ?? { shown: "", width: 0 }, width, sides[column]))
      .join(style.dim(" │ "))
      .trimEnd(),
  );
  const line = style.dim(widths.map((width) => "─".repeat(width)).join("─┼─"));
  return [shown[0] ?? "", line, ...shown.slice(1)].join("\n");
}

function splitCells(line: string): readonly string[] {
  const inner = line.trim().replace(/^\||(?<!\\)\|$/g, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function readCell(text: string, style: Style, isHead: boolean): Cell {
  const spans = readSpans(text, style);
  const shown = spans.map((span) => span.look(span.text)).join("");
  const width = spans.reduce((sum, span) => sum + textWidth(span.text), 0);
  return { shown: isHead ? style.bold(shown) : shown, width };
}

function align(
  { shown, width }: Cell,
  wanted: number,
  [left, right] = [false, false] as readonly [boolean, boolean],
) {
  const free = Math.max(0, wanted - width);
  const before = right ? (left ? Math.floor(free / 2) : free) : 0;
  return `${" ".repeat(before)}${shown}${" ".repeat(free - before)}`;
}
