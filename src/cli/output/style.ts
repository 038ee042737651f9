/** Colours and symbols. Text from skills is made safe here before it reaches a terminal. */
import type { SkillStatus } from "../../skill/skill.ts";

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
}

const paint =
  (on: boolean, open: number, close: number) =>
  (text: string): string =>
    on ? `\u001b[${open}m${text}\u001b[${close}m` : text;

export function styleFor(color: boolean): Style {
  return {
    bold: paint(color, 1, 22),
    dim: paint(color, 2, 22),
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

/** Control, bidirectional and other invisible characters: a skill must not be able to write to the terminal. */
const UNSAFE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/gu;

export function safeText(text: string): string {
  return text.replace(UNSAFE, "\ufffd");
}

/** Also without line breaks: a path or name cannot add a line of its own. */
export function safeLine(text: string): string {
  return safeText(text).replace(/[\t\n\r\u2028\u2029]/g, "\ufffd");
}

const HIDDEN = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** JSON over several lines that means exactly the value: what cannot be seen stands in it as its code. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(HIDDEN, (character) =>
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Printable ASCII with single spaces between words. */
const PLAIN = /^[!-~]+(?: [!-~]+)* ?$/;

/** One line, cut to `width` characters with an ellipsis. */
export function cutText(text: string, width: number): string {
  // Most text is plain, and thousands of lines are cut: the careful way is for the rest.
  const head = text.slice(0, width + 1);
  if (PLAIN.test(head))
    return head.length <= width ? head.trimEnd() : `${head.slice(0, width - 1).trimEnd()}…`;
  const line = safeText(text).replace(/\s+/g, " ").trim();
  const characters = [...line.slice(0, 2 * width + 2)];
  return characters.length <= width
    ? line
    : `${characters
        .slice(0, width - 1)
        .join("")
        .trimEnd()}…`;
}

/** `1 skill`, `2 skills`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
