/**
 * The words of a shell command as far as they are known without running it: quotes removed, variables filled in, taints
 * collected.
 */
import type { DoubleQuotedChild, ParsedScript, Word, WordPart } from "unbash";
import { NO_TAINTS, type Taints, taint, UNKNOWN, uniteTaints } from "./code-part.ts";
import { isSecretVariable, secretKindOf } from "./known-secrets.ts";

export interface ShellWord {
  /** With `UNKNOWN` for unknown parts, and `~` for the home folder. */
  readonly value: string;
  readonly taints: Taints;
  /** Quotes, escapes or variables inside a plain word, where they only hide it. */
  readonly isHidden: boolean;
  /** Variables and commands whose values are filled in. */
  readonly expands: boolean;
}

export interface KnownVariable {
  /** `undefined` if unknown. */
  readonly value?: string | undefined;
  readonly taints: Taints;
}

export interface WordContext {
  variable(name: string): KnownVariable | undefined;
  /** The taints of the output of a command in the word, and its text if known. */
  output(script: ParsedScript | undefined): { readonly taints: Taints; readonly value?: string | undefined };
}

interface Piece {
  readonly value: string;
  readonly taints: Taints;
  readonly expands: boolean;
}

export function readShellWord(word: Word, context: WordContext): ShellWord {
  const { value, taints, expands } = joinParts(word.parts, word.value, context);
  const own = secretKindOf(value) ? taint("secret-path", value) : NO_TAINTS;
  return { value, taints: uniteTaints(own, taints), expands, isHidden: hides(word, value) };
}

/** Text that is not a word: a here-document. */
export function readParts(
  parts: readonly WordPart[] | undefined,
  text: string,
  context: WordContext,
): ShellWord {
  return { ...joinParts(parts, text, context), isHidden: false, expands: false };
}

/** `text` is used if it has no parts. */
function joinParts(
  parts: readonly (WordPart | DoubleQuotedChild)[] | undefined,
  text: string,
  context: WordContext,
): Piece {
  const pieces = parts?.map((part) => readPart(part, context)) ?? [plain(text)];
  return {
    value: pieces.map(({ value }) => value).join(""),
    taints: uniteTaints(...pieces.map(({ taints }) => taints)),
    expands: pieces.some(({ expands }) => expands),
  };
}

function plain(value: string): Piece {
  return { value, taints: NO_TAINTS, expands: false };
}

/** Programs that are worth hiding. */
const NOTABLE =
  /^(?:curl|wget|(?:ba|z|da|k)?sh|eval|exec|nc|ncat|socat|python[\d.]*|node|perl|ruby|php|base64|xxd|rm|cat|env|printenv|chmod|dd|sudo|ssh|scp|crontab|osascript|powershell|pwsh)$/;

/** `c""url`, `cu\rl`, `$'\x63url'`, `$a$b`: nobody writes a plain name like this except to hide it. */
function hides({ text, parts }: Word, value: string): boolean {
  const written = (text.split("/").at(-1) ?? "").replace(/["']$/, "");
  if (!NOTABLE.test(value.split("/").at(-1) ?? "") || /\.exe$/i.test(text)) return false;
  if (/^["']\w+$/.test(written)) return false; // Quoted as a whole.
  return (
    /\$/.test(written) ||
    parts?.some(({ type }) => type === "AnsiCQuoted") === true ||
    /\w(?:["'\\])|["']\w/.test(written)
  );
}

function readPart(part: WordPart | DoubleQuotedChild, context: WordContext): Piece {
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "Glob":
      return plain(part.value);
    case "DoubleQuoted":
    case "LocaleString":
      return joinParts(part.parts, "", context);
    case "SimpleExpansion":
      return readVariable(part.text.slice(1), context);
    case "ParameterExpansion": {
      const own = readVariable(part.parameter, context);
      if (part.operation?.type === "Default" && own.value === UNKNOWN) {
        const operand = readShellWord(part.operation.operand, context);
        return {
          value: operand.value === "" ? UNKNOWN : operand.value,
          taints: uniteTaints(own.taints, operand.taints),
          expands: true,
        };
      }
      return part.operation === undefined ? own : { ...own, value: UNKNOWN };
    }
    case "CommandExpansion":
    case "ProcessSubstitution": {
      const { taints, value } = context.output(part.script);
      return { value: value ?? UNKNOWN, taints, expands: true };
    }
    case "ArithmeticExpansion": {
      const { expression } = part;
      const isCommand = expression?.type === "ArithmeticCommandExpansion";
      const taints = isCommand ? context.output(expression.script).taints : NO_TAINTS;
      return { value: UNKNOWN, taints, expands: true };
    }
    default:
      return plain(part.text);
  }
}

function readVariable(name: string, context: WordContext): Piece {
  const known = context.variable(name);
  const own = known === undefined && isSecretVariable(name) ? taint("variable", name) : NO_TAINTS;
  const value = name === "HOME" && known === undefined ? "~" : (known?.value ?? UNKNOWN);
  return { value, taints: uniteTaints(own, known?.taints ?? NO_TAINTS), expands: true };
}
