/**
 * The terms of an index and their numbers, only as arrays of numbers: a file's bytes can be used directly, and a term
 * becomes a string only on request. Finds a term by its text, and those that are one letter away from a word.
 */
import { compareText } from "@metier/base/text";

export interface TermDictionary {
  /** How many terms there are. */
  readonly size: number;
  /** The number of a term; -1 if there is none. */
  numberOf(term: string): number;
  textOf(term: number): string;
  /** The terms that are one letter away from a word, by text, independent of their numbers. */
  near(word: string): readonly number[];
}

/** What finds a term by its text. */
export interface TermArrays {
  /** The UTF-16 units of all terms, concatenated. */
  readonly units: Uint16Array;
  /** For each term where its units start, and finally where the last one's end. */
  readonly starts: Uint32Array;
  /** A hash table with a power of two slots: a term's number plus one, or 0 if empty. */
  readonly slots: Uint32Array;
}

/** What finds similar terms. */
export interface ShapeArrays {
  /** All terms twice, those of one shape adjacent. */
  readonly byShape: Uint32Array;
  /** The occurring shapes, ascending. Two may collide: they only say where to look. */
  readonly shapes: Uint32Array;
  /** For each shape where its terms start in `byShape`, and finally their number. */
  readonly shapeStarts: Uint32Array;
}

/** What a dictionary is made of, in memory and on disk. */
interface DictionaryArrays extends TermArrays, ShapeArrays {}

/** Shorter words, and those with a digit, never count as a misspelling. */
const MIN_LENGTH = 4;

/** From this length, a shape has three letters of a term's start or end. */
const LONG = 8;

/**
 * A word that is one letter off has the intended length, plus or minus one, and starts or ends alike: an edit affects
 * at most two letters, so the first two or the last one are the same, and in long words the first or last three. So a
 * term has two shapes; `length` is the intended term's.
 */
function shapesOf(units: Uint16Array, from: number, to: number, length: number): readonly [number, number] {
  const isLong = length >= LONG;
  const unitAt = (at: number): number => (at >= from && at < to ? (units[at] ?? 0) : 0);
  let begin = Math.imul(length, 0x85ebca6b);
  let end = Math.imul(begin ^ unitAt(from), 0xc2b2ae35);
  for (let at = 0; at < (isLong ? 3 : 2); at++) begin = Math.imul(begin ^ unitAt(from + at), 0x9e3779b1);
  for (let at = 1; at <= (isLong ? 3 : 1); at++) end = Math.imul(end ^ unitAt(to - at), 0x27d4eb2f);
  return [begin >>> 0, end >>> 0];
}

export function packDictionary(terms: readonly string[]): DictionaryArrays {
  const packed = packTerms(terms);
  return { ...packed, ...sortByShape(packed) };
}

export function packTerms(terms: readonly string[]): TermArrays {
  const starts = new Uint32Array(terms.length + 1);
  for (let number = 0; number < terms.length; number++) {
    starts[number + 1] = (starts[number] ?? 0) + (terms[number] ?? "").length;
  }
  const units = new Uint16Array(starts[terms.length] ?? 0);
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(terms.length * 2 + 2)));
  for (let number = 0; number < terms.length; number++) {
    const term = terms[number] ?? "";
    const start = starts[number] ?? 0;
    for (let at = 0; at < term.length; at++) units[start + at] = term.charCodeAt(at);
    let slot = hashOf(term) & (slots.length - 1);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = number + 1;
  }
  return { units, starts, slots };
}

export function sortByShape({ units, starts }: TermArrays): ShapeArrays {
  const size = starts.length - 1;
  const termShapes = new Uint32Array(size * 2);
  for (let number = 0; number < size; number++) {
    const [from, to] = [starts[number] ?? 0, starts[number + 1] ?? 0];
    const [one, other] = shapesOf(units, from, to, to - from);
    termShapes[number * 2] = one;
    termShapes[number * 2 + 1] = other;
  }
  const sorted = termShapes.slice().sort();
  const shapes = sorted.filter((shape, index) => index === 0 || shape !== sorted[index - 1]);
  const shapeStarts = new Uint32Array(shapes.length + 1);
  const places = new Uint32Array(termShapes.length);
  for (let index = 0; index < places.length; index++) {
    const place = indexOf(shapes, termShapes[index] ?? 0);
    places[index] = place;
    shapeStarts[place + 1] = (shapeStarts[place + 1] ?? 0) + 1;
  }
  for (let shape = 1; shape <= shapes.length; shape++) {
    shapeStarts[shape] = (shapeStarts[shape] ?? 0) + (shapeStarts[shape - 1] ?? 0);
  }
  const next = shapeStarts.slice();
  const byShape = new Uint32Array(places.length);
  for (let index = 0; index < places.length; index++) {
    const place = places[index] ?? 0;
    const at = next[place] ?? 0;
    byShape[at] = index >>> 1;
    next[place] = at + 1;
  }
  return { byShape, shapes, shapeStarts };
}

/** The maximum length of a term: a word has at most 64 letters, each of which expands to at most 18. */
const MAX_TERM = 64 * 18;

/** Whether these arrays can be read as a dictionary without going out of bounds. */
export function isDictionary(arrays: DictionaryArrays): boolean {
  const { units, starts, slots, byShape, shapes, shapeStarts } = arrays;
  const size = starts.length - 1;
  return (
    size >= 0 &&
    ascends(starts, units.length) &&
    longest(starts) <= MAX_TERM &&
    ascends(shapeStarts, size * 2) &&
    shapeStarts.length === shapes.length + 1 &&
    byShape.length === size * 2 &&
    // A table without a free slot would be searched forever.
    slots.length > size &&
    Number.isInteger(Math.log2(slots.length)) &&
    slots.includes(0) &&
    areBelow(slots, size + 1) &&
    areBelow(byShape, size)
  );
}

function longest(starts: Uint32Array): number {
  let length = 0;
  for (let term = 1; term < starts.length; term++) {
    length = Math.max(length, (starts[term] ?? 0) - (starts[term - 1] ?? 0));
  }
  return length;
}

function areBelow(numbers: Uint32Array, limit: number): boolean {
  for (let index = 0; index < numbers.length; index++) if ((numbers[index] ?? 0) >= limit) return false;
  return true;
}

/** Whether numbers start at 0, never decrease, and end with this one: where pieces of something start. */
export function ascends(starts: Uint32Array, end: number): boolean {
  if (starts[0] !== 0 || starts[starts.length - 1] !== end) return false;
  for (let index = 1; index < starts.length; index++) {
    if ((starts[index] ?? 0) < (starts[index - 1] ?? 0)) return false;
  }
  return true;
}

/** `shapesOfAll` is called for a word that is not there. */
export function openDictionary(arrays: TermArrays, shapesOfAll: () => ShapeArrays): TermDictionary {
  const { units, starts, slots } = arrays;
  const textOf = (term: number): string =>
    String.fromCharCode(...units.subarray(starts[term] ?? 0, starts[term + 1] ?? 0));
  return {
    size: starts.length - 1,
    textOf,
    numberOf(term) {
      const mask = slots.length - 1;
      for (let slot = hashOf(term) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const number = (slots[slot] ?? 1) - 1;
        if (isTerm(arrays, number, term)) return number;
      }
      return -1;
    },
    near(word) {
      if (word.length < MIN_LENGTH || /\d/.test(word)) return [];
      const found = nearNumbers(arrays, shapesOfAll(), word).map((number) => ({
        number,
        text: textOf(number),
      }));
      return found.sort((a, b) => compareText(a.text, b.text)).map(({ number }) => number);
    },
  };
}

/** FNV-1a over the units. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function isTerm({ units, starts }: TermArrays, number: number, term: string): boolean {
  const start = starts[number] ?? 0;
  if ((starts[number + 1] ?? 0) - start !== term.length) return false;
  for (let at = 0; at < term.length; at++) {
    if (units[start + at] !== term.charCodeAt(at)) return false;
  }
  return true;
}

function nearNumbers({ units, starts }: TermArrays, shaped: ShapeArrays, word: string): readonly number[] {
  const { byShape, shapes, shapeStarts } = shaped;
  const wanted = Uint16Array.from({ length: word.length }, (_, at) => word.charCodeAt(at));
  const found = new Set<number>();
  const lengths = [word.length - 1, word.length, word.length + 1];
  for (const shape of lengths.flatMap((length) => shapesOf(wanted, 0, word.length, length))) {
    const place = indexOf(shapes, shape);
    if (place < 0) continue;
    const end = shapeStarts[place + 1] ?? 0;
    for (let index = shapeStarts[place] ?? 0; index < end; index++) {
      const number = byShape[index] ?? 0;
      const start = starts[number] ?? 0;
      if (isOneEdit(wanted, units, start, (starts[number + 1] ?? 0) - start)) found.add(number);
    }
  }
  return [...found];
}

/** The position of a number among ascending ones; -1 if it is missing. */
export function indexOf(numbers: Uint32Array, wanted: number, from = 0, to = numbers.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low < to && numbers[low] === wanted ? low : -1;
}

/** Whether one letter added, removed or changed, or two swapped, turn the word into the term at this position. */
function isOneEdit(word: Uint16Array, units: Uint16Array, start: number, length: number): boolean {
  const most = Math.min(word.length, length);
  let head = 0;
  while (head < most && word[head] === units[start + head]) head += 1;
  let tail = 0;
  while (tail < most - head && word[word.length - 1 - tail] === units[start + length - 1 - tail]) tail += 1;
  if (head === 0) return false;
  const longer = Math.max(word.length, length);
  if (head + tail >= longer - 1) return Math.abs(word.length - length) <= 1 && head < longer;
  const isSwap = word[head] === units[start + head + 1] && word[head + 1] === units[start + head];
  return isSwap && word.length === length && head + tail === length - 2;
}
