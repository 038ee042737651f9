/**
 * Reads a command's text without the parser, which is lenient: its characters before parsing, each word a second time,
 * and whether the text contains anything the parser did not report.
 */
import { done, type Result, refused } from "@metier/base/result";
import { nameCodePoint } from "@metier/base/text";

const MAX_LENGTH = 16_384;
/** All but tab and line feed; includes carriage return. */
const CONTROL = /[\x00-\x08\x0B-\x1F\x7F-\x9F]/;
/** Spaces that are not spaces to a shell, invisible and bidirectional characters, lone surrogates. */
const DECEIVING = /(?! )[\p{Z}\p{C}\p{Default_Ignorable_Code_Point}]/u;

/** Why the text is not even parsed; `undefined` if it may be. */
export function checkCommandText(text: string): string | undefined {
  if (text.length > MAX_LENGTH) {
    return `it has ${text.length} characters; the limit for a check is ${MAX_LENGTH}`;
  }
  const found = CONTROL.exec(text) ?? DECEIVING.exec(text.replace(/[\t\n]/g, " "));
  return found === null ? undefined : `it contains the character ${nameCodePoint(found[0])}`;
}

/** Without a meaning to any shell, anywhere in a word. */
const PLAIN = /^[A-Za-z0-9_\-+.,/:=@%^]$/;
/** What a backslash escapes inside double quotes; before anything else it stays. */
const ESCAPED_IN_QUOTES = /^[$`"\\]$/;

interface Step {
  readonly value: string;
  /** Where the next step starts. */
  readonly end: number;
}

/**
 * Reads one word of a command as a shell with nothing to expand would, or says why it is not literal. Only what every
 * shell reads the same way is literal: not a glob, a leading tilde, a brace list, anything with `$`, or an unquoted
 * character outside ASCII. The caller compares the value with the parser's, so two readings must agree.
 */
export function readLiteralWord(text: string): Result<string, string> {
  let value = "";
  let at = 0;
  while (at < text.length) {
    const step = readStep(text, at);
    if (typeof step === "string") return refused(step);
    value += step.value;
    at = step.end;
  }
  return done(value);
}

/** A quoted part or one character; a string says why it is not literal. */
function readStep(text: string, at: number): Step | string {
  const character = text.charAt(at);
  if (PLAIN.test(character)) return { value: character, end: at + 1 };
  if (character === "'") return readSingleQuoted(text, at);
  if (character === '"') return readDoubleQuoted(text, at);
  if (character === "\\") return readEscaped(text, at);
  const reason = checkUnquoted(text, at);
  return reason ?? { value: character, end: at + 1 };
}

function readSingleQuoted(text: string, at: number): Step | string {
  const close = text.indexOf("'", at + 1);
  return close === -1 ? "a quote is not closed" : { value: text.slice(at + 1, close), end: close + 1 };
}

function readDoubleQuoted(text: string, at: number): Step | string {
  let value = "";
  for (let index = at + 1; index < text.length; index++) {
    const character = text.charAt(index);
    if (character === '"') return { value, end: index + 1 };
    if (character === "$" || character === "`") return `\`${text}\` is expanded by the shell`;
    if (character === "\\") {
      const next = text.charAt(index + 1);
      if (next === "\n") return "a line is continued inside a word";
      if (ESCAPED_IN_QUOTES.test(next)) index++;
      value += ESCAPED_IN_QUOTES.test(next) ? next : character;
    } else value += character;
  }
  return "a quote is not closed";
}

function readEscaped(text: string, at: number): Step | string {
  const next = text.charAt(at + 1);
  if (next === "" || next === "\n") return "a line is continued inside a word";
  return { value: next, end: at + 2 };
}

/** Characters that are literal only in some positions. */
function checkUnquoted(text: string, at: number): string | undefined {
  const character = text.charAt(at);
  switch (character) {
    case "~":
      return at > 0 && !/[=:]/.test(text.charAt(at - 1)) ? undefined : `\`${text}\` may be a home folder`;
    case "#":
      return at > 0 ? undefined : `\`${text}\` starts a comment`;
    case "{":
    case "}":
      return /,|\.\.|^\{\w+\}$/.test(text) ? `\`${text}\` has braces that the shell may expand` : undefined;
    case "*":
    case "?":
    case "[":
    case "]":
      return `\`${text}\` is a glob`;
    case "$":
    case "`":
      return `\`${text}\` is expanded by the shell`;
    default:
      return /^[\x20-\x7E]$/.test(character)
        ? `\`${text}\` has an unquoted \`${character}\``
        : `\`${text}\` has unquoted letters outside ASCII`;
  }
}

/** What the parser reported. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** A command that consists only of words. */
  readonly isPlain: boolean;
}

/**
 * How many subshells, groups and negations were found: each must have its symbols in the text, and no symbol may be
 * left over.
 */
export interface Signs {
  subshells: number;
  groups: number;
  negations: number;
}

const COMMENT = /(?<=^|[\s;&|()])#[^\n]*/g;
const BETWEEN = /^(?:[\s;&|(){}!]|\\\n|\b(?:if|then|elif|else|fi|while|until|do|done)\b)*$/;

/**
 * A lenient parser can silently drop text. So everything between commands must be spaces, operators, comments or the
 * words of `if` and `while`; otherwise the parse proves nothing. Returns why the text is not covered; `undefined` if it
 * is.
 */
export function accountForText(text: string, spans: readonly Span[], signs: Signs): string | undefined {
  const ordered = spans.toSorted((a, b) => a.start - b.start);
  let end = 0;
  let between = "";
  for (const span of [...ordered, { start: text.length, end: text.length }]) {
    const gap = text.slice(end, span.start);
    const isGlued = gap.startsWith("#") && end > 0;
    const left = gap.replace(COMMENT, "");
    if (span.start < end || isGlued || !BETWEEN.test(left)) return "part of it is not understood";
    between += left;
    end = span.end;
  }
  const count = (sign: string): number => between.split(sign).length - 1;
  const isComplete =
    count("(") === signs.subshells &&
    count(")") === signs.subshells &&
    count("{") === signs.groups &&
    count("}") === signs.groups &&
    count("!") === signs.negations;
  return isComplete ? undefined : "its brackets are not understood";
}
