/**
 * Where each term stands. All tokens of all skills have one running position; a term's postings are its positions in
 * ascending order, and the part of a skill that a position falls into is found by the parts' first positions.
 */
import { PARTS } from "./find-document.ts";
import type { Tokens } from "./token-store.ts";

export interface Postings {
  readonly skills: number;
  /** Positions, ascending; empty for a number that no term has. */
  positionsOf(term: number): Uint32Array;
  /** Part by part, skill by skill: the first position, and at the end the first behind all. */
  readonly firsts: Uint32Array;
  /** What one word in that part of that skill counts: the part's weight, less the longer the part is. */
  readonly weights: Float64Array;
}

export function buildPostings({ lengths, numbers }: Tokens, termCount: number): Postings {
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
