/**
 * Why a skill has its score: what each word of the request adds to it, in which parts of the skill it stands, and which words
 * it lacks. What is added up is what the search itself adds up, piece by piece, so that the parts are the score.
 */

/** One thing that is looked for: a word, or two words that are neighbours in the request. */
export interface ScorePiece {
  /** The words of the request, folded. */
  readonly words: readonly string[];
  /** Where it stands in all skills. */
  readonly positions: Uint32Array;
  readonly share: number;
}

/** What one word, or two neighbours, add to a skill's score. */
interface ScorePart {
  /** One word of the request, or two that follow each other there and in the skill. */
  readonly words: readonly string[];
  /** Parts of the skill in which they stand: `name`, `about`, `headings`, `prose`, `code`. */
  readonly parts: readonly string[];
  /** Above 0. */
  readonly score: number;
}

/** Why a skill has its score. */
export interface ScoreExplanation {
  /** As `find` gives it. */
  readonly score: number;
  /** What adds up to it, the largest first. */
  readonly parts: readonly ScorePart[];
  /** Words of the request that the skill does not have. */
  readonly missing: readonly string[];
}

interface ScoreSearch {
  /** How many skills are searched. */
  readonly skills: number;
  /** The words of the request, folded, each once. */
  readonly words: readonly string[];
  readonly pieces: readonly ScorePiece[];
  /** Adds what a piece gives to each skill. */
  addTo(scores: Float64Array): (positions: Uint32Array, share: number) => void;
  /** The parts of this skill that have one of these positions. */
  partsWith(skill: number, positions: Uint32Array): readonly string[];
}

/** For each of these skills, by their numbers. */
export function explainScores(
  { skills, words, pieces, addTo, partsWith }: ScoreSearch,
  asked: readonly number[],
): readonly ScoreExplanation[] {
  const found = asked.map(() => new Map<string, ScorePart>());
  const scores = new Float64Array(skills);
  const add = addTo(scores);
  for (const piece of pieces) {
    scores.fill(0);
    add(piece.positions, piece.share);
    for (const [index, skill] of asked.entries()) {
      const score = scores[skill] ?? 0;
      if (score > 0) addPart(found[index], piece.words, partsWith(skill, piece.positions), score);
    }
  }
  return found.map((byWords) => {
    const parts = [...byWords.values()];
    const has = new Set(parts.flatMap((part) => part.words));
    return {
      score: parts.reduce((sum, part) => sum + part.score, 0),
      parts: parts.toSorted((a, b) => b.score - a.score),
      missing: words.filter((word) => !has.has(word)),
    };
  });
}

/** A word that may be a misspelling of several counts as one. */
function addPart(
  found: Map<string, ScorePart> | undefined,
  words: readonly string[],
  parts: readonly string[],
  score: number,
): void {
  const key = words.join(" ");
  const known = found?.get(key);
  const all = [...new Set([...(known?.parts ?? []), ...parts])];
  found?.set(key, { words, parts: all, score: score + (known?.score ?? 0) });
}
