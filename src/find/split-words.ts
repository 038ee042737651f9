/**
 * From text to words, and from a word to the term it is found by: `kebab-case` and `snake_case` in parts, no stop
 * words, stems. Writing without spaces between words is taken by the character. Knows no index.
 */
import { stemEnglish } from "./stem-english.ts";
import { STOP_WORDS } from "./stop-words.ts";

/** Longer runs of letters and digits are encoded data, not words. */
const MAX_WORD = 64;

const SEPARATOR = 1;
const LETTER = 2;
/** A character that is a word of its own. */
const WORD = 3;

/** The kind of each UTF-16 unit, found out when first met; half a surrogate pair counts as a separator. */
const KINDS = new Uint8Array(65_536);
const IS_WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const IS_LETTER = /[\p{L}\p{N}\p{M}]/u;

/** Gives each word of `text` between `from` and `to`, as written. What follows an apostrophe is left out. */
export function eachWord(text: string, from: number, to: number, visit: (word: string) => void): void {
  let at = from;
  while (at < to) {
    const kind = kindAt(text, at);
    if (kind === WORD) visit(text.charAt(at));
    if (kind !== LETTER) {
      at += 1;
      continue;
    }
    const start = at;
    at = endOfLetters(text, at + 1, to);
    if (at - start <= MAX_WORD) visit(text.slice(start, at));
    if (isApostrophe(text, at)) at = endOfLetters(text, at + 1, to);
  }
}

/** The term of a word as written; `undefined` for a stop word. */
export function termOf(word: string): string | undefined {
  const folded = fold(word);
  return STOP_WORDS.has(folded) ? undefined : stemEnglish(folded);
}

/**
 * The parts of a compound: `parseHTTPRequest` → `parse`, `HTTP`, `Request`; of another word nothing. Running text
 * keeps its compounds whole: most are names (`GitHub`, `JavaScript`), whose parts say something else.
 */
export function splitCompound(word: string): readonly string[] {
  return /[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(word)
    ? word.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    : [];
}

/** One spelling: lower case, compatible forms made one, accents of Latin letters left out. */
function fold(word: string): string {
  if (/^[\x00-\x7f]*$/.test(word)) return word.toLowerCase();
  return word
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
}

function endOfLetters(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && kindAt(text, at) === LETTER) at += 1;
  return at;
}

function isApostrophe(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit === 0x27 || unit === 0x2019;
}

function kindAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  const known = KINDS[unit] ?? 0;
  return known === 0 ? classify(unit) : known;
}

function classify(unit: number): number {
  const character = String.fromCharCode(unit);
  const kind = IS_WORD.test(character) ? WORD : IS_LETTER.test(character) ? LETTER : SEPARATOR;
  KINDS[unit] = kind;
  return kind;
}
