/**
 * Scanning skills: how many of our own examples each rule family finds, how many near misses it leaves alone, and how
 * often it reports harmless real skills.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { say } from "../scripts/setup/repository.mjs";
import { machineLine, table } from "./report.mjs";
import { measureScan } from "./scan-speed.mjs";

/**
 * @typedef {{ readonly family: string, readonly rules: number, readonly positives: number, readonly found: number, readonly negatives: number, readonly wrong: number }} FamilyScore
 * @typedef {{ readonly name: string, readonly skills: number, readonly atLeast: Readonly<Record<string, number>>, readonly rules: Readonly<Record<string, number>>, readonly milliseconds: number }} SetScore
 * @typedef {{ readonly families: readonly FamilyScore[], readonly sets: readonly SetScore[] }} Scores
 */

const PROGRAM = join(import.meta.dirname, "programs", "scan-quality.mjs");
const LEVELS = ["low", "medium", "high", "block"];
const MOST_WRONG = 0.01;
const MOST_RULES = 12;
const ABOUT_OWN =
  "Our own examples: small skills that each do one thing, and near misses that only look like it. A near miss is wrong when its rule applies.";
const ABOUT_REAL =
  "Real skills from public repositories, taken as harmless. Of the second set only the texts are there, without scripts. A finding of `high` in them need not be wrong: some are about attacks, and some do pipe a download into a shell.";

const ABOUT_SPEED =
  "Whole processes, in turns; generated skills, most of them a text and some with scripts. Unchanged means that all files are read and hashed, and what was found in the same content before is shown.";

/** @returns {string} the section for the document */
export function benchScan() {
  const machine = machineLine();
  const speed = measureScan();
  say("scanning examples and the development set");
  const { status, stdout } = spawnSync(process.execPath, [PROGRAM], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 1e8,
  });
  if (status !== 0) throw new Error("the scan did not finish");
  /** @type {Scores} */
  const { families, sets } = JSON.parse(stdout);
  return [
    "## Scanning skills: `npm run bench -- scan`",
    machine,
    ABOUT_SPEED,
    speed.text,
    ABOUT_OWN,
    table(["family", "rules", "examples", "recall", "near misses", "wrong"], families.map(describeFamily)),
    ...(sets.length > 0 ? [ABOUT_REAL, describeSets(sets), describeRules(sets)] : []),
    table(["goal", "measured", ""], [speed.goal, judgeOwn(families), ...sets.map(judgeSet)]),
  ].join("\n\n");
}

/** @param {FamilyScore} score */
function describeFamily({ family, rules, positives, found, negatives, wrong }) {
  return [family, `${rules}`, `${positives}`, share(found, positives), `${negatives}`, `${wrong}`];
}

/** @param {readonly SetScore[]} sets */
function describeSets(sets) {
  const head = ["real skills", "skills", ...LEVELS.map((level) => `with \`${level}\` or worse`), "ms each"];
  const rows = sets.map(({ name, skills, atLeast, milliseconds }) => [
    name,
    `${skills}`,
    ...LEVELS.map((level) => `${atLeast[level] ?? 0} (${share(atLeast[level] ?? 0, skills)})`),
    (milliseconds / skills).toFixed(1),
  ]);
  return table(head, rows);
}

/** The rules that most often report `high` or worse. @param {readonly SetScore[]} sets */
function describeRules(sets) {
  const ids = [...new Set(sets.flatMap(({ rules }) => Object.keys(rules)))];
  const rows = ids
    .map((id) => ({ id, counts: sets.map(({ rules }) => rules[id] ?? 0) }))
    .sort((a, b) => sum(b.counts) - sum(a.counts) || (a.id < b.id ? -1 : 1))
    .slice(0, MOST_RULES)
    .map(({ id, counts }) => [`\`${id}\``, ...counts.map(String)]);
  return table(["skills with `high` or worse, by rule", ...sets.map(({ name }) => name)], rows);
}

/** @param {readonly FamilyScore[]} families */
function judgeOwn(families) {
  const missed = sum(families.map(({ positives, found }) => positives - found));
  const wrong = sum(families.map((family) => family.wrong));
  const isMet = missed === 0 && wrong === 0;
  return ["every example found, no near miss", `${missed} missed, ${wrong} wrong`, isMet ? "met" : "missed"];
}

/** @param {SetScore} set */
function judgeSet({ name, skills, atLeast }) {
  const wrong = atLeast.high ?? 0;
  const isMet = wrong < MOST_WRONG * skills;
  return [`${name}: \`high\` or worse in less than 1 %`, share(wrong, skills), isMet ? "met" : "missed"];
}

/** @param {number} part @param {number} whole */
function share(part, whole) {
  return whole === 0 ? "–" : `${((100 * part) / whole).toFixed(part === whole ? 0 : 2)} %`;
}

/** @param {readonly number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
