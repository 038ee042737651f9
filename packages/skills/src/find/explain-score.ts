/**
 * Explains a skill's score: what each word of the request adds, in which parts of the skill it occurs, and which words
 * it lacks. Adds up exactly what the search adds up, so the parts equal the score.
 */
import type { WeighedQuery } from "./read-query.ts";
import { type SkillReader, withScorer } from "./score-skill.ts";
import { PARTS } from "./token-store.ts";

/** What one word, or two adjacent ones, add to a skill's score. */
interface ScorePart {
  /** One word of the request, or two that are adjacent in both the request and the skill. */
  readonly words: readonly string[];
  /** Parts of the skill that contain them: `name`, `about`, `headings`, `prose`, `code`. */
  readonly parts: readonly string[];
  /** Above 0. */
  readonly score: number;
}

/** Why a skill has its score. */
export interface ScoreExplanation {
  /** As returned by `find`. */
  readonly score: number;
  /** Its parts, the largest first. */
  readonly parts: readonly ScorePart[];
  /** Words of the request that the skill does not have. */
  readonly missing: readonly string[];
}

/** For each of these skills, by number; `words` are those of the request, folded, each once. */
export function explainScores(
  reader: SkillReader,
  wanted: WeighedQuery,
  words: readonly string[],
  skills: readonly number[],
): readonly ScoreExplanation[] {
  const { terms, pairs } = wanted;
  const wordAt = (place: number): string => terms[place]?.word ?? "";
  const pieces = [
    ...terms.map(({ word }) => [word]),
    ...pairs.map(({ first, second }) => [wordAt(first), wordAt(second)]),
  ];
  return withScorer(reader, wanted, ({ scoreOf, gains, parts }) =>
    skills.map((skill) => {
      if (skill >= 0) scoreOf(skill);
      const found = new Map<string, ScorePart>();
      for (const [place, piece] of pieces.entries()) {
        const score = skill >= 0 ? (gains[place] ?? 0) : 0;
        if (score > 0) addPart(found, piece, partNames(parts[place] ?? 0), score);
      }
      return explain([...found.values()], words);
    }),
  );
}

function explain(parts: readonly ScorePart[], words: readonly string[]): ScoreExplanation {
  const has = new Set(parts.flatMap((part) => part.words));
  return {
    score: parts.reduce((sum, part) => sum + part.score, 0),
    parts: parts.toSorted((a, b) => b.score - a.score),
    missing: words.filter((word) => !has.has(word)),
  };
}

function partNames(bits: number): readonly string[] {
  return PARTS.flatMap(({ name }, part) => ((bits >> part) & 1 ? [name] : []));
}

/** A word that may be a misspelling of several counts as one. */
function addPart(
  found: Map<string, ScorePart>,
  words: readonly string[],
  parts: readonly string[],
  score: number,
): void {
  const key = words.join(" ");
  const known = found.get(key);
  const all = [...new Set([...(known?.parts ?? []), ...parts])];
  found.set(key, { words, parts: all, score: score + (known?.score ?? 0) });
}
