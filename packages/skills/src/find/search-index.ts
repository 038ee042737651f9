/**
 * What a search reads: the tokens of all skills, for each term which skills have it and its weight there, and how many
 * skills have two terms adjacent. Only arrays of numbers, so that a file's bytes can be used directly.
 */
import { countPairs } from "./count-pairs.ts";
import { growingNumbers } from "./growing-numbers.ts";
import { ascends, isDictionary, packTerms, type ShapeArrays, type TermArrays } from "./term-dictionary.ts";
import { PARTS, type Tokens } from "./token-store.ts";

export interface SearchArrays extends RankArrays, ShapeArrays {}

/** What a search reads if it knows all words. */
export interface RankArrays extends Tokens, TermArrays {
  /** For each term its skills, ascending: a skill's number, with the term's weight there in the low bits. */
  readonly postings: Uint32Array;
  /**
   * For each posting which terms are adjacent in that skill, by eight kinds of terms: low bits after it, high bits
   * before it.
   */
  readonly beside: Uint16Array;
  /** For each term where its postings start, and finally where the last one's end. */
  readonly postingStarts: Uint32Array;
  /** For each term, those that follow it in two skills or more, ascending. */
  readonly pairSeconds: Uint32Array;
  /** In how many skills. */
  readonly pairCounts: Uint32Array;
  /** For each term where its pairs start, and finally where the last one's end. */
  readonly pairStarts: Uint32Array;
}

/** How soon further occurrences of a term stop counting. */
export const SATURATION = 1.5;
/** No number of occurrences counts more. */
export const MOST_GAIN = SATURATION + 1;
const MAX_IMPACT_BITS = 16;

/** The kind of a term that follows another, as a bit of `beside`. */
export function behindBit(term: number): number {
  return 1 << (Math.imul(term, 0x9e3779b1) >>> 29);
}

/** The kind of a term that precedes another, as a bit of `beside`. */
export function beforeBit(term: number): number {
  return 0x100 << (Math.imul(term, 0x9e3779b1) >>> 29);
}

/** How many low bits of a posting hold a term's weight: what the skill's number leaves. */
export function impactBits(skills: number): number {
  return Math.min(Math.clz32(Math.max(skills - 1, 1)), MAX_IMPACT_BITS);
}

/** `terms` by number; every term occurs in a skill. */
export function buildSearchArrays(tokens: Tokens, terms: readonly string[]): RankArrays {
  return {
    ...tokens,
    ...packTerms(terms),
    ...buildPostings(tokens, terms.length),
    ...countPairs(tokens, terms.length),
  };
}

/** The weight of one word in each part of each skill: the part's weight, less the longer the part is. */
export function weighParts(lengths: Uint32Array): Float64Array {
  const count = PARTS.length;
  const sums = PARTS.map(() => 0);
  for (let part = 0; part < lengths.length; part++) {
    sums[part % count] = (sums[part % count] ?? 0) + (lengths[part] ?? 0);
  }
  const averages = sums.map((sum) => (sum * count) / lengths.length || 1);
  const weights = new Float64Array(lengths.length);
  for (let part = 0; part < lengths.length; part++) {
    const { weight, lengthNorm } = PARTS[part % count] ?? { weight: 0, lengthNorm: 0 };
    const length = lengths[part] ?? 0;
    weights[part] = weight / (1 - lengthNorm + (lengthNorm * length) / (averages[part % count] ?? 1));
  }
  return weights;
}

/**
 * A term's weight in a skill is rounded up: the sum of postings is never less than a skill's score, and decides which
 * skills are scored exactly.
 */
export function buildPostings(
  { lengths, numbers }: Tokens,
  termCount: number,
): Pick<SearchArrays, "postings" | "beside" | "postingStarts"> {
  const postingStarts = countSkills(lengths, numbers, termCount);
  const postings = new Uint32Array(postingStarts[termCount] ?? 0);
  const beside = new Uint16Array(postings.length);
  const next = postingStarts.slice(0, termCount);
  const bits = impactBits(lengths.length / PARTS.length);
  const levels = 2 ** bits - 1;
  const weights = weighParts(lengths);
  const { addPart, takeTerms } = gatherTerms(numbers, termCount);
  let token = 0;
  for (let part = 0; part < lengths.length; part++) {
    const end = token + (lengths[part] ?? 0);
    addPart(token, end, weights[part] ?? 0);
    token = end;
    if (part % PARTS.length < PARTS.length - 1) continue;
    const skill = Math.floor(part / PARTS.length);
    takeTerms((term, amount, neighbours) => {
      const impact = Math.min(Math.ceil((amount * levels) / (SATURATION + amount)), levels);
      const slot = next[term] ?? 0;
      next[term] = slot + 1;
      postings[slot] = (skill << bits) | impact;
      beside[slot] = neighbours;
    });
  }
  return { postings, beside, postingStarts };
}

interface GatheredTerms {
  /** Adds the terms of a part, each occurrence by its weight. */
  addPart(from: number, to: number, weight: number): void;
  /** Returns the sums of each term and its neighbors, and clears them. */
  takeTerms(visit: (term: number, amount: number, neighbours: number) => void): void;
}

function gatherTerms(numbers: Uint32Array, termCount: number): GatheredTerms {
  const amounts = new Float64Array(termCount);
  const neighbours = new Uint16Array(termCount);
  const seen = growingNumbers();
  return {
    addPart(from, to, weight) {
      for (let token = from; token < to; token++) {
        const term = numbers[token] ?? 0;
        const amount = amounts[term] ?? 0;
        if (amount === 0) seen.push(term);
        amounts[term] = amount + weight;
        if (token === from) continue;
        const before = numbers[token - 1] ?? 0;
        neighbours[before] = (neighbours[before] ?? 0) | behindBit(term);
        neighbours[term] = (neighbours[term] ?? 0) | beforeBit(before);
      }
    },
    takeTerms(visit) {
      const terms = seen.view();
      for (let index = 0; index < terms.length; index++) {
        const term = terms[index] ?? 0;
        visit(term, amounts[term] ?? 0, neighbours[term] ?? 0);
        amounts[term] = 0;
        neighbours[term] = 0;
      }
      seen.clear();
    },
  };
}

/** Sums how many skills have each term, into where its postings start. */
function countSkills(lengths: Uint32Array, numbers: Uint32Array, termCount: number): Uint32Array {
  const starts = new Uint32Array(termCount + 1);
  /** By term the last skill seen with it, plus one. */
  const last = new Uint32Array(termCount);
  let token = 0;
  for (let part = 0; part < lengths.length; part++) {
    const skill = Math.floor(part / PARTS.length) + 1;
    for (const end = token + (lengths[part] ?? 0); token < end; token++) {
      const term = numbers[token] ?? 0;
      if (last[term] === skill) continue;
      last[term] = skill;
      starts[term + 1] = (starts[term + 1] ?? 0) + 1;
    }
  }
  for (let term = 1; term <= termCount; term++) starts[term] = (starts[term] ?? 0) + (starts[term - 1] ?? 0);
  return starts;
}

/** Whether these arrays can be searched without going out of bounds, whoever made them. */
export function isSearchable(arrays: SearchArrays): boolean {
  const { lengths, numbers, postings, beside, postingStarts, pairSeconds, pairCounts, pairStarts, starts } =
    arrays;
  let tokens = 0;
  for (let part = 0; part < lengths.length; part++) tokens += lengths[part] ?? 0;
  return (
    isDictionary(arrays) &&
    lengths.length % PARTS.length === 0 &&
    tokens === numbers.length &&
    postingStarts.length === starts.length &&
    ascends(postingStarts, postings.length) &&
    beside.length === postings.length &&
    pairStarts.length === starts.length &&
    ascends(pairStarts, pairSeconds.length) &&
    pairCounts.length === pairSeconds.length
  );
}
