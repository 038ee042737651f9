/**
 * Counts in how many skills two terms are adjacent. Keeps only pairs that at least two skills have: any other pair
 * occurs in at most one skill.
 */
import { growingNumbers } from "./growing-numbers.ts";
import { PARTS, type Tokens } from "./token-store.ts";

interface PairArrays {
  /** For each term, those that follow it in two skills or more, ascending. */
  readonly pairSeconds: Uint32Array;
  /** In how many skills. */
  readonly pairCounts: Uint32Array;
  /** For each term where its pairs start, and finally where the last one's end. */
  readonly pairStarts: Uint32Array;
}

export function countPairs(tokens: Tokens, termCount: number): PairArrays {
  const { seconds, begins, ends } = gatherSeconds(tokens, termCount);
  const pairSeconds = growingNumbers();
  const pairCounts = growingNumbers();
  const pairStarts = new Uint32Array(termCount + 1);
  const counts = new Uint32Array(termCount);
  /** By second term, the first one plus one that its count is for, so that nothing must be cleared. */
  const countedFor = new Uint32Array(termCount);
  for (let first = 0; first < termCount; first++) {
    const begin = begins[first] ?? 0;
    const end = ends[first] ?? 0;
    // Space of what was already read is reused for what occurs twice.
    let keptEnd = begin;
    for (let index = begin; index < end; index++) {
      const second = seconds[index] ?? 0;
      const count = countedFor[second] === first + 1 ? (counts[second] ?? 0) + 1 : 1;
      countedFor[second] = first + 1;
      counts[second] = count;
      if (count === 2) seconds[keptEnd++] = second;
    }
    pairStarts[first + 1] = (pairStarts[first] ?? 0) + keptEnd - begin;
    if (keptEnd - begin > 1) seconds.subarray(begin, keptEnd).sort();
    for (let index = begin; index < keptEnd; index++) {
      const second = seconds[index] ?? 0;
      pairSeconds.push(second);
      pairCounts.push(counts[second] ?? 0);
    }
  }
  return { pairSeconds: pairSeconds.view().slice(), pairCounts: pairCounts.view().slice(), pairStarts };
}

interface Seconds {
  /** For each term what follows it, once per skill. */
  readonly seconds: Uint32Array;
  readonly begins: Uint32Array;
  readonly ends: Uint32Array;
}

/** Words of two parts are never neighbors, and no word is its own. */
function gatherSeconds({ lengths, numbers }: Tokens, termCount: number): Seconds {
  const begins = placeTerms(numbers, termCount);
  const ends = begins.slice();
  const seconds = new Uint32Array(numbers.length);
  const isNew = pairsOfSkill(mostTokens(lengths));
  let token = 0;
  for (let part = 0; part < lengths.length; part++) {
    if (part % PARTS.length === 0) isNew.begin(tokensOf(lengths, part));
    const end = token + (lengths[part] ?? 0);
    for (; token < end - 1; token++) {
      const first = numbers[token] ?? 0;
      const second = numbers[token + 1] ?? 0;
      if (first === second || !isNew.add(first, second)) continue;
      const slot = ends[first] ?? 0;
      seconds[slot] = second;
      ends[first] = slot + 1;
    }
    token = end;
  }
  return { seconds, begins, ends };
}

/** For each term where there is space for as many numbers as it has tokens. */
function placeTerms(numbers: Uint32Array, termCount: number): Uint32Array {
  const begins = new Uint32Array(termCount + 1);
  for (let token = 0; token < numbers.length; token++) {
    const behind = (numbers[token] ?? 0) + 1;
    begins[behind] = (begins[behind] ?? 0) + 1;
  }
  for (let term = 1; term <= termCount; term++) begins[term] = (begins[term] ?? 0) + (begins[term - 1] ?? 0);
  return begins;
}

function tokensOf(lengths: Uint32Array, part: number): number {
  let tokens = 0;
  for (let offset = 0; offset < PARTS.length; offset++) tokens += lengths[part + offset] ?? 0;
  return tokens;
}

function mostTokens(lengths: Uint32Array): number {
  let most = 0;
  for (let part = 0; part < lengths.length; part += PARTS.length) {
    most = Math.max(most, tokensOf(lengths, part));
  }
  return most;
}

interface PairsOfSkill {
  /** The next skill, with this many tokens. */
  begin(tokens: number): void;
  /** Whether the pair is new to the skill. */
  add(first: number, second: number): boolean;
}

/** A hash table as large as the skill needs, cleared by counting the skills. */
function pairsOfSkill(most: number): PairsOfSkill {
  const firsts = new Uint32Array(roomFor(most));
  const seconds = new Uint32Array(firsts.length);
  const owners = new Uint32Array(firsts.length);
  let owner = 0;
  let mask = 0;
  return {
    begin(tokens) {
      owner += 1;
      mask = roomFor(tokens) - 1;
    },
    add(first, second) {
      const mixed = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
      let slot = (mixed ^ (mixed >>> 15)) & mask;
      while (owners[slot] === owner) {
        if (firsts[slot] === first && seconds[slot] === second) return false;
        slot = (slot + 1) & mask;
      }
      owners[slot] = owner;
      firsts[slot] = first;
      seconds[slot] = second;
      return true;
    },
  };
}

/** A power of two that is at most half full with this many. */
function roomFor(tokens: number): number {
  return 2 ** Math.ceil(Math.log2(tokens * 2 + 2));
}
