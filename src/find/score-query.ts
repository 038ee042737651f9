/**
 * BM25F: a term counts by how rare it is and by its weighted occurrences in all parts together, which saturate. Two
 * terms that are neighbours in the query and in a skill count once more, as a term of their own.
 */
import { PARTS } from "./find-document.ts";
import type { Postings } from "./postings.ts";
import type { Asked } from "./read-query.ts";

/** How soon further occurrences of a term stop to count. */
const SATURATION = 1.5;
/** What a pair of neighbours counts beside a term. */
const PAIR = 0.3;

/** Adds up what every skill has of what is asked for. */
export function scoreQuery(asked: readonly Asked[], postings: Postings): Float64Array {
  const scores = new Float64Array(postings.skills);
  const addPositions = positionAdder(postings, scores);
  const seen = new Set<number>();
  for (const { terms, share } of asked) {
    for (const term of terms) {
      if (!seen.has(term)) addPositions(postings.positionsOf(term), share);
      seen.add(term);
    }
  }
  for (const [first, second] of neighbours(asked)) {
    addPositions(adjacentPositions(postings.positionsOf(first), postings.positionsOf(second)), PAIR);
  }
  return scores;
}

/** Adds what a term with these positions gives to each skill; `share` is how much of it counts. */
type AddPositions = (positions: Uint32Array, share: number) => void;

function positionAdder({ firsts, weights, skills }: Postings, scores: Float64Array): AddPositions {
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
