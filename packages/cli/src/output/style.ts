/** Colors, symbols, and cutting lines to a width. */
import { safeLine, safeText } from "@metier/base/text";
import type { SkillStatus } from "@metier/skills";

export type Style = Readonly<
  Record<
    "bold" | "dim" | "italic" | "underline" | "strike" | "red" | "yellow" | "green" | "cyan",
    (text: string) => string
  >
>;

const paint =
  (on: boolean, open: number, close: number) =>
  (text: string): string =>
    on ? `\u001b[${open}m${text}\u001b[${close}m` : text;

export function styleFor(color: boolean): Style {
  return {
    bold: paint(color, 1, 22),
    dim: paint(color, 2, 22),
    italic: paint(color, 3, 23),
    underline: paint(color, 4, 24),
    strike: paint(color, 9, 29),
    red: paint(color, 31, 39),
    yellow: paint(color, 33, 39),
    green: paint(color, 32, 39),
    cyan: paint(color, 36, 39),
  };
}

export const STATUS_SYMBOL: Record<SkillStatus, string> = {
  enabled: "✓",
  disabled: "○",
  unavailable: "✗",
  shadowed: "·",
};

const HIDDEN = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Multi-line JSON that means exactly the value: invisible characters appear as escapes. */
export function jsonText(value: unknown): string {
  const codeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const text = JSON.stringify(value, undefined, 2);
  return text.replace(HIDDEN, (character) => character.split("").map(codeOf).join(""));
}

/** Printable ASCII with single spaces between words. */
const PLAIN = /^[!-~]+(?: [!-~]+)* ?$/;

/** One line, cut to `width` characters with an ellipsis. */
export function cutText(text: string, width: number): string {
  // Most text is plain and thousands of lines are cut, so the slow way is only for the rest.
  const head = text.slice(0, width + 1);
  if (PLAIN.test(head))
    return head.length <= width ? head.trimEnd() : `${head.slice(0, width - 1).trimEnd()}…`;
  const line = safeText(text).replace(/\s+/g, " ").trim();
  const characters = [...line.slice(0, 2 * width + 2)];
  if (characters.length <= width) return line;
  const kept = characters.slice(0, width - 1).join("");
  return `${kept.trimEnd()}…`;
}

/** `1 skill`, `2 skills`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** One line for each fact present. */
export function labelled(rows: readonly (readonly [string, string | undefined])[], { dim }: Style): string {
  const shown = rows.filter((row): row is readonly [string, string] => row[1] !== undefined);
  const width = Math.max(...shown.map(([label]) => label.length));
  return shown.map(([label, value]) => `  ${dim(label.padEnd(width))}  ${safeLine(value)}`).join("\n");
}

/** Rows of cells padded to their column width; columns in `numbers` are right-aligned. */
export function alignColumns(
  rows: readonly (readonly string[])[],
  numbers: readonly number[] = [],
): readonly (readonly string[])[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return numbers.includes(column) ? cell.padStart(width) : cell.padEnd(width);
    }),
  );
}
