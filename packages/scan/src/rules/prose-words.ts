/**
 * Decides whether a text can match an expression at all: one pass finds the words that all expressions need, so that
 * most expressions need not run. An expression is never skipped wrongly: no match is possible without its words, which
 * `test/prose-words.test.ts` verifies with matches generated from each one.
 */
interface Needs {
  /** One bit per group of words, of which one must be present. */
  readonly groups: number;
  /** Or one of these texts. */
  readonly marks: readonly string[];
}

const LETTERS = 4;
const TABLE_BITS = 13;
/** By the start of a word: its groups. */
const table = new Uint32Array(1 << TABLE_BITS);
const needsOf = new Map<RegExp, Needs>();
let groupCount = 0;

/**
 * `words` are groups; every match has a word from each group: its first four letters, or a shorter word as a whole, in
 * any case and not preceded by a letter. `marks`: a match without those words has one of these, if any are given.
 */
export function withWords(pattern: RegExp, words: readonly string[], marks: readonly string[] = []): RegExp {
  let groups = 0;
  for (const group of words) {
    const bit = (1 << groupCount++) >>> 0;
    groups = (groups | bit) >>> 0;
    for (const word of group.split(" ")) {
      const place = placeOf(word);
      table[place] = ((table[place] ?? 0) | bit) >>> 0;
    }
  }
  needsOf.set(pattern, { groups, marks });
  return pattern;
}

/** Expressions with words. */
export function wordedPatterns(): readonly RegExp[] {
  return [...needsOf.keys()];
}

/** `false`: it cannot be in the text. */
export function mayMatch(pattern: RegExp, { text, groups: found }: ProseText): boolean {
  const needs = needsOf.get(pattern);
  if (needs === undefined) return true;
  const { groups, marks } = needs;
  const hasWords = groups !== 0 && (found & groups) >>> 0 === groups;
  return hasWords || marks.some((mark) => text.includes(mark));
}

export interface ProseText {
  readonly text: string;
  readonly groups: number;
}

const A = 97;
const Z = 122;
/** The difference between the two cases of a letter. */
const CASE = 32;

/** With the groups whose words it contains. */
export function readProseText(text: string): ProseText {
  let groups = 0;
  for (let at = 0; at < text.length; ) {
    const first = text.charCodeAt(at++) | CASE;
    if (first < A || first > Z) continue;
    let word = first - A + 1;
    for (let length = 1; at < text.length; length++, at++) {
      const next = text.charCodeAt(at) | CASE;
      if (next < A || next > Z) break;
      if (length < LETTERS) word = word * 27 + (next - A + 1);
    }
    groups |= table[spread(word)] ?? 0;
  }
  return { text, groups: groups >>> 0 };
}

function placeOf(word: string): number {
  let number = 0;
  for (const letter of word.toLowerCase().slice(0, LETTERS))
    number = number * 27 + letter.charCodeAt(0) - A + 1;
  return spread(number);
}

/** Two words may share a slot: then one of them causes a needless search. */
function spread(word: number): number {
  return Math.imul(word, 0x9e3779b1) >>> (32 - TABLE_BITS);
}
