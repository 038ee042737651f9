/**
 * Why skills were found for a request: which words in which fields, their share of the score, and the missing words.
 */
import {
  eachWord,
  type FindHit,
  type FindIndex,
  type ScoreExplanation,
  type Skill,
  termOf,
} from "@metier/skills";
import type { ApiFind, ApiHit } from "../api.ts";
import { boundText, MOST_DESCRIPTION } from "./bounds.ts";

export function findSkills(
  index: FindIndex,
  skills: readonly Skill[],
  query: string,
  limit: number,
): ApiFind {
  const hits = index.find(query, limit);
  return { data: explainHits(index, skills, query, hits), words: index.wordsOf(query) };
}

/** In their order. */
export function explainHits(
  index: Pick<FindIndex, "explain">,
  skills: readonly Skill[],
  query: string,
  hits: readonly FindHit[],
): readonly ApiHit[] {
  const byPlace = new Map(skills.map((skill) => [placeOf(skill), skill]));
  const explained = index.explain(query, hits);
  return hits.map((hit, position) => describeHit(hit, byPlace.get(placeOf(hit)), explained[position]));
}

function placeOf({ name, location }: Pick<FindHit, "name" | "location">): string {
  return `${name}\0${location}`;
}

function describeHit(
  { name, score }: FindHit,
  skill: Skill | undefined,
  explained: ScoreExplanation | undefined,
): ApiHit {
  const { parts = [], missing = [] } = explained ?? {};
  return {
    name,
    description: boundText(skill?.description ?? "", MOST_DESCRIPTION),
    score: Math.round(score * 1000) / 1000,
    words: parts.map((part) => ({
      word: part.words.join(" "),
      fields: part.parts.flatMap((place) => fieldsOf(place, part.words, skill)),
      share: score === 0 ? 0 : part.score / score,
    })),
    missing,
  };
}

const FIELDS: Readonly<Record<string, string>> = {
  prose: "instructions",
  headings: "headings",
  code: "code",
};

/** `about` is several fields of the file: those that have the words. */
function fieldsOf(part: string, words: readonly string[], skill: Skill | undefined): readonly string[] {
  if (part !== "about") return [FIELDS[part] ?? part];
  const wanted = words.map(termOf);
  const has = (text: string): boolean => {
    const terms = new Set<string | undefined>();
    eachWord(text, 0, text.length, (word) => void terms.add(termOf(word)));
    return wanted.every((term) => terms.has(term));
  };
  const { whenToUse = "", tags = [] } = skill?.manifest ?? {};
  const named = [
    ...(has(skill?.description ?? "") ? ["description"] : []),
    ...(has(whenToUse) ? ["when-to-use"] : []),
    ...(has(tags.join(" ")) ? ["tags"] : []),
  ];
  return named.length === 0 ? ["description"] : named; // A word with a typing error is in none of them.
}
