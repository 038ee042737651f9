/**
 * Finds the best skills for a query without scoring every one. The postings give each skill an upper bound for its
 * score; skills are scored exactly in the order of their bounds, until no other one can be among the best.
 */
import type { WantedPair, WeighedQuery } from "./read-query.ts";
import { type Scorer, type SkillReader, withScorer } from "./score-skill.ts";
import { beforeBit, behindBit, impactBits, MOST_GAIN } from "./search-index.ts";

interface Ranked {
  readonly skill: number;
  /** Above 0. */
  readonly score: number;
}

/** The `k` best and those tied with the last of them, in no order. */
export function rankSkills(reader: SkillReader, wanted: WeighedQuery, k: number): readonly Ranked[] {
  if (wanted.terms.length === 0 || !(k > 0)) return [];
  const bounds = boundSkills(reader, wanted);
  return withScorer(reader, wanted, (scorer) => {
    const best = keepBest(scorer, Math.min(Math.floor(k) || 1, reader.skills));
    // The most promising first: their scores decide who else can win.
    const first = mostPromising(bounds, best.k);
    for (const skill of first) {
      best.score(skill);
      bounds[skill] = 0;
    }
    const others = skillsAbove(bounds, best.least());
    if (others.length > best.k) tightenBounds(reader, wanted, others);
    scoreByBounds(others, bounds, best);
    return best.taken();
  });
}

/** Bounds are sums of 32-bit numbers, rounded at every step: this margin per step is more than the rounding error. */
const ROUNDING = 2 ** -22;

/**
 * What terms contribute by their postings, and the maximum for pairs: a pair occurs no more often than the rarer of its
 * terms, and only where that one has a neighbor of the right kind.
 */
function boundSkills(reader: SkillReader, { terms, pairs }: WeighedQuery): Float32Array {
  const { skills, bounds } = reader;
  const { postings, beside, postingStarts } = reader.arrays;
  const bits = impactBits(skills);
  const levels = 2 ** bits - 1;
  const unit = (MOST_GAIN / levels) * marginFor({ terms, pairs });
  bounds.fill(0);
  for (const { term, rarity } of terms) {
    const factor = rarity * unit;
    const to = postingStarts[term + 1] ?? 0;
    for (let index = postingStarts[term] ?? 0; index < to; index++) {
      const posting = postings[index] ?? 0;
      const skill = posting >>> bits;
      bounds[skill] = (bounds[skill] ?? 0) + factor * (posting & levels);
    }
  }
  for (const { first, second, rarity } of pairs) {
    const { term, bit } = rarerOf(postingStarts, terms[first]?.term ?? 0, terms[second]?.term ?? 0);
    const factor = rarity * unit;
    const to = postingStarts[term + 1] ?? 0;
    for (let index = postingStarts[term] ?? 0; index < to; index++) {
      if (((beside[index] ?? 0) & bit) === 0) continue;
      const posting = postings[index] ?? 0;
      const skill = posting >>> bits;
      bounds[skill] = (bounds[skill] ?? 0) + factor * (posting & levels);
    }
  }
  return bounds;
}

function marginFor({ terms, pairs }: WeighedQuery): number {
  return 1 + ROUNDING * (terms.length + pairs.length + 8);
}

/** The term of a pair with fewer postings, and the bit that says that the other one may be adjacent. */
function rarerOf(starts: Uint32Array, first: number, second: number): { term: number; bit: number } {
  const count = (term: number): number => (starts[term + 1] ?? 0) - (starts[term] ?? 0);
  return count(first) <= count(second)
    ? { term: first, bit: behindBit(second) }
    : { term: second, bit: beforeBit(first) };
}

interface Best {
  readonly k: number;
  score(skill: number): void;
  /** The score a skill needs to be among the `k` best; 0 while there are fewer. */
  least(): number;
  taken(): readonly Ranked[];
}

function keepBest(scorer: Scorer, k: number): Best {
  const ranked: Ranked[] = [];
  const heap = keepLargest(k);
  return {
    k,
    score(skill) {
      const score = scorer.scoreOf(skill);
      ranked.push({ skill, score });
      heap.offer(score);
    },
    least: () => heap.least(),
    taken: () => ranked.filter(({ score }) => score > 0 && score >= heap.least()),
  };
}

/** The `k` with the largest bounds, any of equal ones. */
function mostPromising(bounds: Float32Array, k: number): readonly number[] {
  const heap = keepLargest(k);
  let least = 0;
  for (let skill = 0; skill < bounds.length; skill++) {
    const bound = bounds[skill] ?? 0;
    if (bound <= least) continue;
    heap.offer(bound);
    least = heap.least();
  }
  const found: number[] = [];
  for (let skill = 0; skill < bounds.length && found.length < k; skill++) {
    const bound = bounds[skill] ?? 0;
    if (bound > 0 && bound >= least) found.push(skill);
  }
  return found;
}

function skillsAbove(bounds: Float32Array, least: number): Uint32Array {
  const found = new Uint32Array(bounds.length);
  let count = 0;
  for (let skill = 0; skill < bounds.length; skill++) {
    const bound = bounds[skill] ?? 0;
    if (bound >= least && bound > 0) found[count++] = skill;
  }
  return found.subarray(0, count);
}

/** More numbers than this are not looked up to save some exact scores. */
const MOST_LOOKUPS = 2_000_000;

/** For these skills, ascending, tighter bounds that know for both terms of a pair their weights and neighbors. */
function tightenBounds(reader: SkillReader, wanted: WeighedQuery, skills: Uint32Array): void {
  const { terms } = wanted;
  if (skills.length * terms.length > MOST_LOOKUPS) return;
  const { bounds, arrays } = reader;
  const levels = 2 ** impactBits(reader.skills) - 1;
  const unit = (MOST_GAIN / levels) * marginFor(wanted);
  const places = terms.map(({ term }) => lookUp(reader, term, skills));
  const impactAt = (place: number): number => (arrays.postings[place] ?? 0) & levels;
  for (let index = 0; index < skills.length; index++) {
    let bound = 0;
    for (let term = 0; term < terms.length; term++) {
      const place = places[term]?.[index] ?? 0;
      if (place > 0) bound += (terms[term]?.rarity ?? 0) * impactAt(place - 1);
    }
    for (const pair of wanted.pairs) {
      const one = (places[pair.first]?.[index] ?? 0) - 1;
      const other = (places[pair.second]?.[index] ?? 0) - 1;
      if (!areBeside(arrays.beside, wanted, pair, one, other)) continue;
      bound += pair.rarity * Math.min(impactAt(one), impactAt(other));
    }
    bounds[skills[index] ?? 0] = bound * unit;
  }
}

/** Whether the postings at these positions, -1 if there is none, may have both terms of a pair adjacent. */
function areBeside(
  beside: Uint16Array,
  { terms }: WeighedQuery,
  { first, second }: WantedPair,
  one: number,
  other: number,
): boolean {
  if (one < 0 || other < 0) return false;
  const isBehind = ((beside[one] ?? 0) & behindBit(terms[second]?.term ?? 0)) !== 0;
  return isBehind && ((beside[other] ?? 0) & beforeBit(terms[first]?.term ?? 0)) !== 0;
}

/**
 * Where a term's postings for these skills, ascending, are, plus one; both lists are walked once, in doubling steps.
 */
function lookUp({ arrays, skills: count }: SkillReader, term: number, skills: Uint32Array): Uint32Array {
  const { postings, postingStarts } = arrays;
  const bits = impactBits(count);
  const end = postingStarts[term + 1] ?? 0;
  const places = new Uint32Array(skills.length);
  let at = postingStarts[term] ?? 0;
  for (let index = 0; index < skills.length && at < end; index++) {
    const skill = skills[index] ?? 0;
    let step = 1;
    while (at + step < end && (postings[at + step] ?? 0) >>> bits <= skill) {
      at += step;
      step *= 2;
    }
    while (step > 1) {
      step >>>= 1;
      if (at + step < end && (postings[at + step] ?? 0) >>> bits <= skill) at += step;
    }
    if ((postings[at] ?? 0) >>> bits === skill) places[index] = at + 1;
  }
  return places;
}

/** The largest bound first, until it is below the needed score. */
function scoreByBounds(skills: Uint32Array, bounds: Float32Array, best: Best): void {
  const least = best.least();
  const order = skills
    .filter((skill) => (bounds[skill] ?? 0) >= least)
    .sort((a, b) => (bounds[b] ?? 0) - (bounds[a] ?? 0));
  for (const skill of order) {
    if ((bounds[skill] ?? 0) < best.least()) break;
    best.score(skill);
  }
}

interface Largest {
  offer(value: number): void;
  /** The smallest of the `k` largest; 0 while there are fewer. */
  least(): number;
}

/** A heap with the smallest on top. */
function keepLargest(k: number): Largest {
  const heap: number[] = [];
  const sink = (value: number): void => {
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child += 1;
      if ((heap[child] ?? 0) >= value) break;
      heap[at] = heap[child] ?? 0;
      at = child;
    }
    heap[at] = value;
  };
  const rise = (value: number): void => {
    let at = heap.push(value) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && (heap[parent] ?? 0) > value; parent = (at - 1) >> 1) {
      heap[at] = heap[parent] ?? 0;
      at = parent;
    }
    heap[at] = value;
  };
  return {
    offer(value) {
      if (heap.length < k) rise(value);
      else if (value > (heap[0] ?? 0)) sink(value);
    },
    least: () => (heap.length < k ? 0 : (heap[0] ?? 0)),
  };
}
