/**
 * Which calls of `sed` are certain to only read and print: known options, and scripts of the plain commands. The
 * commands `e`, `w`, `r` and their flags start programs or touch files, and are simply not in this grammar.
 */
const ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n]|\\[^\n])*/[IM]?)`;
const RANGE = String.raw`(?:${ADDRESS}(?:,(?:${ADDRESS}|[+~]\d+))?\s*(?:!\s*)?)?`;
const SUBSTITUTE = String.raw`s([/|#,:%@])(?:(?!\1)[^\\\n]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiImM0-9]*`;
const COMMAND = new RegExp(
  String.raw`[\s;]*${RANGE}(?:[pPdDnNgGhHx=l]|[qQ]\d*|${SUBSTITUTE})[ \t]*(?:[;\n]|$)`,
  "y",
);

/** Longer scripts are not read. */
const MAX_SCRIPT = 2000;
const FLAGS = /^-[nErsuz]+$/;
/** The next word is a script. */
const EXPRESSION = /^(?:-[nErsuz]*e|--expression)$/;
const LONG_FLAGS: ReadonlySet<string> = new Set([
  "--quiet",
  "--silent",
  "--regexp-extended",
  "--separate",
  "--unbuffered",
  "--null-data",
  "--posix",
  "--sandbox",
  "--debug",
]);

/** The word because of which the call is not certain. */
export function findRefusedInSed(args: readonly string[]): string | undefined {
  let hasScript = false;
  let isExpression = false;
  for (const word of args) {
    const isOption: boolean = !isExpression && word.startsWith("-") && word.length > 1;
    const isScript: boolean = isExpression || (!isOption && !hasScript);
    if (isScript && !isPlainScript(word)) return word;
    if (isOption && !isSoundOption(word)) return word;
    hasScript ||= isScript;
    isExpression = isOption && EXPRESSION.test(word);
  }
  return undefined;
}

function isSoundOption(word: string): boolean {
  return FLAGS.test(word) || EXPRESSION.test(word) || LONG_FLAGS.has(word);
}

function isPlainScript(script: string): boolean {
  if (script.length > MAX_SCRIPT) return false;
  let at = 0;
  while (at < script.length && script.slice(at).trim() !== "") {
    COMMAND.lastIndex = at;
    if (!COMMAND.test(script)) return false;
    at = COMMAND.lastIndex;
  }
  return true;
}
