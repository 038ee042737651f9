/**
 * `metier list` compared with other tools that list skills and with the minimum cost, over 1,000 and 10,000 generated
 * skills; and its memory with 10,000 and 100,000. Goals are judged by the fastest runs, which a busy machine disturbs
 * least.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ROOT, say } from "../scripts/setup/repository.mjs";
import { generateSkills } from "./generate-skills.mjs";
import { IS_COMPARISON, measureInTurns, outputOf, peakMemory } from "./measure.mjs";
import { installPeers } from "./peers.mjs";
import { machineLine, table } from "./report.mjs";

/** @typedef {import("./measure.mjs").Contestant} Contestant */
/** @typedef {import("./measure.mjs").Surroundings} Surroundings */
/** @typedef {import("./measure.mjs").Timing} Timing */
/** @typedef {{ readonly text: string, readonly value: string, readonly met: boolean }} Goal */

const SIZES = [
  { count: 1000, most: 15, seconds: 60 },
  { count: 10_000, most: 9, seconds: 90 },
];
/** A cold list without its second thread, by number of skills. */
const MOST_MEMORY_MB = { 10000: 100, 100000: 400 };
/** This many skills are spread over several folders: the search of one folder stops at 20,000. */
const MANY = { roots: 10, each: 10_000 };
/** A cold list's time as a share of a peer's, and an unchanged list's as a share of the quickest peer's. */
const AHEAD = 1 / 0.9;
const HALF = 0.5;
const MOST_START = 1.3;
const METIER = join(ROOT, "packages/metier/bin/metier.js");
const PROGRAMS = join(import.meta.dirname, "programs");

const EMPTY = "an empty Node program";
const HELP = "`metier --help`";
const BARE = "walk and read only";
const COLD = "`metier list`, cold";
const UNCHANGED = "`metier list`, unchanged";
const PEER_NAMES = ["`openskills list`", "`skills list`", "`skills-ref to-prompt`"];

/** @returns {string} the section for the document */
export function benchList() {
  const machine = machineLine();
  const peers = installPeers();
  const parts = SIZES.map((size) => {
    const folder = mkdtempSync(join(tmpdir(), "metier-bench-list-"));
    try {
      return measureSize(folder, size, peers);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
  const memory = measureMany();
  const goals = [...parts, memory]
    .flatMap((part) => part.goals)
    .map(({ text, value, met }) => [text, value, met ? "met" : "missed"]);
  return [
    "## Listing skills: `npm run bench -- list`",
    machine,
    ...parts.map((part) => part.text),
    memory.text,
    table(["goal (by the fastest run)", "measured", ""], goals),
  ].join("\n\n");
}

/**
 * @param {string} folder
 * @param {{ count: number, most: number, seconds: number }} size
 * @param {ReturnType<typeof installPeers>} peers
 */
function measureSize(folder, { count, most: rounds, seconds }, peers) {
  say(`generating ${count} skills`);
  const project = join(folder, "project");
  const home = join(folder, "home");
  mkdirSync(home);
  const skills = join(project, ".claude", "skills");
  const folders = generateSkills(skills, count);
  spawnSync("git", ["init", "-q", project]);
  sleep(2500); // an index ignores files younger than two seconds
  const surroundings = { cwd: project, env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" } };
  const contestants = makeContestants(home, skills, folders, peers);
  checkListings(contestants, surroundings, folders);
  say(`measuring, at most ${rounds} rounds`);
  const timings = measureInTurns(contestants, surroundings, { most: rounds, seconds });
  const memory = contestants.map((contestant) => peakMemory(contestant, surroundings));
  const goals = judge(count, timings);
  const most = MOST_MEMORY_MB[/** @type {keyof typeof MOST_MEMORY_MB} */ (count)];
  const cold = contestants.find(({ name }) => name === COLD);
  if (most !== undefined && cold) goals.push(judgeMemory(count, peakMemory(cold, alone(surroundings)), most));
  return { text: describe(count, timings, memory), goals };
}

/** One thread does everything. @param {Surroundings} surroundings @returns {Surroundings} */
function alone(surroundings) {
  return { ...surroundings, env: { ...surroundings.env, METIER_THREADS: "1" } };
}

/** The memory of 100,000 skills. */
function measureMany() {
  const folder = mkdtempSync(join(tmpdir(), "metier-bench-list-"));
  try {
    const count = MANY.roots * MANY.each;
    say(`generating ${count} skills`);
    const roots = Array.from({ length: MANY.roots }, (_, number) => join(folder, `skills-${number}`));
    for (const [number, root] of roots.entries()) generateSkills(root, MANY.each, `p${number}-`);
    const [project, home] = [join(folder, "project"), join(folder, "home")];
    for (const place of [project, home]) mkdirSync(place);
    sleep(2500);
    const surroundings = alone({ cwd: project, env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" } });
    const paths = roots.flatMap((root) => ["--path", root]);
    const command = [process.execPath, METIER, "list", ...paths];
    const [cold, unchanged] = [COLD, UNCHANGED].map((name) => peakMemory({ name, command }, surroundings));
    return {
      text: table(
        [`${count.toLocaleString("en")} skills, one thread`, "peak MB"],
        [
          [COLD, (cold ?? 0).toFixed(0)],
          [UNCHANGED, (unchanged ?? 0).toFixed(0)],
        ],
      ),
      goals: [judgeMemory(count, cold ?? 0, MOST_MEMORY_MB[100_000])],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {number} count @param {number} memory @param {number} most @returns {Goal} */
function judgeMemory(count, memory, most) {
  return {
    text: `${count.toLocaleString("en")}: peak memory, cold, one thread, below ${most} MB`,
    value: `${memory.toFixed(0)} MB`,
    met: memory < most,
  };
}

/**
 * @param {string} home
 * @param {string} skills
 * @param {readonly string[]} folders
 * @param {ReturnType<typeof installPeers>} peers
 * @returns {readonly Contestant[]}
 */
function makeContestants(home, skills, folders, peers) {
  const node = process.execPath;
  const [openskills = "", skillsList = "", skillsRef = ""] = PEER_NAMES;
  /** @type {readonly Contestant[]} */
  const others = [
    { name: openskills, command: [node, peers.openskills, "list"] },
    { name: skillsList, command: [node, peers.skills, "list"] },
    { name: skillsRef, command: [node, peers["skills-ref"], "to-prompt", ...folders] },
  ];
  return [
    { name: EMPTY, command: [node, join(PROGRAMS, "empty.mjs")] },
    { name: HELP, command: [node, METIER, "--help"] },
    { name: BARE, command: [node, join(PROGRAMS, "bare-read.mjs"), skills] },
    { name: COLD, command: [node, METIER, "list"], before: () => deleteIndex(home) },
    { name: UNCHANGED, command: [node, METIER, "list"] },
    ...(IS_COMPARISON ? [] : others),
  ];
}

/** The index of skills, but not the compiled code next to it. @param {string} home */
function deleteIndex(home) {
  const cache = join(home, ".metier", "cache");
  if (!existsSync(cache)) return; // Nothing has been listed yet.
  for (const name of readdirSync(cache).filter((entry) => entry !== "compile")) {
    rmSync(join(cache, name), { recursive: true, force: true });
  }
}

/**
 * A tool that doesn't list every skill isn't compared.
 *
 * @param {readonly Contestant[]} contestants
 * @param {Surroundings} surroundings
 * @param {readonly string[]} folders
 */
function checkListings(contestants, surroundings, folders) {
  const listing = [COLD, UNCHANGED, ...PEER_NAMES];
  for (const contestant of contestants) {
    const output = outputOf(contestant, surroundings);
    const missing = folders.filter((folder) => !output.includes(basename(folder)));
    if (listing.includes(contestant.name) && missing.length > 0) {
      throw new Error(`${contestant.name} does not list ${missing.length} skills, e.g. ${missing[0]}`);
    }
  }
}

/** @param {number} count @param {readonly Timing[]} timings @param {readonly number[]} memory */
function describe(count, timings, memory) {
  const bare = fastest(timings, BARE);
  const rows = timings.map(({ name, minimum, median }, index) => [
    name,
    minimum.toFixed(0),
    median.toFixed(0),
    (minimum / bare).toFixed(2),
    (memory[index] ?? 0).toFixed(0),
  ]);
  const head = [
    `${count.toLocaleString("en")} skills, ${timings[0]?.runs} runs`,
    "min ms",
    "median ms",
    "to the bare read",
    "peak MB",
  ];
  return table(head, rows);
}

/** @param {number} count @param {readonly Timing[]} timings @returns {Goal[]} */
function judge(count, timings) {
  const number = count.toLocaleString("en");
  const ratio = (/** @type {string} */ name, /** @type {string} */ to) =>
    fastest(timings, name) / fastest(timings, to);
  const times = (/** @type {number} */ value) => `${value.toFixed(2)}×`;
  const peers = PEER_NAMES.map((name) => ({ name, ratio: ratio(name, COLD) }));
  const [openskills = ""] = PEER_NAMES;
  const toPeer = ratio(UNCHANGED, openskills);
  const toBare = ratio(COLD, BARE);
  const unchanged = ratio(UNCHANGED, COLD);
  const start = ratio(HELP, EMPTY);
  return [
    {
      text: "ahead of every peer, cold, by a tenth",
      value: peers.map((peer) => `${peer.name} takes ${times(peer.ratio)}`).join(", "),
      met: peers.every((peer) => peer.ratio >= AHEAD),
    },
    { text: `unchanged at most half of ${openskills}`, value: times(toPeer), met: toPeer <= HALF },
    { text: "cold within 1.5× of the bare read", value: times(toBare), met: toBare <= 1.5 },
    { text: "unchanged below half of cold", value: times(unchanged), met: unchanged < HALF },
    {
      text: `\`--help\` within ${MOST_START}× of an empty program`,
      value: times(start),
      met: start <= MOST_START,
    },
  ].map((goal) => ({ ...goal, text: `${number}: ${goal.text}` }));
}

/** @param {readonly Timing[]} timings @param {string} name */
function fastest(timings, name) {
  return timings.find((timing) => timing.name === name)?.minimum ?? Number.NaN;
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
