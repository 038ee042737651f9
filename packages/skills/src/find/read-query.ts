/** Converts a request to what is searched: terms in the index, candidates for misspelled words, and pairs. */
import type { RankArrays } from "./search-index.ts";
import { eachWord, foldWord, splitCompound, termOf } from "./split-words.ts";
import { indexOf, type TermDictionary } from "./term-dictionary.ts";
import { PARTS } from "./token-store.ts";

/** A query is a request, not a document: anything after this many characters or terms is ignored. */
const MAX_CHARACTERS = 10_000;
const MAX_TERMS = 400;
/** Beyond this many unknown words, similar ones are not searched. */
const MAX_UNKNOWN = 20;
/** The weight of a term that is one letter away from the requested word. */
const NEAR = 0.8;
/** The weight of an adjacent pair relative to a term. */
const PAIR = 0.3;

interface Asked {
  /** The folded word of the request. */
  readonly word: string;
  /** The numbers of the possible terms: one, or those that an unknown word may be a misspelling of. */
  readonly terms: readonly number[];
  /** The weight of each. */
  readonly share: number;
}

/** In request order, with repetitions; a word without similar terms has none. */
export function readAskedWords(query: string, dictionary: TermDictionary): readonly Asked[] {
  const asked: Asked[] = [];
  let unknown = 0;
  const text = query.slice(0, MAX_CHARACTERS);
  eachWord(text, 0, text.length, (word) => {
    for (const each of wordsFor(word, dictionary)) {
      const term = termOf(each);
      if (term === undefined || asked.length === MAX_TERMS) continue;
      const number = dictionary.numberOf(term);
      if (number >= 0) {
        asked.push({ word: foldWord(each), terms: [number], share: 1 });
        continue;
      }
      const terms = ++unknown <= MAX_UNKNOWN ? dictionary.near(term) : [];
      asked.push({ word: foldWord(each), terms, share: NEAR / Math.sqrt(terms.length || 1) });
    }
  });
  return asked;
}

/** A compound that no skill has is searched by its parts. */
function wordsFor(word: string, dictionary: TermDictionary): readonly string[] {
  const parts = splitCompound(word);
  return parts.length === 0 || dictionary.numberOf(termOf(word) ?? "") >= 0 ? [word] : parts;
}

/** The searched words, each once; `deploys` after `deploy` adds nothing. */
export function wordsOf(asked: readonly Asked[]): readonly string[] {
  const seen = new Set<number>();
  const words = new Set<string>();
  for (const { word, terms } of asked) {
    if (terms.length === 0 || terms.some((term) => !seen.has(term))) words.add(word);
    for (const term of terms) seen.add(term);
  }
  return [...words];
}

/** One searched term. */
interface WantedTerm {
  readonly term: number;
  /** The folded word of the request. */
  readonly word: string;
  /** Its weight: the rarer, the more. */
  readonly rarity: number;
}

/** Two terms that are adjacent in the request. */
export interface WantedPair {
  /** Positions in the list of terms. */
  readonly first: number;
  readonly second: number;
  readonly rarity: number;
}

export interface WeighedQuery {
  /** Each once. */
  readonly terms: readonly WantedTerm[];
  readonly pairs: readonly WantedPair[];
}

/** What is searched, and its weight by how many skills have it. */
export function weighQuery(asked: readonly Asked[], arrays: RankArrays): WeighedQuery {
  const { lengths, postingStarts } = arrays;
  const skills = lengths.length / PARTS.length;
  const terms: WantedTerm[] = [];
  const places = new Map<number, number>();
  for (const { word, terms: numbers, share } of asked) {
    for (const term of numbers) {
      if (places.has(term)) continue;
      const count = (postingStarts[term + 1] ?? 0) - (postingStarts[term] ?? 0);
      places.set(term, terms.push({ term, word, rarity: share * rarityOf(count, skills) }) - 1);
    }
  }
  const pairs = neighbours(asked).map(([first, second]) => ({
    first: places.get(first) ?? 0,
    second: places.get(second) ?? 0,
    rarity: PAIR * rarityOf(pairCount(arrays, first, second), skills),
  }));
  return { terms, pairs };
}

function rarityOf(count: number, skills: number): number {
  return Math.log(1 + (skills - count + 0.5) / (count + 0.5));
}

/** One if unknown: if no skill has the pair, it counts nowhere. */
function pairCount(
  { pairStarts, pairSeconds, pairCounts }: RankArrays,
  first: number,
  second: number,
): number {
  const at = indexOf(pairSeconds, second, pairStarts[first] ?? 0, pairStarts[first + 1] ?? 0);
  return at < 0 ? 1 : (pairCounts[at] ?? 1);
}

/** Each two different adjacent terms, once; a word with several meanings has no neighbors. */
function neighbours(asked: readonly Asked[]): readonly (readonly [number, number])[] {
  const pairs = new Map<string, readonly [number, number]>();
  for (let index = 1; index < asked.length; index++) {
    const [first = -1, ...others] = asked[index - 1]?.terms ?? [];
    const [second = -1, ...more] = asked[index]?.terms ?? [];
    const isClear = others.length + more.length === 0 && first >= 0 && second >= 0;
    if (isClear && first !== second) pairs.set(`${first} ${second}`, [first, second]);
  }
  return [...pairs.values()];
}
