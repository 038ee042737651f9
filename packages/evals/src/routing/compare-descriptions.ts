/**
 * Finds skills that can be mistaken for each other by their descriptions alone: no model, no network, always the same
 * result. Looks up each skill's own words among all skills; another skill that matches them nearly as well competes.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { presentFields } from "@metier/base/json";
import { compareText } from "@metier/base/text";
import { buildFinder, eachWord, type Finder, type Skill, termOf } from "@metier/skills";

export type DescribedSkill = Pick<Skill, "name" | "description"> & {
  readonly manifest: Pick<Skill["manifest"], "whenToUse" | "tags">;
};

type OverlapVerdict = "near-duplicate" | "confusable";

interface OverlapPair {
  readonly skills: readonly [string, string];
  readonly verdict: OverlapVerdict;
  /**
   * From 0 to 1: how well one skill matches the words of the other, relative to that skill itself; the larger of both
   * directions.
   */
  readonly confusion: number;
  /** From 0 to 1: how many words they share; rare words count more. */
  readonly similarity: number;
  /** Rarest first. */
  readonly shared: readonly string[];
  readonly suggestion: string;
}

export interface DescriptionComparison {
  readonly names: readonly string[];
  /** `matrix[a][b]`: how well `b` matches the words of `a`, relative to `a` itself. */
  readonly matrix: readonly (readonly number[])[];
  /** Worst first. */
  readonly pairs: readonly OverlapPair[];
}

const CONFUSABLE = 0.4;
const NEAR_DUPLICATE = 0.6;
const MOST_SHARED = 8;
/** Words that occur in descriptions of any kind. */
export const FRAME_TERMS: ReadonlySet<string> = new Set(["use", "user", "skill"]);

interface CompareOptions {
  /** Stops with the results so far. */
  readonly signal?: AbortSignal | undefined;
  /** Skills whose words were looked up. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Long work is split into turns, so that it can be watched and stopped. */
export async function compareDescriptions(
  skills: readonly DescribedSkill[],
  options: CompareOptions = {},
): Promise<DescriptionComparison> {
  const sorted = skills.toSorted((a, b) => compareText(a.name, b.name));
  const matrix = await confuse(sorted, options);
  return { names: sorted.map(({ name }) => name), matrix, pairs: await findPairs(sorted, matrix) };
}

/** Between turns, other work gets its turn, such as a Ctrl-C. */
const TURN_MS = 10;
const SKILLS_PER_TURN = 20;

/** Yields when its time slice is used up. */
function openTurns(): () => Promise<void> {
  let from = performance.now();
  return async () => {
    if (performance.now() - from < TURN_MS) return;
    await nextTurn();
    from = performance.now();
  };
}

async function confuse(
  sorted: readonly DescribedSkill[],
  { signal, onProgress }: CompareOptions,
): Promise<DescriptionComparison["matrix"]> {
  const finder = findByDescription(sorted);
  const takeTurn = openTurns();
  const matrix: (readonly number[])[] = [];
  for (const [index, skill] of sorted.entries()) {
    if (index % SKILLS_PER_TURN === 0) {
      onProgress?.(index, sorted.length);
      await nextTurn();
    }
    await takeTurn();
    if (signal?.aborted) break;
    const scores = new Map(finder.find(wordsOf(skill), sorted.length).map((hit) => [hit.name, hit.score]));
    const own = scores.get(skill.name) ?? 0;
    matrix.push(sorted.map(({ name }) => (own === 0 ? 0 : round((scores.get(name) ?? 0) / own))));
  }
  return matrix;
}

async function findPairs(
  sorted: readonly DescribedSkill[],
  matrix: DescriptionComparison["matrix"],
): Promise<readonly OverlapPair[]> {
  const takeTurn = openTurns();
  const terms = sorted.map((skill) => readTerms(wordsOf(skill)));
  const weigh = weightOf(terms);
  const pairs: OverlapPair[] = [];
  for (const [a, one] of sorted.entries()) {
    await takeTurn();
    for (let b = a + 1; b < sorted.length; b++) {
      const two = sorted[b];
      if (two === undefined) continue;
      const confusion = Math.min(1, Math.max(matrix[a]?.[b] ?? 0, matrix[b]?.[a] ?? 0));
      const words = { one: terms[a] ?? new Map(), two: terms[b] ?? new Map() };
      const similarity = confusion === 0 ? 0 : compareTerms(words.one, words.two, weigh);
      if (confusion < CONFUSABLE && similarity < NEAR_DUPLICATE) continue;
      pairs.push(describePair(one, two, { confusion, similarity, words, weigh }));
    }
  }
  return pairs.sort((a, b) => b.confusion - a.confusion || compareText(a.skills.join(), b.skills.join()));
}

/** The search index over descriptions without instructions: what a model sees when it chooses. */
export function findByDescription(skills: readonly DescribedSkill[]): Finder {
  return buildFinder(
    skills.map(({ name, description, manifest: { whenToUse, tags } }) =>
      presentFields({ name, description, tags, body: "", whenToUse }),
    ),
  );
}

function wordsOf({ description, manifest: { whenToUse = "" } }: DescribedSkill): string {
  return `${description}\n${whenToUse}`;
}

/** Each term with a word that stands for it. */
type Terms = ReadonlyMap<string, string>;
type Weigh = (term: string) => number;

export function readTerms(text: string): Terms {
  const terms = new Map<string, string>();
  eachWord(text, 0, text.length, (word) => {
    const term = termOf(word);
    if (term !== undefined && !terms.has(term)) terms.set(term, word.toLowerCase());
  });
  return terms;
}

function weightOf(all: readonly Terms[]): Weigh {
  const counts = new Map<string, number>();
  for (const terms of all) for (const term of terms.keys()) counts.set(term, (counts.get(term) ?? 0) + 1);
  return (term) => Math.log(1 + all.length / (counts.get(term) ?? 1));
}

function compareTerms(one: Terms, two: Terms, weigh: Weigh): number {
  const sum = (terms: Iterable<string>): number => [...terms].reduce((total, term) => total + weigh(term), 0);
  const both = sum([...one.keys()].filter((term) => two.has(term)));
  const all = sum(new Set([...one.keys(), ...two.keys()]));
  return all === 0 ? 0 : round(both / all);
}

interface PairFacts extends Pick<OverlapPair, "confusion" | "similarity"> {
  readonly words: { readonly one: Terms; readonly two: Terms };
  readonly weigh: Weigh;
}

function describePair(
  one: DescribedSkill,
  two: DescribedSkill,
  { confusion, similarity, words, weigh }: PairFacts,
): OverlapPair {
  const pick = (terms: Iterable<readonly [string, string]>): readonly string[] =>
    [...terms]
      .sort(([a], [b]) => weigh(b) - weigh(a) || compareText(a, b))
      .slice(0, MOST_SHARED)
      .map(([, word]) => word);
  const shared = pick([...words.one].filter(([term]) => words.two.has(term) && !FRAME_TERMS.has(term)));
  const verdict: OverlapVerdict = similarity >= NEAR_DUPLICATE ? "near-duplicate" : "confusable";
  return {
    skills: [one.name, two.name],
    verdict,
    confusion,
    similarity,
    shared,
    suggestion: suggest(one, two, verdict, shared),
  };
}

function suggest(
  one: DescribedSkill,
  two: DescribedSkill,
  verdict: OverlapVerdict,
  shared: readonly string[],
): string {
  if (verdict === "near-duplicate") {
    return `\`${one.name}\` and \`${two.name}\` say almost the same. Merge them, or disable one of them.`;
  }
  const vague = [one, two].filter(
    (skill) => !/\buse (?:this |it )?(?:when|for|if|whenever)\b/i.test(wordsOf(skill)),
  );
  const when =
    vague.length === 0
      ? ""
      : ` ${vague.map(({ name }) => `\`${name}\``).join(" and ")} should say when to use it.`;
  return `Say in each what the other is not for; both mention ${shared.slice(0, 4).join(", ")}.${when}`;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
