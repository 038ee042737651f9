/**
 * Ranks the skills for a request, best first, from documents in memory. Uses no network or model, and is deterministic.
 */
import { compareText } from "@metier/base/text";
import { explainScores, type ScoreExplanation } from "./explain-score.ts";
import { createVocabulary } from "./number-words.ts";
import { rankSkills } from "./rank-skills.ts";
import { readAskedWords, type WeighedQuery, weighQuery, wordsOf } from "./read-query.ts";
import { openReader } from "./score-skill.ts";
import { buildSearchArrays, type RankArrays, type SearchArrays } from "./search-index.ts";
import { openDictionary, type ShapeArrays, sortByShape } from "./term-dictionary.ts";
import { createTokenStore, type FindDocument } from "./token-store.ts";

/** A skill that matches a query. */
export interface FindHit {
  /** The skill's name in the catalog. */
  readonly name: string;
  /** Above 0; comparable only between the hits of one query. */
  readonly score: number;
  /** The skill file; `""` for a skill without one. */
  readonly location: string;
}

export interface Finder {
  /** How many skills are searched. */
  readonly size: number;
  /** The `k` best, by score, then name, then location; fewer if fewer share a word with the query. */
  find(query: string, k?: number): readonly FindHit[];
  /** Why each of these hits has its score, in their order. */
  explain(query: string, hits: readonly Found[]): readonly ScoreExplanation[];
  /** The query words that are searched, folded, each once. */
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
  const arrays = buildSearchArrays(store.finish(), store.vocabulary.terms);
  let shapes: ShapeArrays | undefined;
  return openFinder(skills, arrays, () => {
    shapes ??= sortByShape(arrays);
    return shapes;
  });
}

/** The finder over tokenized skills; `skills` are in the order of the tokens. */
export function finderOver(skills: readonly Found[], arrays: SearchArrays): Finder {
  return openFinder(skills, arrays, () => arrays);
}

/** `shapesOfAll` finds similar terms: only a request with an unknown word needs them. */
function openFinder(skills: readonly Found[], arrays: RankArrays, shapesOfAll: () => ShapeArrays): Finder {
  const reader = openReader(arrays);
  const dictionary = openDictionary(arrays, shapesOfAll);
  const want = (query: string): WeighedQuery => weighQuery(readAskedWords(query, dictionary), arrays);
  return {
    size: skills.length,
    find(query, k = DEFAULT_HITS) {
      const hits = rankSkills(reader, want(query), k).map(({ skill, score }) => {
        const { name = "", location = "" } = skills[skill] ?? {};
        return { name, score, location };
      });
      hits.sort(
        (a, b) => b.score - a.score || compareText(a.name, b.name) || compareText(a.location, b.location),
      );
      return hits.slice(0, k);
    },
    explain(query, hits) {
      const isSame = (a: Found, b: Found): boolean => a.name === b.name && a.location === b.location;
      const numbers = hits.map((hit) => skills.findIndex((skill) => isSame(skill, hit)));
      const asked = readAskedWords(query, dictionary);
      return explainScores(reader, weighQuery(asked, arrays), wordsOf(asked), numbers);
    },
    wordsOf: (query) => wordsOf(readAskedWords(query, dictionary)),
  };
}
