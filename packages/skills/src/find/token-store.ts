/** Skills as numbers: the terms of each part in order, all in one array. What the disk keeps and postings are made of. */
import { eachWord, splitCompound, termOf } from "./split-words.ts";

/** What of a skill is searched. */
export interface FindDocument {
  readonly name: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly whenToUse?: string | undefined;
  /** The instructions. */
  readonly body: string;
  /** The skill file; given back with a hit. */
  readonly location?: string;
}

export interface Tokens {
  /** For each skill the number of tokens in each of its parts. */
  readonly lengths: Uint32Array;
  /** Term numbers: skill by skill, part by part. */
  readonly numbers: Uint32Array;
}

export interface TokenStore {
  readonly vocabulary: Vocabulary;
  add(document: FindDocument): void;
  /** Takes over a skill that is numbers already, in the same vocabulary. */
  copy(lengths: Uint32Array, numbers: Uint32Array): void;
  finish(): Tokens;
}

/** What a skill has beyond this many tokens is not searched: room for some 200 KB of text. */
const MAX_TOKENS = 20_000;
/** Longer substrings are views, which would keep the whole skill file in memory. */
const MAX_COPIED = 12;

export function createTokenStore(vocabulary: Vocabulary): TokenStore {
  const lengths = growingNumbers();
  const numbers = growingNumbers();
  const parts = PARTS.map(() => growingNumbers());
  const numberOf = wordNumberer(vocabulary);

  return {
    vocabulary,

    add(document) {
      takeApart(document, numberOf, parts);
      for (const part of parts) {
        const taken = part.view();
        numbers.append(taken);
        lengths.push(taken.length);
        part.clear();
      }
    },

    copy(skillLengths, skillNumbers) {
      lengths.append(skillLengths);
      numbers.append(skillNumbers);
    },

    finish: () => ({ lengths: lengths.view().slice(), numbers: numbers.view().slice() }),
  };
}

/** The number of a word as written; -1 for a stop word. */
type NumberOfWord = (word: string) => number;

/** Each spelling is made a term once, however often it occurs. */
function wordNumberer(vocabulary: Vocabulary): NumberOfWord {
  const spellings = new Map<string, number>();
  return (word) => {
    const known = spellings.get(word);
    if (known !== undefined) return known;
    const own = word.length > MAX_COPIED ? Buffer.from(word, "utf16le").toString("utf16le") : word;
    const term = termOf(own);
    const number = term === undefined ? -1 : vocabulary.add(term);
    spellings.set(own, number);
    return number;
  };
}

function takeApart(
  { name, description, whenToUse = "", tags = [], body }: FindDocument,
  numberOf: NumberOfWord,
  parts: readonly GrowingNumbers[],
): void {
  let room = MAX_TOKENS;
  const addWord = (part: number, word: string): void => {
    const number = room > 0 ? numberOf(word) : -1;
    if (number < 0) return;
    parts[part]?.push(number);
    room -= 1;
  };
  eachWord(name, 0, name.length, (word) => {
    for (const each of [...splitCompound(word), word]) addWord(NAME, each);
  });
  for (const text of [description, whenToUse, ...tags]) {
    eachWord(text, 0, text.length, (word) => addWord(ABOUT, word));
  }
  eachBodyLine(body, (part, from, to) => eachWord(body, from, to, (word) => addWord(part, word)));
}

interface GrowingNumbers {
  push(number: number): void;
  append(numbers: Uint32Array): void;
  clear(): void;
  /** What is in it now; overwritten by what comes next. */
  view(): Uint32Array;
}

function growingNumbers(): GrowingNumbers {
  let room = new Uint32Array(1024);
  let length = 0;
  const reserve = (wanted: number): void => {
    if (wanted <= room.length) return;
    const larger = new Uint32Array(Math.max(wanted, room.length * 2));
    larger.set(room.subarray(0, length));
    room = larger;
  };
  return {
    push(number) {
      if (length === room.length) reserve(length + 1);
      room[length++] = number;
    },
    append(numbers) {
      reserve(length + numbers.length);
      room.set(numbers, length);
      length += numbers.length;
    },
    clear() {
      length = 0;
    },
    view: () => room.subarray(0, length),
  };
}

export function sumOf(numbers: Uint32Array): number {
  let sum = 0;
  for (let index = 0; index < numbers.length; index++) sum += numbers[index] ?? 0;
  return sum;
}

/** A part of a skill, and how much a word in it counts. */
interface Part {
  readonly name: string;
  /** How much a word counts here, beside one in prose. */
  readonly weight: number;
  /** From 0 to 1: how much the length of the part takes from the weight of each of its words. */
  readonly lengthNorm: number;
}

/**
 * `about` is description, when-to-use and tags. The numbers were chosen on requests for real skills; neighbouring
 * values rank almost alike (`docs/benchmarks.md` has what they achieve).
 */
export const PARTS: readonly Part[] = [
  { name: "name", weight: 6, lengthNorm: 0.5 },
  { name: "about", weight: 4, lengthNorm: 0.4 },
  { name: "headings", weight: 1.5, lengthNorm: 0.75 },
  { name: "prose", weight: 1, lengthNorm: 0.75 },
  { name: "code", weight: 0.3, lengthNorm: 0.75 },
];

/** Places in `PARTS`. */
const NAME = 0;
const ABOUT = 1;
const HEADINGS = 2;
const PROSE = 3;
const CODE = 4;

/** Gives each line of a body with the part it belongs to. */
function eachBodyLine(body: string, visit: (part: number, from: number, to: number) => void): void {
  let fence = "";
  for (let from = 0; from < body.length; ) {
    const found = body.indexOf("\n", from);
    const to = found < 0 ? body.length : found;
    const mark = fenceMark(body, from, to);
    if (mark !== "" && (fence === "" || fence === mark)) {
      fence = fence === "" ? mark : "";
    } else if (fence !== "") {
      visit(CODE, from, to);
    } else {
      visit(body.charAt(from) === "#" ? HEADINGS : PROSE, from, to);
    }
    from = to + 1;
  }
}

/** The character of a line's code fence, `""` when it is none. */
function fenceMark(body: string, from: number, to: number): string {
  let at = from;
  while (at < to && (body.charAt(at) === " " || body.charAt(at) === "\t")) at += 1;
  const mark = body.charAt(at);
  return (mark === "`" || mark === "~") && body.startsWith(mark.repeat(3), at) ? mark : "";
}

/** The terms of an index and their numbers. */
export interface Vocabulary {
  /** By number. */
  readonly terms: readonly string[];
  /** The number of a term; -1 when there is no such term. */
  numberOf(term: string): number;
  /** The number of a term, which a new one gets now. */
  add(term: string): number;
}

export function createVocabulary(known: readonly string[] = []): Vocabulary {
  const terms = [...known];
  const numbers = new Map(terms.map((term, number) => [term, number]));
  return {
    terms,
    numberOf: (term) => numbers.get(term) ?? -1,
    add(term) {
      const found = numbers.get(term);
      if (found !== undefined) return found;
      numbers.set(term, terms.length);
      return terms.push(term) - 1;
    },
  };
}
