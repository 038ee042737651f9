/**
 * Reads one word of a command as a shell would that has nothing to expand. Only what is certain to be the same in
 * every shell is literal: a glob, a leading tilde, a brace list or anything with `$` is not, nor is an unquoted
 * character outside ASCII. The caller compares the value with the parser's, so that two readings must agree.
 */
export type WordReading =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: string };

/** Without a meaning to any shell, wherever they stand in a word. */
const PLAIN = /^[A-Za-z0-9_\-+.,/:=@%^]$/;
/** What a backslash takes the meaning from inside double quotes; before anything else it stays. */
const ESCAPED_IN_QUOTES = /^[$`"\\]$/;

interface Step {
  readonly value: string;
  /** Where the next step begins. */
  readonly end: number;
}

export function readLiteralWord(text: string): WordReading {
  let value = "";
  let at = 0;
  while (at < text.length) {
    const step = readStep(text, at);
    if (typeof step === "string") return { ok: false, reason: step };
    value += step.value;
    at = step.end;
  }
  return { ok: true, value };
}

/** A quoted part or one character; a text says why it is not literal. */
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

/** Characters that are literal in some places only. */
function checkUnquoted(text: string, at: number): string | undefined {
  const character = text.charAt(at);
  switch (character) {
    case "~":
      return at > 0 && !/[=:]/.test(text.charAt(at - 1)) ? undefined : `\`${text}\` may be a home folder`;
    case "#":
      return at > 0 ? undefined : `\`${text}\` begins a comment`;
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
        : `\`${text}\` has letters outside ASCII that are not quoted`;
  }
}
