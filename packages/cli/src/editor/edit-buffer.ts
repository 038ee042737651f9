/** A text of one or more lines with a cursor, and what keys do to it. Plain values, no terminal. */
import { splitCharacters } from "../output/text-width.ts";

export interface EditBuffer {
  readonly text: string;
  /** A text offset between two characters. */
  readonly cursor: number;
}

type Edit = (buffer: EditBuffer) => EditBuffer;

/** Removes characters that a terminal would obey; line breaks become `\n`. */
export function insertText(typed: string): Edit {
  const text = typed.replace(/\r\n?/g, "\n").replace(/(?![\n\t])[\p{Cc}\p{Cs}]/gu, "");
  return ({ text: old, cursor }) => ({
    text: old.slice(0, cursor) + text + old.slice(cursor),
    cursor: cursor + text.length,
  });
}

const setText = (text: string): EditBuffer => ({ text, cursor: text.length });

const moveTo =
  (find: (buffer: EditBuffer) => number): Edit =>
  (buffer) => ({ text: buffer.text, cursor: find(buffer) });

const deleteTo =
  (find: (buffer: EditBuffer) => number): Edit =>
  (buffer) => {
    const [from, to] = [buffer.cursor, find(buffer)].sort((a, b) => a - b);
    return { text: buffer.text.slice(0, from) + buffer.text.slice(to), cursor: from ?? 0 };
  };

function characterBefore({ text, cursor }: EditBuffer): number {
  return cursor - (splitCharacters(text.slice(0, cursor)).at(-1)?.length ?? 0);
}

function characterAfter({ text, cursor }: EditBuffer): number {
  return cursor + (splitCharacters(text.slice(cursor))[0]?.length ?? 0);
}

function wordBefore({ text, cursor }: EditBuffer): number {
  return text.slice(0, cursor).replace(/[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u, "").length;
}

/** Like a shell: back to the previous space. */
function blankBefore({ text, cursor }: EditBuffer): number {
  return text.slice(0, cursor).replace(/\S*\s*$/, "").length;
}

function wordAfter({ text, cursor }: EditBuffer): number {
  return cursor + (/^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function lineStart({ text, cursor }: EditBuffer): number {
  return text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd({ text, cursor }: EditBuffer): number {
  const end = text.indexOf("\n", cursor);
  return end === -1 ? text.length : end;
}

/** The same column in the line above or below; `undefined` if there is none. */
export function moveByLine(buffer: EditBuffer, direction: "up" | "down"): EditBuffer | undefined {
  const start = lineStart(buffer);
  const column = buffer.cursor - start;
  if (direction === "up") {
    if (start === 0) return undefined;
    const above = { text: buffer.text, cursor: start - 1 };
    return { text: buffer.text, cursor: Math.min(lineStart(above) + column, start - 1) };
  }
  const end = lineEnd(buffer);
  if (end === buffer.text.length) return undefined;
  const below = { text: buffer.text, cursor: end + 1 };
  return { text: buffer.text, cursor: Math.min(end + 1 + column, lineEnd(below)) };
}

/** By Node's key names, prefixed with `ctrl-` and `meta-`. */
export const KEY_EDITS: Readonly<Record<string, Edit>> = {
  left: moveTo(characterBefore),
  "ctrl-b": moveTo(characterBefore),
  right: moveTo(characterAfter),
  "ctrl-f": moveTo(characterAfter),
  home: moveTo(lineStart),
  "ctrl-a": moveTo(lineStart),
  end: moveTo(lineEnd),
  "ctrl-e": moveTo(lineEnd),
  "meta-b": moveTo(wordBefore),
  "ctrl-left": moveTo(wordBefore),
  "meta-left": moveTo(wordBefore),
  "meta-f": moveTo(wordAfter),
  "ctrl-right": moveTo(wordAfter),
  "meta-right": moveTo(wordAfter),
  backspace: deleteTo(characterBefore),
  "ctrl-h": deleteTo(characterBefore),
  delete: deleteTo(characterAfter),
  "ctrl-w": deleteTo(blankBefore),
  "meta-backspace": deleteTo(wordBefore),
  "meta-d": deleteTo(wordAfter),
  "ctrl-u": deleteTo(lineStart),
  "ctrl-k": deleteTo(lineEnd),
  "meta-return": insertText("\n"),
  "meta-enter": insertText("\n"),
};

/** Earlier texts, newest first, after the one being typed. */
export interface HistoryWalk {
  /** `undefined` if there is no further one. */
  move(buffer: EditBuffer, direction: "older" | "newer"): EditBuffer | undefined;
}

export function walkHistory(history: readonly string[]): HistoryWalk {
  let at = -1;
  let draft = "";
  return {
    move(buffer, direction) {
      const next = direction === "older" ? at + 1 : at - 1;
      if (next < -1 || next >= history.length) return undefined;
      if (at === -1) draft = buffer.text;
      at = next;
      return setText(at === -1 ? draft : (history[at] ?? ""));
    },
  };
}

/** A backslash at the end of the text asks for another line instead. */
export function continueLine({ text, cursor }: EditBuffer): EditBuffer | undefined {
  const [backslashes = ""] = /\\*$/.exec(text) ?? [];
  if (cursor !== text.length || backslashes.length % 2 === 0) return undefined;
  return setText(`${text.slice(0, -1)}\n`);
}
