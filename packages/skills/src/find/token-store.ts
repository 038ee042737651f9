/**
 * Skills as numbers: the terms of each part in order, all in one array. This is stored on disk, and postings are built
 * from it.
 */
import { type GrowingNumbers, growingNumbers } from "./growing-numbers.ts";
import { createWordReader, type Vocabulary, type WordReader } from "./number-words.ts";
import { eachWord, splitCompound } from "./split-words.ts";

/** The searched parts of a skill. */
export interface FindDocument {
  readonly name: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly whenToUse?: string | undefined;
  /** The instructions. */
  readonly body: string;
  /** The skill file; returned with a hit. */
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
  /** Copies an already tokenized skill with the same vocabulary. */
  copy(lengths: Uint32Array, numbers: Uint32Array): void;
  finish(): Tokens;
}

/** Tokens beyond this many are not searched: space for some 200 KB of text. */
const MAX_TOKENS = 20_000;

export function createTokenStore(vocabulary: Vocabulary): TokenStore {
  const lengths = growingNumbers();
  const numbers = growingNumbers();
  const parts = PARTS.map(() => growingNumbers());
  const words = createWordReader(vocabulary);

  return {
    vocabulary,

    add(document) {
      takeApart(document, words, parts);
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

/** Anything beyond `MAX_TOKENS` is left out, and its words stay unknown. */
function takeApart(
  { name, description, whenToUse = "", tags = [], body }: FindDocument,
  words: WordReader,
  parts: readonly GrowingNumbers[],
): void {
  let room = MAX_TOKENS;
  const addText = (part: number, text: string): void => {
    words.load(text);
    room = words.read(0, text.length, partAt(parts, part), room);
  };
  eachWord(name, 0, name.length, (word) => {
    for (const each of [...splitCompound(word), word]) addText(NAME, each);
  });
  for (const text of [description, whenToUse, ...tags]) addText(ABOUT, text);
  words.load(body);
  eachBodyLine(body, (part, from, to) => {
    room = words.read(from, to, partAt(parts, part), room);
  });
}

function partAt(parts: readonly GrowingNumbers[], part: number): GrowingNumbers {
  const numbers = parts[part];
  if (numbers === undefined) throw new RangeError(`A skill has no part ${part}.`);
  return numbers;
}

/** The terms of the tokens, numbered by occurrence, as if nothing else had been read. */
export function compactTokens(
  { lengths, numbers }: Tokens,
  terms: readonly string[],
): { readonly tokens: Tokens; readonly terms: readonly string[] } {
  const usedTerms: string[] = [];
  /** By old number the new one plus one. */
  const renumbered = new Uint32Array(terms.length);
  const used = new Uint32Array(numbers.length);
  for (let token = 0; token < numbers.length; token++) {
    const old = numbers[token] ?? 0;
    if (renumbered[old] === 0) renumbered[old] = usedTerms.push(terms[old] ?? "");
    used[token] = (renumbered[old] ?? 1) - 1;
  }
  return { tokens: { lengths, numbers: used }, terms: usedTerms };
}

/** A part of a skill, and the weight of a word in it. */
interface Part {
  readonly name: string;
  /** The weight of a word here, relative to one in prose. */
  readonly weight: number;
  /** From 0 to 1: how much the part's length reduces the weight of each of its words. */
  readonly lengthNorm: number;
}

/**
 * `about` is description, when-to-use and tags. The numbers were tuned on requests for real skills; nearby values rank
 * almost the same (`docs/benchmarks.md` has the results).
 */
export const PARTS: readonly Part[] = [
  { name: "name", weight: 6, lengthNorm: 0.5 },
  { name: "about", weight: 4, lengthNorm: 0.4 },
  { name: "headings", weight: 1.5, lengthNorm: 0.75 },
  { name: "prose", weight: 1, lengthNorm: 0.75 },
  { name: "code", weight: 0.3, lengthNorm: 0.75 },
];

/** Indexes in `PARTS`. */
const NAME = 0;
const ABOUT = 1;
const HEADINGS = 2;
const PROSE = 3;
const CODE = 4;

/** Yields each line of a body with its part. */
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

/** The character of a line's code fence, `""` if it is not one. */
function fenceMark(body: string, from: number, to: number): string {
  let at = from;
  while (at < to && (body.charAt(at) === " " || body.charAt(at) === "\t")) at += 1;
  const mark = body.charAt(at);
  return (mark === "`" || mark === "~") && body.startsWith(mark.repeat(3), at) ? mark : "";
}
