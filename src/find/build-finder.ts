/** Which skills fit a request, best first: from documents in memory. Neither network nor model; the same every time. */
import { compareText } from "../foundation/diagnostic.ts";
import type { FindDocument } from "./find-document.ts";
import { buildPostings } from "./postings.ts";
import { readQuery } from "./read-query.ts";
import { scoreQuery } from "./score-query.ts";
import { createTokenStore, type Tokens } from "./token-store.ts";
import { createVocabulary, type Vocabulary } from "./vocabulary.ts";

export interface FindHit {
  readonly name: string;
  /** Above 0; comparable between the hits of one query only. */
  readonly score: number;
  /** The skill file; `""` for a skill that has none. */
  readonly location: string;
}

export interface Finder {
  /** How many skills are searched. */
  readonly size: number;
  /** The `k` best, by score, then name, then location; fewer when fewer share a word with the query. */
  find(query: string, k?: number): readonly FindHit[];
}

/** Who was found. */
export type Found = Pick<FindHit, "name" | "location">;

export const DEFAULT_HITS = 10;

export function buildFinder(documents: Iterable<FindDocument>): Finder {
  const store = createTokenStore(createVocabulary());
  const skills: Found[] = [];
  for (const document of documents) {
    store.add(document);
    skills.push({ name: document.name, location: document.location ?? "" });
  }
  return finderOver(skills, store.finish(), store.vocabulary);
}

/** The finder over skills that are numbers already; `skills` are in the order of the tokens. */
export function finderOver(skills: readonly Found[], tokens: Tokens, vocabulary: Vocabulary): Finder {
  const postings = buildPostings(tokens, vocabulary.terms.length);
  return {
    size: skills.length,
    find(query, k = DEFAULT_HITS) {
      return takeBest(scoreQuery(readQuery(query, vocabulary), postings), skills, k);
    },
  };
}

function takeBest(scores: Float64Array, skills: readonly Found[], k: number): readonly FindHit[] {
  if (!(k > 0)) return [];
  const sorted = scores.filter((score) => score > 0).sort();
  const least = sorted[Math.max(sorted.length - Math.floor(k), 0)];
  if (least === undefined) return [];
  const hits: FindHit[] = [];
  for (const [index, { name, location }] of skills.entries()) {
    const score = scores[index] ?? 0;
    if (score >= least) hits.push({ name, score, location });
  }
  hits.sort(
    (a, b) => b.score - a.score || compareText(a.name, b.name) || compareText(a.location, b.location),
  );
  return hits.slice(0, k);
}
