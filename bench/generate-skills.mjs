/**
 * Writes skills the way people do: every style of frontmatter, bodies of 1 to 6 KB, some with scripts and references.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERBS = [
  "review",
  "draft",
  "convert",
  "summarise",
  "deploy",
  "measure",
  "translate",
  "plan",
  "clean",
  "trace",
];
const NOUNS = [
  "invoice",
  "changelog",
  "dataset",
  "pipeline",
  "contract",
  "meeting",
  "query",
  "release",
  "diagram",
];
const WORDS =
  "when the user asks for this first read every file that was named then check what it says against the rules below and write down each place where they differ before you change anything keep the tone of the original".split(
    " ",
  );

/** @typedef {() => number} Random below 1 */

/** The frontmatter styles that occur. @type {readonly ((name: string, text: string) => string[])[]} */
const STYLES = [
  (name, text) => [`name: ${name}`, `description: ${text}`],
  (name, text) => [`name: "${name}"`, `description: "${text}"`, "license: Apache-2.0"],
  (name, text) => [`name: ${name}`, `description: 'The user''s own words: ${text}'`],
  (name, text) => [`name: ${name}`, "description: >-", ...wrap(text, "  ")],
  (name, text) => [`name: ${name}`, "description: |", ...wrap(text, "  "), "license: MIT"],
  (name, text) => [`name: ${name}`, `description: ${text}`, "allowed-tools:", "  - Read", "  - Bash(git:*)"],
  (name, text) => [`name: ${name}`, `description: ${text}`, "allowed-tools: Read, Grep, Bash(git log:*)"],
  (name, text) => [
    `name: ${name}`,
    `description: ${text}`,
    "license: Complete terms in LICENSE.txt",
    "compatibility: Needs git and Python 3.11 or newer",
    "metadata:",
    "  author: example-team",
    '  version: "1.2"',
    "  tags: text files review",
  ],
  (name, text) => [
    `name: ${name}`,
    `description: ${text}`,
    "model: fast",
    "user-invocable: true",
    "env: [API_URL]",
  ],
];

/**
 * The same number gives the same files, byte for byte.
 *
 * @param {string} root
 * @param {number} count
 * @param {string} [prefix] of the names, if several roots need different skills
 * @returns {string[]} the skills' folders
 */
export function generateSkills(root, count, prefix = "") {
  const random = seededRandom(count);
  return Array.from({ length: count }, (_, index) => {
    const name = `${prefix}${pick(VERBS, random)}-${pick(NOUNS, random)}-${String(index).padStart(5, "0")}`;
    const folder = join(root, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), skillText(name, random));
    if (index % 5 === 0) addResources(folder, random);
    return folder;
  });
}

/** @param {string} name @param {Random} random */
function skillText(name, random) {
  const description = `${sentence(8 + Math.floor(random() * 30), random)} Use it for ${name.replaceAll("-", " ")}.`;
  const frontmatter = pick(STYLES, random)(name, description);
  const size = 1024 + Math.floor(random() * 5 * 1024);
  const sections = [`# ${name}`];
  while (sections.join("\n\n").length < size) {
    sections.push(
      `## ${sentence(4, random)}`,
      sentence(60, random),
      `- ${sentence(12, random)}\n- ${sentence(9, random)}`,
    );
  }
  return `---\n${frontmatter.join("\n")}\n---\n\n${sections.join("\n\n")}\n`;
}

/** @param {string} folder @param {Random} random */
function addResources(folder, random) {
  mkdirSync(join(folder, "scripts"));
  writeFileSync(join(folder, "scripts", "run.sh"), "#!/bin/sh\nexec git status\n");
  mkdirSync(join(folder, "references"));
  writeFileSync(join(folder, "references", "guide.md"), `# Guide\n\n${sentence(80, random)}\n`);
}

/** @param {number} length @param {Random} random */
function sentence(length, random) {
  const text = Array.from({ length }, () => pick(WORDS, random)).join(" ");
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** @param {string} text @param {string} indent */
function wrap(text, indent) {
  return (text.match(/.{1,70}(?:\s|$)/g) ?? [text]).map((line) => indent + line.trimEnd());
}

/** @template T @param {readonly T[]} list @param {Random} random @returns {T} */
function pick(list, random) {
  return /** @type {T} */ (list[Math.floor(random() * list.length)]);
}

/** mulberry32: small, fast, and the same everywhere. @param {number} seed @returns {Random} */
export function seededRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
