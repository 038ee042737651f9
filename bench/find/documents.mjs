/** Skills to search, made from a vocabulary in which, as in real text, few words are common and most are rare. */
import { seededRandom } from "../generate-skills.mjs";

/** @typedef {import("../../packages/skills/src/find/token-store.ts").FindDocument & { location: string }} BenchDocument */

const VOCABULARY = 30_000;
const SYLLABLES = "ba co di fu ga le mi no pe qua ri so tu ve xi zor lan der mon tek sil var nes tra".split(
  " ",
);

/**
 * The same numbers give the same skills.
 *
 * @param {number} count
 * @param {number} words of an average body
 * @returns {BenchDocument[]}
 */
export function generateDocuments(count, words) {
  const random = seededRandom(count);
  return Array.from({ length: count }, (_, index) => {
    const name = `${text(2, random).replace(" ", "-")}-${index}`;
    const lines = Array.from({ length: 6 }, () => text(Math.ceil(((0.5 + random()) * words) / 6), random));
    const body = `# ${name}\n\n${lines.join("\n\n## Steps\n\n")}`;
    return { name, description: `${text(25, random)}.`, body, location: `/skills/${name}/SKILL.md` };
  });
}

/** Requests in the words of the skills. @param {number} count @returns {string[]} */
export function generateQueries(count) {
  const random = seededRandom(7);
  return Array.from({ length: count }, () => text(4 + Math.floor(random() * 12), random));
}

/** @param {number} length @param {() => number} random */
function text(length, random) {
  return Array.from({ length }, () => word(Math.floor(VOCABULARY ** random()) - 1)).join(" ");
}

/** @param {number} rank */
function word(rank) {
  let rest = rank + SYLLABLES.length;
  let made = "";
  while (rest > 0) {
    made += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length);
  }
  return made;
}
