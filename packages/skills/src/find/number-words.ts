/**
 * Converts text to term numbers. Text is read as numbers, and each spelling is resolved to a term once, however often
 * it occurs: a word becomes a string only the first time.
 */
import { endianness } from "node:os";
import { type GrowingNumbers, growingNumbers } from "./growing-numbers.ts";
import { eachWordSpan, termOf } from "./split-words.ts";
import { hashOf } from "./term-dictionary.ts";

export interface WordReader {
  /** The next text to read. */
  load(text: string): void;
  /** Appends the terms of the words between two positions, up to a limit; returns how many more there may be. */
  read(from: number, to: number, into: GrowingNumbers, room: number): number;
}

/** Instead of a stop word's number. */
const NOTHING = 0xffffffff;
const FIRST_SPELLINGS = 2 ** 13;

export function createWordReader(vocabulary: Vocabulary): WordReader {
  const spellings = createSpellings(vocabulary);
  let units = new Uint16Array(2 ** 16);
  let bytes = Buffer.from(units.buffer);
  let loaded = "";
  let into = growingNumbers();
  let left = 0;
  // One function for all lines, instead of one for each.
  const take = (start: number, end: number): void => {
    if (left === 0) return;
    const number = spellings.numberOf(loaded, units, start, end);
    if (number === NOTHING) return;
    into.push(number);
    left -= 1;
  };
  return {
    load(text) {
      loaded = text;
      if (text.length > units.length) {
        units = new Uint16Array(text.length * 2);
        bytes = Buffer.from(units.buffer);
      }
      bytes.write(text, "utf16le");
      if (endianness() === "BE") bytes.swap16();
    },
    read(from, to, target, room) {
      into = target;
      left = room;
      eachWordSpan(units, from, to, take);
      return left;
    },
  };
}

interface Spellings {
  /**
   * The number of the term of the word between two positions; `NOTHING` for a stop word. `units` are those of `text`.
   */
  numberOf(text: string, units: Uint16Array, start: number, end: number): number;
}

/** Numbers per slot: a hash, where the spelling's units end (0 if the slot is empty), their count, the term's number. */
const SLOT = 4;

/** A hash table over the concatenated units of all spellings. */
function createSpellings(vocabulary: Vocabulary): Spellings {
  let pool = new Uint16Array(2 ** 16);
  let poolEnd = 0;
  let count = 0;
  /** At most three quarters of them are used. */
  let slots = new Uint32Array(FIRST_SPELLINGS * 2 * SLOT);

  const enlarge = (): void => {
    const old = slots;
    slots = new Uint32Array(old.length * 2);
    for (let slot = 0; slot < old.length; slot += SLOT) {
      if (old[slot + 1] === 0) continue;
      const free = freeSlot(slots, old[slot] ?? 0);
      for (let at = 0; at < SLOT; at++) slots[free + at] = old[slot + at] ?? 0;
    }
  };
  const add = (text: string, units: Uint16Array, start: number, end: number, hash: number): number => {
    const length = end - start;
    if (poolEnd + length > pool.length) {
      const larger = new Uint16Array(pool.length * 2);
      larger.set(pool);
      pool = larger;
    }
    for (let at = 0; at < length; at++) pool[poolEnd + at] = units[start + at] ?? 0;
    poolEnd += length;
    const word = cutWord(text, units, start, end);
    const term = termOf(word);
    const number = term === undefined ? NOTHING : vocabulary.add(term, term === word ? hash : hashOf(term));
    if (++count * 4 * SLOT > slots.length * 3) enlarge();
    const slot = freeSlot(slots, hash);
    slots[slot] = hash;
    slots[slot + 1] = poolEnd;
    slots[slot + 2] = length;
    slots[slot + 3] = number;
    return number;
  };

  return {
    numberOf(text, units, start, end) {
      let hash = 0x811c9dc5;
      for (let at = start; at < end; at++) hash = Math.imul(hash ^ (units[at] ?? 0), 0x01000193);
      hash = (hash ^ (hash >>> 15)) >>> 0;
      const table = slots;
      const mask = table.length - 1;
      const length = end - start;
      for (let slot = Math.imul(hash, SLOT) & mask; table[slot + 1] !== 0; slot = (slot + SLOT) & mask) {
        if (table[slot] !== hash || table[slot + 2] !== length) continue;
        if (isSame(pool, (table[slot + 1] ?? 0) - length, units, start, length)) return table[slot + 3] ?? 0;
      }
      return add(text, units, start, end, hash);
    },
  };
}

/** In V8 a longer substring is a view, which would keep the whole text. */
const MOST_COPIED = 12;

function cutWord(text: string, units: Uint16Array, start: number, end: number): string {
  if (end - start <= MOST_COPIED) return text.slice(start, end);
  return String.fromCharCode(...units.subarray(start, end));
}

function isSame(a: Uint16Array, atA: number, b: Uint16Array, atB: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (a[atA + at] !== b[atB + at]) return false;
  return true;
}

function freeSlot(slots: Uint32Array, hash: number): number {
  const mask = slots.length - 1;
  let slot = Math.imul(hash, SLOT) & mask;
  while (slots[slot + 1] !== 0) slot = (slot + SLOT) & mask;
  return slot;
}

/** The terms of an index under construction, and their numbers. */
export interface Vocabulary {
  /** By number. */
  readonly terms: readonly string[];
  /** The number of a term; -1 if there is none. */
  numberOf(term: string): number;
  /** The number of a term; a new one gets it now. `hash`: `hashOf` the term, if known. */
  add(term: string, hash?: number): number;
}

export function createVocabulary(known: readonly string[] = []): Vocabulary {
  const terms = [...known];
  const hashes = growingNumbers();
  for (const term of known) hashes.push(hashOf(term));
  /** A number plus one, 0 if empty; at most half of them are used. */
  let slots = new Uint32Array(0);
  const slotOf = (term: string, hash: number): number => {
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let taken = slots[slot] ?? 0; taken !== 0 && terms[taken - 1] !== term; taken = slots[slot] ?? 0) {
      slot = (slot + 1) & mask;
    }
    return slot;
  };
  const enlarge = (room: number): void => {
    slots = new Uint32Array(2 ** Math.ceil(Math.log2(room)));
    const mask = slots.length - 1;
    const known = hashes.view();
    for (let number = 0; number < known.length; number++) {
      let slot = (known[number] ?? 0) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = number + 1;
    }
  };
  enlarge(Math.max(FIRST_SPELLINGS, known.length) * 4);
  const add = (term: string, hash = hashOf(term)): number => {
    const slot = slotOf(term, hash);
    const taken = slots[slot] ?? 0;
    if (taken !== 0) return taken - 1;
    slots[slot] = terms.push(term);
    hashes.push(hash);
    const number = terms.length - 1;
    if (terms.length * 2 > slots.length) enlarge(slots.length * 2);
    return number;
  };
  return { terms, numberOf: (term) => (slots[slotOf(term, hashOf(term))] ?? 0) - 1, add };
}
