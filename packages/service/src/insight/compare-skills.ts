/** Which skills could be confused by their descriptions, and what would make one of them win a request. */
import type { Skill } from "@metier/skills";
import type { ApiHit, ApiRouting, ApiRoutingWhy } from "../api.ts";
import { explainHits } from "./find-skills.ts";

/** Nobody reads a matrix of more skills. */
const MOST_IN_MATRIX = 60;
/** Every skill is compared with every other: more would take too much time and memory for one response. */
const MOST_COMPARED = 500;
const MOST_PAIRS = 500;

export async function compareSkills(skills: readonly Skill[]): Promise<ApiRouting> {
  const names = skills.map(({ name }) => name);
  if (skills.length > MOST_COMPARED) return { names, pairs: [], mostCompared: MOST_COMPARED };
  const { compareDescriptions } = await import("@metier/evals");
  const compared = await compareDescriptions(skills);
  return {
    names: compared.names,
    ...(skills.length <= MOST_IN_MATRIX && { matrix: compared.matrix }),
    pairs: compared.pairs
      .slice(0, MOST_PAIRS)
      .map(({ skills: both, verdict, confusion, similarity, suggestion }) => {
        return { skills: both, verdict, confusion, similarity, suggestion };
      }),
  };
}

/** Only by descriptions, which is what a model chooses by. `undefined`: no such skill. */
export async function explainRouting(
  skills: readonly Skill[],
  query: string,
  name: string,
): Promise<ApiRoutingWhy | undefined> {
  const { findByDescription } = await import("@metier/evals");
  if (!skills.some((skill) => skill.name === name)) return undefined;
  const finder = findByDescription(skills);
  const hits = finder.find(query, skills.length);
  const place = hits.findIndex((hit) => hit.name === name);
  const asked = [hits[0], hits[place]].filter((hit) => hit !== undefined);
  // This search knows skills only by name.
  const found = skills.filter((skill) => asked.some((one) => one.name === skill.name));
  const [winner, hit] = explainHits(
    finder,
    found.map((skill) => ({ ...skill, location: "" })),
    query,
    asked,
  );
  return {
    skill: name,
    ...(place >= 0 && { rank: place + 1 }),
    ...(winner && { winner }),
    ...(place >= 0 && { hit: hit ?? winner }),
    lacks: place === 0 || winner === undefined ? [] : findLacks(winner, hit),
  };
}

/** A word's weight for the winner: about what it would be for a skill that had it. */
function findLacks(winner: ApiHit, hit: ApiHit | undefined): ApiRoutingWhy["lacks"] {
  const has = new Set(hit?.words.map(({ word }) => word));
  return winner.words
    .filter(({ word }) => !word.includes(" ") && !has.has(word))
    .map(({ word, share }) => ({ word, gain: Math.round(share * winner.score * 1000) / 1000 }))
    .sort((a, b) => b.gain - a.gain);
}
