/**
 * Puts arguments into a skill's body, in one pass: what was put in is never looked at again. A body's own dollar signs
 * (`awk '{print $1}'`, `$5.00`, `$HOME`) stay as they are wherever they can be told from placeholders.
 */
import { splitArguments } from "./split-arguments.ts";

export interface ArgumentValues {
  /** As typed, quotes and all; `""` when none were given. */
  readonly line: string;
  /** The same taken apart. */
  readonly words: readonly string[];
  /** What the skill calls them, in order: its `arguments`. */
  readonly names: readonly string[];
  /** The skill's folder as the reader sees it; absent for a skill without one. */
  readonly skillDirectory?: string | undefined;
}

export interface FilledText {
  readonly text: string;
  /** Whether there was a placeholder for arguments. */
  readonly isUsed: boolean;
}

export function readArguments(
  line = "",
  names: readonly string[] = [],
  skillDirectory?: string,
): ArgumentValues {
  const isBlank = line.trim() === "";
  return { line: isBlank ? "" : line, words: isBlank ? [] : splitArguments(line), names, skillDirectory };
}

/** The whole of it for a body that holds no commands: placeholders, or the arguments at the end. */
export function substituteArguments(body: string, values: ArgumentValues): string {
  const { text, isUsed } = fillPlaceholders(body, values);
  return isUsed ? text : appendArguments(text, values);
}

/**
 * `$ARGUMENTS[N]`, `$ARGUMENTS`, `$name` and `$N`, counted from 0, and `${METIER_SKILL_DIR}`. A backslash before one
 * keeps it as it is written. What was not given is empty; but with no arguments at all, `$N` is the body's own.
 */
export function fillPlaceholders(body: string, values: ArgumentValues): FilledText {
  let isUsed = false;
  const text = body.replace(placeholderPattern(values.names), (...match) => {
    const { backslash, folder, index, all, name, position } = match.at(-1) as Groups;
    const written = match[0] as string;
    if (backslash) return written.slice(1);
    if (folder) return values.skillDirectory ?? written;
    if (position && values.line === "") return written;
    isUsed = true;
    if (all) return values.line;
    const number = name === undefined ? Number(index ?? position) : values.names.indexOf(name);
    return values.words[number] ?? "";
  });
  return { text, isUsed };
}

export function appendArguments(text: string, { line }: ArgumentValues): string {
  return line === "" ? text : `${text.replace(/(?<!\n)\n+$/, "")}\n\nARGUMENTS: ${line}\n`;
}

type Groups = Readonly<
  Partial<Record<"backslash" | "folder" | "index" | "all" | "name" | "position", string | undefined>>
>;

/** At most two digits, and nothing behind them that makes an amount, a longer number or a name of them. */
const POSITION = String.raw`(?<position>0|[1-9]\d?)(?![\w[]|[.,]\d)`;
const FIXED = String.raw`\{(?<folder>(?:METIER|CLAUDE)_SKILL_DIR)\}|ARGUMENTS\[(?<index>\d+)\]|(?<all>ARGUMENTS)(?!\w)`;
const NAME = /^[A-Za-z_][\w-]{0,63}$/;
const MOST_NAMES = 100;

/** The longest name first, so that `$file-name` is not `$file` with something behind it. */
function placeholderPattern(names: readonly string[]): RegExp {
  const usable = names.slice(0, MOST_NAMES).filter((name) => NAME.test(name));
  const longestFirst = usable.sort((a, b) => b.length - a.length);
  const named = usable.length > 0 ? `(?<name>${longestFirst.join("|")})(?!\\w)|` : "";
  return new RegExp(String.raw`(?<backslash>\\)?\$(?:${FIXED}|${named}${POSITION})`, "g");
}
