/**
 * What a text must have before it is worth looking for an expression in it: one pass over the text finds the words that all
 * expressions together need, and most of them need not be looked for at all. An expression is never left out wrongly: its
 * words are such that no match is without them, which `test/prose-words.test.ts` holds against matches made from each one.
 */
interface Needs {
  /** One bit for each group of words, of which one must be there. */
  readonly groups: number;
  /** Or one of these texts. */
  readonly marks: readonly string[];
}

const LETTERS = 4;
const TABLE_BITS = 13;
/** By the beginning of a word: the groups that it is in. */
const table = new Uint32Array(1 << TABLE_BITS);
const needsOf = new Map<RegExp, Needs>();
let groupCount = 0;

/**
 * `words` are groups, of each of which every match has a word: its first four letters, or a shorter word as a whole; before
 * it stands no letter, whatever the case. `marks`: a match without those words has one of these, where there are any.
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

/** Expressions that were given words. */
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
/** Between the two cases of a letter. */
const CASE = 32;

/** With the groups of whose words it has any. */
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

/** Two words may have one place: then one of them is looked for in vain. */
function spread(word: number): number {
  return Math.imul(word, 0x9e3779b1) >>> (32 - TABLE_BITS);
}
