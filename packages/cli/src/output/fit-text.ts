/**
 * Wraps lines to a terminal's width: breaks long ones between words and indents the rest. Text between backticks stays
 * whole, because commands are copied from there.
 */
import { stripVTControlCharacters } from "node:util";
import { textWidth } from "./text-width.ts";

/** More indentation would leave no room for words. */
const MOST_INDENT = 24;

export function fitText(text: string, columns: number): string {
  return text
    .split("\n")
    .map((line) => fitLine(line, columns))
    .join("\n");
}

function fitLine(line: string, columns: number): string {
  if (line.length <= columns || widthOf(line) <= columns) return line;
  const lead = /^\s*/.exec(line)?.[0] ?? "";
  const indent = `${lead.slice(0, MOST_INDENT)}  `;
  const rows: string[] = [];
  let row = "";
  for (const part of line.slice(lead.length).match(/(?:`[^`]*`|\S)+\s*/g) ?? []) {
    const before = row === "" ? (rows.length === 0 ? lead : indent) : row;
    if (row !== "" && widthOf(before) + widthOf(part.trimEnd()) > columns) {
      rows.push(row.trimEnd());
      row = indent + part;
    } else row = before + part;
  }
  return [...rows, row].join("\n");
}

function widthOf(text: string): number {
  return textWidth(stripVTControlCharacters(text));
}
