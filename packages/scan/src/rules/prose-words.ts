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
/** The start itself; 0 if several share the slot. */
const starts = new Uint32Array(1 << TABLE_BITS);
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
      const start = startOf(word);
      const place = spread(start);
      const isFree = table[place] === 0 || starts[place] === start;
      table[place] = ((table[place] ?? 0) | bit) >>> 0;
      starts[place] = isFree ? start : 0;
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

/** Texts are read as bytes, one after the other: that takes less time than units of a string. */
let bytes = Buffer.allocUnsafeSlow(64 * 1024);
const MOST_BYTES = 3;

/** With the groups whose words it contains. */
export function readProseText(text: string): ProseText {
  if (bytes.length < text.length * MOST_BYTES) bytes = Buffer.allocUnsafeSlow(text.length * MOST_BYTES);
  const end = bytes.write(text);
  let groups = 0;
  for (let at = 0; at < end; ) {
    const first = (bytes[at++] ?? 0) | CASE;
    if (first < A || first > Z) continue;
    let word = first - A + 1;
    for (let length = 1; at < end; length++, at++) {
      const next = (bytes[at] ?? 0) | CASE;
      if (next < A || next > Z) break;
      if (length < LETTERS) word = word * 27 + (next - A + 1);
    }
    groups |= groupsOf(word);
  }
  return { text, groups: groups >>> 0 };
}

function startOf(word: string): number {
  let number = 0;
  for (const letter of word.toLowerCase().slice(0, LETTERS))
    number = number * 27 + letter.charCodeAt(0) - A + 1;
  return number;
}

function groupsOf(start: number): number {
  const place = spread(start);
  const groups = table[place] ?? 0;
  return groups === 0 || starts[place] === start || starts[place] === 0 ? groups : 0;
}

function spread(word: number): number {
  return Math.imul(word, 0x9e3779b1) >>> (32 - TABLE_BITS);
}
