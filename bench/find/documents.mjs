/**
 * Generated skills to search, as long as real ones and with a realistic word distribution: few words are common, most
 * are rare, and words of a subject occur together. Nothing in them was copied.
 */
import { STOP_WORDS } from "@metier/skills";
import { seededRandom } from "../generate-skills.mjs";

/** @typedef {import("../../packages/skills/src/find/token-store.ts").FindDocument & { location: string }} BenchDocument */
/** @typedef {{ readonly words: readonly string[] }} Subject */

/**
 * Characters of a body: half of 37,000 real skill files have fewer than the first number, nine tenths fewer than the
 * second.
 */
export const BODY_LENGTHS = { median: 4500, ninetieth: 14_400 };
/** How many deviations the ninetieth percentile of a normal distribution is above its middle. */
const NINETIETH = 1.2816;
const SPREAD = Math.log(BODY_LENGTHS.ninetieth / BODY_LENGTHS.median) / NINETIETH;
/** As for a real skill: nothing longer is read. */
const MOST = 200_000;

const VOCABULARY = 100_000;
/** This many words are about as common as the most common one. */
const COMMON = 12;
/** Share of all words: skills are terser than running text. */
const STOP_WORD_SHARE = 0.3;
/** Share of the other words that belong to the skill's subject. */
const SUBJECT_SHARE = 0.3;
const SUBJECT_WORDS = 40;
const SKILLS_PER_SUBJECT = 25;
const ENDINGS = ["", "", "", "", "", "", "", "s", "ing"];
const STOPS = [...STOP_WORDS].filter((word) => word.length > 1);
const SYLLABLES = "ba co di fu ga le mi no pe qua ri so tu ve xi zor lan der mon tek sil var nes tra".split(
  " ",
);

/**
 * The same number gives the same skills.
 *
 * @param {number} count
 * @param {(body: string) => string} [prepare] applied to each new body
 * @returns {BenchDocument[]}
 */
export function generateDocuments(count, prepare = (body) => body) {
  const random = seededRandom(count);
  const subjects = generateSubjects(count);
  return Array.from({ length: count }, (_, index) => {
    const subject = pick(subjects, random);
    const name = `${pick(subject.words, random)}-${pick(subject.words, random)}-${index}`;
    const description = `${sentence(25, subject, random)} ${sentence(12, subject, random)}`;
    const body = prepare(bodyOf(name, bodyLength(random), subject, random));
    return { name, description, body, location: `/skills/${name}/SKILL.md` };
  });
}

/** Requests in the words of the skills, one in ten with a typo. @param {number} count @param {number} skills @returns {string[]} */
export function generateQueries(count, skills) {
  const random = seededRandom(7);
  const subjects = generateSubjects(skills);
  return Array.from({ length: count }, (_, index) => {
    const text = sentence(4 + Math.floor(random() * 16), pick(subjects, random), random);
    return index % 10 === 9 ? misspell(text, random) : text;
  });
}

/** @param {string} text */
export function withoutStopWords(text) {
  return text.replace(/[a-z]+/g, (word) => (STOP_WORDS.has(word) ? "" : word));
}

/** @param {number} skills @returns {readonly Subject[]} */
function generateSubjects(skills) {
  const random = seededRandom(skills + 1);
  return Array.from({ length: Math.ceil(skills / SKILLS_PER_SUBJECT) }, () => ({
    words: Array.from({ length: SUBJECT_WORDS }, () => word(rankOf(random))),
  }));
}

/** @param {() => number} random */
function bodyLength(random) {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.min(BODY_LENGTHS.median * Math.exp(SPREAD * normal), MOST);
}

/** @param {string} name @param {number} length @param {Subject} subject @param {() => number} random */
function bodyOf(name, length, subject, random) {
  const blocks = [`# ${name}`];
  let size = 0;
  while (size < length) {
    const block = blockOf(subject, random);
    blocks.push(block);
    size += block.length + 2;
  }
  return blocks.join("\n\n").slice(0, Math.max(length, name.length + 2));
}

/** @param {Subject} subject @param {() => number} random */
function blockOf(subject, random) {
  const kind = random();
  const line = () => sentence(6 + Math.floor(random() * 18), subject, random);
  if (kind < 0.15) return `## ${sentence(4, subject, random)}`;
  if (kind < 0.3) return `\`\`\`sh\n${line()}\n${line()}\n\`\`\``;
  if (kind < 0.6) return `- ${line()}\n- ${line()}\n- ${line()}`;
  return `${line()} ${line()} ${line()}`;
}

/** @param {number} length in words @param {Subject} subject @param {() => number} random */
function sentence(length, { words }, random) {
  const made = [];
  let next = -1;
  for (let index = 0; index < length; index++) {
    if (next >= 0 && random() < 0.5) {
      // Words of a subject come in its order, so pairs occur together.
      made.push(words[next % words.length]);
      next = random() < 0.3 ? next + 1 : -1;
    } else if (random() < STOP_WORD_SHARE) {
      made.push(STOPS[Math.floor(STOPS.length ** random()) - 1]);
    } else if (random() < SUBJECT_SHARE) {
      const at = Math.floor(random() * words.length);
      made.push(words[at]);
      next = at + 1;
    } else {
      made.push(word(rankOf(random)) + pick(ENDINGS, random));
    }
  }
  return `${made.join(" ")}.`;
}

/** A word's frequency falls with its rank, starting at about a hundredth of all words. @param {() => number} random */
function rankOf(random) {
  return Math.floor(COMMON * (VOCABULARY / COMMON) ** random()) - COMMON;
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

/** Swaps two letters of its longest word. @param {string} text @param {() => number} random */
function misspell(text, random) {
  const [longest = ""] = text
    .slice(0, -1)
    .split(" ")
    .toSorted((a, b) => b.length - a.length);
  const at = 1 + Math.floor(random() * Math.max(longest.length - 3, 1));
  const wrong = longest.slice(0, at) + longest.charAt(at + 1) + longest.charAt(at) + longest.slice(at + 2);
  return text.replace(longest, wrong);
}

/** @template T @param {readonly T[]} list @param {() => number} random @returns {T} */
function pick(list, random) {
  return /** @type {T} */ (list[Math.floor(random() * list.length)]);
}
