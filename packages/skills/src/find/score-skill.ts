/**
 * The exact score of one skill from its tokens. BM25F: a term counts by its rarity and by its weighted occurrences in
 * all parts together, which saturate. Two terms that are adjacent in both the query and the skill also count as a term.
 */
import type { WeighedQuery } from "./read-query.ts";
import { type RankArrays, SATURATION, weighParts } from "./search-index.ts";
import { PARTS } from "./token-store.ts";

/** Reads the tokens of one skill after another. */
export interface SkillReader {
  readonly arrays: RankArrays;
  readonly skills: number;
  /** For each skill where its tokens start. */
  readonly tokenStarts: Uint32Array;
  readonly weights: Float64Array;
  /** By term its position among the wanted ones, plus one; 0 for all others, and for all terms between two queries. */
  readonly marks: Uint32Array;
  /** For each skill the upper bound of its score; recomputed by each query. */
  readonly bounds: Float32Array;
}

export function openReader(arrays: RankArrays): SkillReader {
  const { lengths, starts } = arrays;
  const skills = lengths.length / PARTS.length;
  const tokenStarts = new Uint32Array(skills + 1);
  let tokens = 0;
  for (let part = 0; part < lengths.length; part++) {
    if (part % PARTS.length === 0) tokenStarts[part / PARTS.length] = tokens;
    tokens += lengths[part] ?? 0;
  }
  tokenStarts[skills] = tokens;
  const marks = new Uint32Array(starts.length - 1);
  const bounds = new Float32Array(skills);
  return { arrays, skills, tokenStarts, weights: weighParts(lengths), marks, bounds };
}

export interface Scorer {
  scoreOf(skill: number): number;
  /**
   * What each adds to the score, terms first, and a bit for each part of the skill that contains it. Overwritten by the
   * next.
   */
  readonly gains: Float64Array;
  readonly parts: Uint8Array;
}

/** Scores skills for one query; nothing else may use the same reader at the same time. */
export function withScorer<Value>(
  reader: SkillReader,
  wanted: WeighedQuery,
  use: (scorer: Scorer) => Value,
): Value {
  const { marks } = reader;
  for (const [place, { term }] of wanted.terms.entries()) marks[term] = place + 1;
  try {
    return use(createScorer(reader, wanted));
  } finally {
    for (const { term } of wanted.terms) marks[term] = 0;
  }
}

function createScorer(reader: SkillReader, { terms, pairs }: WeighedQuery): Scorer {
  const rarities = Float64Array.from([...terms, ...pairs], ({ rarity }) => rarity);
  const amounts = new Float64Array(rarities.length);
  const gains = new Float64Array(rarities.length);
  const parts = new Uint8Array(rarities.length);
  const addAmounts = amountAdder(reader, { terms, pairs }, amounts, parts);
  return {
    gains,
    parts,
    scoreOf(skill) {
      amounts.fill(0);
      parts.fill(0);
      addAmounts(skill);
      let score = 0;
      for (let place = 0; place < amounts.length; place++) {
        const amount = amounts[place] ?? 0;
        const gain = ((rarities[place] ?? 0) * amount * (SATURATION + 1)) / (SATURATION + amount);
        gains[place] = gain;
        score += gain;
      }
      return score;
    },
  };
}

/** Sums a skill's occurrences of each term and pair, weighted by the part that contains them. */
function amountAdder(
  { arrays: { lengths, numbers }, tokenStarts, weights, marks }: SkillReader,
  { terms, pairs }: WeighedQuery,
  amounts: Float64Array,
  parts: Uint8Array,
): (skill: number) => void {
  /**
   * By the mark of the first term its pairs, as a linked list: the last one, and for each the previous one, plus one.
   */
  const lastPair = new Uint32Array(terms.length + 1);
  const pairBefore = new Uint32Array(pairs.length + 1);
  const secondMark = new Uint32Array(pairs.length + 1);
  for (const [index, { first, second }] of pairs.entries()) {
    pairBefore[index + 1] = lastPair[first + 1] ?? 0;
    lastPair[first + 1] = index + 1;
    secondMark[index + 1] = second + 1;
  }
  const add = (place: number, part: number, weight: number): void => {
    amounts[place] = (amounts[place] ?? 0) + weight;
    parts[place] = (parts[place] ?? 0) | (1 << part);
  };
  const addPart = (from: number, to: number, part: number, weight: number): void => {
    let before = 0;
    for (let token = from; token < to; token++) {
      const mark = marks[numbers[token] ?? 0] ?? 0;
      if (mark !== 0) {
        add(mark - 1, part, weight);
        for (let pair = lastPair[before] ?? 0; pair !== 0; pair = pairBefore[pair] ?? 0) {
          if (secondMark[pair] === mark) add(terms.length + pair - 1, part, weight);
        }
      }
      before = mark;
    }
  };
  return (skill) => {
    let token = tokenStarts[skill] ?? 0;
    for (let part = 0; part < PARTS.length; part++) {
      const end = token + (lengths[skill * PARTS.length + part] ?? 0);
      addPart(token, end, part, weights[skill * PARTS.length + part] ?? 0);
      token = end;
    }
  };
}
