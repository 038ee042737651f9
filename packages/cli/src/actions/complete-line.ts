/** An unfinished command line, as `metier __complete` reads it: nothing on it is an error yet. */
import { toKebabCase } from "@metier/base/text";
import { COMMON_FLAGS, type DeclaredCommand, type Flag } from "../commands/define.ts";
import { findCommand } from "../commands/groups.ts";

/** A command line up to the word being typed. */
interface TypedLine {
  /** After `skill` or `help`. */
  readonly holder: boolean;
  readonly command?: DeclaredCommand | undefined;
  /** After the command, without options. */
  readonly words: readonly string[];
  /** Options with their values. */
  readonly options: ReadonlyMap<string, readonly string[]>;
  /** The option whose value comes next. */
  readonly open?: string | undefined;
  /** After `--`. */
  readonly isEscaped: boolean;
}

export function readLine(before: readonly string[]): TypedLine {
  let line: TypedLine = { holder: false, words: [], options: new Map(), isEscaped: false };
  for (const word of before) line = readNext(line, word);
  return line;
}

function readNext(line: TypedLine, word: string): TypedLine {
  if (line.open !== undefined) return { ...addOption(line, line.open, word), open: undefined };
  if (!line.isEscaped && word === "--") return { ...line, isEscaped: true };
  return !line.isEscaped && /^-./.test(word) ? readOption(line, word) : readWord(line, word);
}

function readWord(line: TypedLine, word: string): TypedLine {
  if (line.command !== undefined) return { ...line, words: [...line.words, word] };
  if (!line.holder && (word === "skill" || word === "help")) return { ...line, holder: true };
  return { ...line, command: findCommand(word) };
}

function readOption(line: TypedLine, word: string): TypedLine {
  const flags = flagsOf(line.command);
  const [, name = "", value] = /^--?([\w-]+)(?:=(.*))?$/s.exec(word) ?? [];
  const flag = word.startsWith("--") ? findFlag(name, flags) : line.command?.letters[name];
  if (flag === undefined || flags[flag]?.kind === "boolean") return line;
  return value === undefined ? { ...line, open: flag } : addOption(line, flag, value);
}

function addOption(line: TypedLine, flag: string, value: string): TypedLine {
  return {
    ...line,
    options: new Map(line.options).set(flag, [...(line.options.get(flag) ?? []), value]),
  };
}

export function flagsOf(command: DeclaredCommand | undefined): Readonly<Record<string, Flag>> {
  return { ...command?.flags, ...COMMON_FLAGS };
}

export function findFlag(name: string, flags: Readonly<Record<string, Flag>>): string | undefined {
  return Object.keys(flags).find((flag) => toKebabCase(flag) === name || flag === name);
}

const BASH_PART = /(?:\\[\s\S]?|'[^']*'?|"(?:\\[\s\S]|[^"\\])*"?|[^\s'"\\])+|\s+/g;
const BASH_QUOTE = /\\([\s\S]?)|'([^']*)'?|"((?:\\[\s\S]|[^"\\])*)"?/g;

/** The words of a bash line up to the cursor, without quotes; the last one may be unfinished or empty. */
export function readWords(line: string): readonly string[] {
  const parts = line.match(BASH_PART) ?? [];
  const words = parts
    .filter((part) => part.trim() !== "")
    .map((part) =>
      part.replace(BASH_QUOTE, (_, escaped?: string, single?: string, double?: string) => {
        return escaped ?? single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? "";
      }),
    );
  return parts.at(-1)?.trim() === "" ? [...words, ""] : words;
}
