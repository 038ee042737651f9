/** Skills as numbers: the terms of each part in order, all in one array. What the disk keeps and postings are made of. */
import { ABOUT, eachBodyLine, type FindDocument, NAME, PARTS } from "./find-document.ts";
import { eachWord, splitCompound, termOf } from "./split-words.ts";
import type { Vocabulary } from "./vocabulary.ts";

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
