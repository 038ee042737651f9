/**
 * Which skills fit a request, best first: from documents in memory. Neither network nor model; the same every time. BM25F:
 * a term counts by how rare it is and by its weighted occurrences in all parts together, which saturate. Two terms that
 * are neighbours in the query and in a skill count once more, as a term of their own.
 */
import { compareText } from "@metier/base/text";
import { explainScores, type ScoreExplanation, type ScorePiece } from "./explain-score.ts";
import { eachWord, foldWord, splitCompound, termOf } from "./split-words.ts";
import {
  createTokenStore,
  createVocabulary,
  type FindDocument,
  PARTS,
  type Tokens,
  type Vocabulary,
} from "./token-store.ts";

/** A skill that fits a query. */
export interface FindHit {
  /** The skill's name in the catalog. */
  readonly name: string;
  /** Above 0; comparable between the hits of one query only. */
  readonly score: number;
  /** The skill file; `""` for a skill that has none. */
  readonly location: string;
}

export interface Finder {
  /** How many skills are searched. */
  readonly size: number;
  /** The `k` best, by score, then name, then location; fewer when fewer share a word with the query. */
  find(query: string, k?: number): readonly FindHit[];
  /** Why each of these hits of the query has its score, in their order. */
  explain(query: string, hits: readonly Found[]): readonly ScoreExplanation[];
  /** The words of a query that are looked for, folded, each once. */
  wordsOf(query: string): readonly string[];
}

/** Who was found. */
type Found = Pick<FindHit, "name" | "location">;

const DEFAULT_HITS = 10;

export function buildFinder(documents: Iterable<FindDocument>): Finder {
  const store = createTokenStore(createVocabulary());
  const skills: Found[] = [];
  for (const document of documents) {
    store.add(document);
    skills.push({ name: document.name, location: document.location ?? "" });
  }
  return finderOver(skills, store.finish(), store.vocabulary);
}

/** The finder over skills that are numbers already; `skills` are in the order of the tokens. */
export function finderOver(skills: readonly Found[], tokens: Tokens, vocabulary: Vocabulary): Finder {
  const postings = buildPostings(tokens, vocabulary.terms.length);
  return {
    size: skills.length,
    find(query, k = DEFAULT_HITS) {
      return takeBest(scoreQuery(readQuery(query, vocabulary), postings), skills, k);
    },
    explain(query, hits) {
      const asked = readQuery(query, vocabulary);
      const search = {
        skills: postings.skills,
        words: wordsOf(asked),
        pieces: piecesOf(asked, postings),
        addTo: (scores: Float64Array) => positionAdder(postings, scores),
        partsWith: (skill: number, positions: Uint32Array) => partsWith(postings, skill, positions),
      };
      const isSame = (a: Found, b: Found): boolean => a.name === b.name && a.location === b.location;
      const numbers = hits.map((hit) => skills.findIndex((skill) => isSame(skill, hit)));
      return explainScores(search, numbers);
    },
    wordsOf: (query) => wordsOf(readQuery(query, vocabulary)),
  };
}

/** Each once; `deploys` behind `deploy` looks for nothing new. */
function wordsOf(asked: readonly Asked[]): readonly string[] {
  const seen = new Set<number>();
  const words = new Set<string>();
  for (const { word, terms } of asked) {
    if (terms.length === 0 || terms.some((term) => !seen.has(term))) words.add(word);
    for (const term of terms) seen.add(term);
  }
  return [...words];
}

function takeBest(scores: Float64Array, skills: readonly Found[], k: number): readonly FindHit[] {
  if (!(k > 0)) return [];
  const sorted = scores.filter((score) => score > 0).sort();
  const least = sorted[Math.max(sorted.length - Math.floor(k), 0)];
  if (least === undefined) return [];
  const hits: FindHit[] = [];
  for (const [index, { name, location }] of skills.entries()) {
    const score = scores[index] ?? 0;
    if (score >= least) hits.push({ name, score, location });
  }
  hits.sort(
    (a, b) => b.score - a.score || compareText(a.name, b.name) || compareText(a.location, b.location),
  );
  return hits.slice(0, k);
}

/** A query is a request, not a document: what stands behind this many characters or terms is left out. */
const MAX_CHARACTERS = 10_000;
const MAX_TERMS = 400;
/** Words that are unknown beyond this many are not looked for among similar ones. */
const MAX_UNKNOWN = 20;

/** What a term counts that is only one letter away from the word that was asked for. */
const NEAR = 0.8;

interface Asked {
  /** The word of the request, folded. */
  readonly word: string;
  /** The numbers of the terms that may be meant: one, or those that an unknown word may be a misspelling of. */
  readonly terms: readonly number[];
  /** How much each of them counts. */
  readonly share: number;
}

/** From a request to the terms that are asked for, in the order of the request, with its repetitions; of a word that nothing is like there are no terms. */
function readQuery(query: string, vocabulary: Vocabulary): readonly Asked[] {
  const asked: Asked[] = [];
  let unknown = 0;
  const text = query.slice(0, MAX_CHARACTERS);
  eachWord(text, 0, text.length, (word) => {
    for (const each of wordsFor(word, vocabulary)) {
      const term = termOf(each);
      if (term === undefined || asked.length === MAX_TERMS) continue;
      const number = vocabulary.numberOf(term);
      if (number >= 0) {
        asked.push({ word: foldWord(each), terms: [number], share: 1 });
        continue;
      }
      const terms = ++unknown <= MAX_UNKNOWN ? nearTerms(term, vocabulary.terms) : [];
      asked.push({ word: foldWord(each), terms, share: NEAR / Math.sqrt(terms.length || 1) });
    }
  });
  return asked;
}

/** A compound that no skill has is asked for by its parts. */
function wordsFor(word: string, vocabulary: Vocabulary): readonly string[] {
  const parts = splitCompound(word);
  return parts.length === 0 || vocabulary.numberOf(termOf(word) ?? "") >= 0 ? [word] : parts;
}

const MIN_LENGTH = 4;

/** Their numbers, in the order of the terms as text: the same whatever the numbers are. */
function nearTerms(word: string, terms: readonly string[]): readonly number[] {
  const found: number[] = [];
  if (word.length < MIN_LENGTH || /\d/.test(word)) return found;
  const initial = word.charCodeAt(0);
  for (let number = 0; number < terms.length; number++) {
    const term = terms[number] ?? "";
    if (Math.abs(term.length - word.length) > 1 || term.charCodeAt(0) !== initial) continue;
    if (isOneEdit(word, term)) found.push(number);
  }
  return found.sort((a, b) => compareText(terms[a] ?? "", terms[b] ?? ""));
}

function isOneEdit(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  let at = 0;
  while (at < short.length && short.charCodeAt(at) === long.charCodeAt(at)) at += 1;
  if (short.length < long.length) return short.slice(at) === long.slice(at + 1);
  if (short.slice(at + 1) === long.slice(at + 1)) return true;
  const isSwap =
    short.charCodeAt(at) === long.charCodeAt(at + 1) && short.charCodeAt(at + 1) === long.charCodeAt(at);
  return isSwap && short.slice(at + 2) === long.slice(at + 2);
}

/** How soon further occurrences of a term stop to count. */
const SATURATION = 1.5;
/** What a pair of neighbours counts beside a term. */
const PAIR = 0.3;

/** Adds up what every skill has of what is asked for. */
function scoreQuery(asked: readonly Asked[], postings: Postings): Float64Array {
  const scores = new Float64Array(postings.skills);
  const addPositions = positionAdder(postings, scores);
  for (const { positions, share } of piecesOf(asked, postings)) addPositions(positions, share);
  return scores;
}

/** Each term once, then each two that are neighbours. */
function piecesOf(asked: readonly Asked[], { positionsOf }: Postings): readonly ScorePiece[] {
  const pieces: ScorePiece[] = [];
  const words = new Map<number, string>();
  for (const { word, terms, share } of asked) {
    for (const term of terms) {
      if (!words.has(term)) pieces.push({ words: [word], positions: positionsOf(term), share });
      words.set(term, words.get(term) ?? word);
    }
  }
  for (const [first, second] of neighbours(asked)) {
    const positions = adjacentPositions(positionsOf(first), positionsOf(second));
    pieces.push({ words: [words.get(first) ?? "", words.get(second) ?? ""], positions, share: PAIR });
  }
  return pieces;
}

/** The names of the parts of a skill in which one of these positions lies. */
function partsWith({ firsts }: Postings, skill: number, positions: Uint32Array): readonly string[] {
  return PARTS.flatMap(({ name }, index) => {
    const part = skill * PARTS.length + index;
    const from = firsts[part] ?? 0;
    const to = firsts[part + 1] ?? 0;
    return positions.some((position) => position >= from && position < to) ? [name] : [];
  });
}

/** Adds what a term with these positions gives to each skill; `share` is how much of it counts. */
function positionAdder(
  { firsts, weights, skills }: Postings,
  scores: Float64Array,
): (positions: Uint32Array, share: number) => void {
  const found = new Uint32Array(skills);
  const amounts = new Float64Array(skills);
  return (positions, share) => {
    let count = 0;
    let part = -1;
    let skill = -1;
    for (let index = 0; index < positions.length; index++) {
      const position = positions[index] ?? 0;
      if (position >= (firsts[part + 1] ?? 0)) {
        part = partAt(firsts, part + 1, position);
        const owner = Math.floor(part / PARTS.length);
        if (owner !== skill) {
          skill = owner;
          found[count] = skill;
          amounts[count++] = 0;
        }
      }
      amounts[count - 1] = (amounts[count - 1] ?? 0) + (weights[part] ?? 0);
    }
    const rarity = share * Math.log(1 + (skills - count + 0.5) / (count + 0.5));
    for (let index = 0; index < count; index++) {
      const amount = amounts[index] ?? 0;
      const gain = (rarity * amount * (SATURATION + 1)) / (SATURATION + amount);
      scores[found[index] ?? 0] = (scores[found[index] ?? 0] ?? 0) + gain;
    }
  };
}

/** The part that holds a position, from a part at or before it: in steps that double, then by halves. */
function partAt(firsts: Uint32Array, from: number, position: number): number {
  let low = from;
  let step = 1;
  while (low + step < firsts.length && (firsts[low + step] ?? 0) <= position) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, firsts.length - 1);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((firsts[middle] ?? 0) <= position) low = middle;
    else high = middle;
  }
  return low;
}

/** Each two different terms that follow each other, once; a word with several meanings has no neighbours. */
function neighbours(asked: readonly Asked[]): Iterable<readonly [number, number]> {
  const pairs = new Map<string, readonly [number, number]>();
  for (let index = 1; index < asked.length; index++) {
    const [first = -1, ...others] = asked[index - 1]?.terms ?? [];
    const [second = -1, ...more] = asked[index]?.terms ?? [];
    const isClear = others.length + more.length === 0 && first >= 0 && second >= 0;
    if (isClear && first !== second) pairs.set(`${first} ${second}`, [first, second]);
  }
  return pairs.values();
}

/** The positions of the first term that the second one follows at once. */
function adjacentPositions(first: Uint32Array, second: Uint32Array): Uint32Array {
  const found = new Uint32Array(Math.min(first.length, second.length));
  let count = 0;
  let at = 0;
  for (let index = 0; index < first.length && at < second.length; index++) {
    const wanted = (first[index] ?? 0) + 1;
    while (at < second.length && (second[at] ?? 0) < wanted) at += 1;
    if (second[at] === wanted) found[count++] = wanted - 1;
  }
  return found.subarray(0, count);
}

interface Postings {
  readonly skills: number;
  /** Positions, ascending; empty for a number that no term has. */
  positionsOf(term: number): Uint32Array;
  /** Part by part, skill by skill: the first position, and at the end the first behind all. */
  readonly firsts: Uint32Array;
  /** What one word in that part of that skill counts: the part's weight, less the longer the part is. */
  readonly weights: Float64Array;
}

/**
 * Where each term stands. All tokens of all skills have one running position; a term's postings are its positions in
 * ascending order, and the part of a skill that a position falls into is found by the parts' first positions.
 */
function buildPostings({ lengths, numbers }: Tokens, termCount: number): Postings {
  const firsts = placeParts(lengths);
  const ends = countTerms(numbers, termCount);
  const positions = new Uint32Array(numbers.length);
  const next = ends.slice(0, termCount);
  let token = 0;
  for (let part = 0; part < lengths.length; part++) {
    const length = lengths[part] ?? 0;
    const first = firsts[part] ?? 0;
    for (let offset = 0; offset < length; offset++) {
      const term = numbers[token++] ?? 0;
      const slot = next[term] ?? 0;
      positions[slot] = first + offset;
      next[term] = slot + 1;
    }
  }
  return {
    skills: lengths.length / PARTS.length,
    positionsOf: (term) => positions.subarray(ends[term] ?? 0, ends[term + 1] ?? 0),
    firsts,
    weights: weighParts(lengths),
  };
}

/** One position stays free between parts, so that words of two parts are never neighbours. */
function placeParts(lengths: Uint32Array): Uint32Array {
  const firsts = new Uint32Array(lengths.length + 1);
  let position = 0;
  for (let part = 0; part < lengths.length; part++) {
    firsts[part] = position;
    position += (lengths[part] ?? 0) + 1;
  }
  firsts[lengths.length] = position;
  return firsts;
}

/** For each term where its positions begin, which is where those of the term before it end. */
function countTerms(numbers: Uint32Array, termCount: number): Uint32Array {
  const ends = new Uint32Array(termCount + 1);
  for (let token = 0; token < numbers.length; token++) {
    const behind = (numbers[token] ?? 0) + 1;
    ends[behind] = (ends[behind] ?? 0) + 1;
  }
  for (let term = 1; term <= termCount; term++) ends[term] = (ends[term] ?? 0) + (ends[term - 1] ?? 0);
  return ends;
}

function weighParts(lengths: Uint32Array): Float64Array {
  const count = PARTS.length;
  const sums = PARTS.map(() => 0);
  for (let part = 0; part < lengths.length; part++) {
    sums[part % count] = (sums[part % count] ?? 0) + (lengths[part] ?? 0);
  }
  const averages = sums.map((sum) => (sum * count) / lengths.length || 1);
  return Float64Array.from(lengths, (length, part) => {
    const { weight, lengthNorm } = PARTS[part % count] ?? { weight: 0, lengthNorm: 0 };
    return weight / (1 - lengthNorm + (lengthNorm * length) / (averages[part % count] ?? 1));
  });
}
