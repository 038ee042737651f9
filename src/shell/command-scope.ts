/**
 * The scope of a shell pattern: `git:*`, `git log:*`, `npm run test`, `git status *`. It is words, compared one by one;
 * `:*` or a `*` of its own at the end stands for any further words. Nothing else can be held, so nothing else is read.
 */
import { checkProgram } from "./check-program.ts";
import { readLiteralWord } from "./literal-word.ts";

export interface CommandScope {
  /** At least one; the first is the program, exactly as a command must write it. */
  readonly words: readonly string[];
  /** Further words may follow. */
  readonly isOpen: boolean;
}

export type ScopeReading =
  | { readonly ok: true; readonly scope: CommandScope }
  | { readonly ok: false; readonly reason: string };

const PROGRAM = /^[A-Za-z0-9_./+@%[-]+$/;
const WORD = /(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g;
const OPEN_END = /(?::\*|\s+\*)$/;

/** Reads a scope as deny rules need it: the words must be clear, but may name any program. */
export function readCommandScope(text: string): ScopeReading {
  const isOpen = OPEN_END.test(text);
  const listed = text.replace(OPEN_END, "");
  const written = listed.match(WORD) ?? [];
  if (listed.replace(WORD, "").trim() !== "") return unreadable("a quote is not closed");
  const words: string[] = [];
  for (const word of written) {
    const reading = readLiteralWord(word);
    if (!reading.ok) return unreadable(reading.reason);
    words.push(reading.value);
  }
  const [program = ""] = words;
  if (!PROGRAM.test(program)) return unreadable(`\`${program}\` names no program`);
  return { ok: true, scope: { words, isOpen } };
}

/** As an allowing rule needs it: the words must not name what never matches. */
export function readAllowingScope(text: string): ScopeReading {
  const reading = readCommandScope(text);
  if (!reading.ok) return reading;
  const { words, isOpen } = reading.scope;
  const reason = checkProgram(isOpen ? completed(words) : words);
  return reason === undefined ? reading : unreadable(reason);
}

/** `git config:*` is sound as far as it goes: some of what may follow only reads. */
function completed(words: readonly string[]): readonly string[] {
  return words[0] === "git" && words[1] === "config" ? [...words, "--list"] : words;
}

function unreadable(reason: string): ScopeReading {
  return { ok: false, reason };
}
