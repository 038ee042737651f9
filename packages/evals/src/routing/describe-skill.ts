/**
 * How well a description wins the requests it is for: where each request goes by words alone, and which words would
 * win the lost ones. Asks no model, and always gives the same result.
 */

import type { TriggerQuery } from "@metier/skills/formats";
import { rate } from "../benchmark.ts";
import { type DescribedSkill, FRAME_TERMS, findByDescription, readTerms } from "./compare-descriptions.ts";

interface DescribedQuery extends TriggerQuery {
  readonly passed: boolean;
  /** The skill that wins it; `null` if none does. */
  readonly winner: string | null;
  /** Each of these words, added alone to the description, wins the request. */
  readonly words: readonly string[];
}

export interface DescriptionReport {
  readonly skill: string;
  readonly description: string;
  readonly passed: number;
  readonly total: number;
  readonly pass_rate: number;
  readonly queries: readonly DescribedQuery[];
  /** Words that win most lost requests, best first. */
  readonly suggestions: readonly { readonly word: string; readonly wins: number }[];
}

const MOST_WORDS = 12;
const MOST_SUGGESTIONS = 8;

export function describeRouting(
  tested: DescribedSkill,
  skills: readonly DescribedSkill[],
  queries: readonly TriggerQuery[],
): DescriptionReport {
  const others = skills.filter(({ name }) => name !== tested.name);
  const route = routeTo([...others, tested]);
  const own = readTerms(`${tested.description} ${tested.manifest.whenToUse ?? ""}`);
  const judged = queries.map((query): DescribedQuery => {
    const winner = route(query.query);
    const passed = (winner === tested.name) === query.shouldTrigger;
    const isLost = !passed && query.shouldTrigger;
    const words = isLost ? winningWords(query.query, own, tested, others) : [];
    return { ...query, winner, passed, words };
  });
  const passed = judged.filter((query) => query.passed).length;
  const counts = Map.groupBy(
    judged.flatMap(({ words }) => words),
    (word) => word,
  );
  const suggestions = [...counts].map(([word, group]) => ({ word, wins: group.length }));
  suggestions.sort((a, b) => b.wins - a.wins || (a.word < b.word ? -1 : 1));
  return {
    skill: tested.name,
    description: tested.description,
    passed,
    total: judged.length,
    pass_rate: rate(passed, judged.length),
    queries: judged,
    suggestions: suggestions.slice(0, MOST_SUGGESTIONS),
  };
}

function routeTo(skills: readonly DescribedSkill[]): (query: string) => string | null {
  const finder = findByDescription(skills);
  return (query) => finder.find(query, 1)[0]?.name ?? null;
}

/** Tries words one by one: adds the word and searches again. */
function winningWords(
  query: string,
  own: ReadonlyMap<string, string>,
  tested: DescribedSkill,
  others: readonly DescribedSkill[],
): readonly string[] {
  const missing = [...readTerms(query)].filter(([term]) => !own.has(term) && !FRAME_TERMS.has(term));
  return missing
    .slice(0, MOST_WORDS)
    .map(([, word]) => word)
    .filter((word) => {
      const changed = { ...tested, description: `${tested.description} ${word}` };
      return routeTo([...others, changed])(query) === tested.name;
    });
}
