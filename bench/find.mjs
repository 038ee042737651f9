/**
 * Finding a skill: what the index and a query cost beside a plain scan, MiniSearch and Orama over the same text, what
 * the index on disk saves, and how well each ranks on real requests. Everyone runs in a process of its own.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "../scripts/setup/repository.mjs";
import { DESCRIPTIONS, installFinders, METIER, PEERS, PEERS_SET_UP, SCAN } from "./find/finders.mjs";
import { ROUTING_SET_IS_HERE } from "./find/routing-set.mjs";
import { generateSkills } from "./generate-skills.mjs";
import { measureInTurns } from "./measure.mjs";
import { machineLine, table } from "./report.mjs";

/** @typedef {{ readonly index: number, readonly query: number, readonly memory: number }} Cost */
/** @typedef {import("./find/routing-set.mjs").Quality} Quality */

/** At 100,000 the bodies are short: what is measured is the number of skills, and the peers need the room. */
const SIZES = [
  { count: 1000, words: 400 },
  { count: 10_000, words: 400 },
  { count: 100_000, words: 40 },
];
const ROUNDS = 2;
const QUERY_LIMIT_MS = 3000;
const TIMEOUT_MS = 600_000;
const ABOUT_PEERS =
  "The libraries stand here as they come, and set up with our stop words and more weight for name and description. " +
  "Orama finds the right skill for a name or a few words, but ranks far lower for whole sentences, and stop words help " +
  "it only in part. The weights of `metier` were chosen on these requests, which favours it here.";
const PROGRAMS = join(import.meta.dirname, "programs");

/** @returns {string} the section for the document */
export function benchFind() {
  const machine = machineLine();
  installFinders();
  const sizes = SIZES.map((size) => ({ ...size, costs: measureCosts(size) }));
  return [
    "## Finding skills: `npm run bench -- find`",
    machine,
    ...sizes.map(describeCosts),
    measureDisk(),
    ...(ROUTING_SET_IS_HERE ? [describeQuality()] : []),
    table(["goal", "measured", ""], sizes.map(judgeCost)),
  ].join("\n\n");
}

/** The fastest of some runs each. @param {{ count: number, words: number }} size @returns {Map<string, Cost>} */
function measureCosts({ count, words }) {
  /** @type {Map<string, Cost>} */
  const costs = new Map();
  for (let round = 0; round < (count > 10_000 ? 1 : ROUNDS); round++) {
    for (const name of [SCAN, METIER, ...PEERS]) {
      say(`${name}, ${count} skills`);
      const cost = runProgram("find-cost.mjs", [name, String(count), String(words), String(QUERY_LIMIT_MS)]);
      const known = costs.get(name);
      if (cost !== undefined) costs.set(name, known ? fastest(known, cost) : cost);
    }
  }
  return costs;
}

/** @param {Cost} a @param {Cost} b @returns {Cost} */
function fastest(a, b) {
  return {
    index: Math.min(a.index, b.index),
    query: Math.min(a.query, b.query),
    memory: Math.min(a.memory, b.memory),
  };
}

/** @param {{ count: number, words: number, costs: Map<string, Cost> }} size */
function describeCosts({ count, words, costs }) {
  const scan = costs.get(SCAN)?.query ?? Number.NaN;
  const rows = [SCAN, METIER, ...PEERS].map((name) => {
    const cost = costs.get(name);
    if (cost === undefined) return [name, "did not finish", "", "", "", ""];
    const { index, query, memory } = cost;
    return [
      name,
      index.toFixed(0),
      (index / scan).toFixed(1),
      query.toFixed(2),
      (query / scan).toFixed(3),
      memory.toFixed(0),
    ];
  });
  const head = `${count.toLocaleString("en")} skills, bodies of about ${words} words`;
  return table([head, "index ms", "in scans", "query ms", "to a scan", "MB more"], rows);
}

/** The index over real files, from nothing and unchanged. */
function measureDisk() {
  const folder = mkdtempSync(join(tmpdir(), "metier-bench-find-"));
  try {
    say("generating 10000 skill files");
    const skills = join(folder, "skills");
    const cache = join(folder, "cache");
    generateSkills(skills, 10_000);
    sleep(2500); // files younger than two seconds are never taken from the index
    const command = [process.execPath, join(PROGRAMS, "find-open.mjs"), skills, cache];
    const timings = measureInTurns(
      [
        { name: "walk and read only", command: [process.execPath, join(PROGRAMS, "bare-read.mjs"), skills] },
        {
          name: "index and find, cold",
          command,
          before: () => rmSync(cache, { recursive: true, force: true }),
        },
        { name: "index and find, unchanged", command },
      ],
      { cwd: folder, env: process.env },
      { most: 5, seconds: 60 },
    );
    const bare = timings[0]?.minimum ?? Number.NaN;
    const rows = timings.map(({ name, minimum, median }) => [
      name,
      minimum.toFixed(0),
      median.toFixed(0),
      (minimum / bare).toFixed(2),
    ]);
    return table(["10,000 skill files, whole processes", "min ms", "median ms", "to the bare read"], rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function describeQuality() {
  const all = [DESCRIPTIONS, METIER, ...PEERS, ...PEERS_SET_UP].map((name) => {
    say(`${name}, development set`);
    /** @type {Record<string, Quality> | undefined} */
    const qualities = runProgram("find-quality.mjs", [name]);
    return { name, qualities };
  });
  const groups = Object.keys(all[0]?.qualities ?? {});
  const rows = groups.flatMap((group) =>
    all.map(({ name, qualities }) => describeRow(group, name, qualities?.[group])),
  );
  const head = ["ranking of real requests", "by", "recall@1", "recall@5", "MRR@10", "nDCG@10"];
  return `${table(head, rows)}\n\n${ABOUT_PEERS}`;
}

/** @param {string} group @param {string} name @param {Quality | undefined} quality */
function describeRow(group, name, quality) {
  if (quality === undefined) return [group, name, "did not finish", "", "", ""];
  const { requests, recall1, recall5, mrr10, ndcg10 } = quality;
  const shares = [recall1, recall5, mrr10, ndcg10].map((share) => share.toFixed(3));
  return [`${group} (${requests})`, name, ...shares];
}

/** @param {{ count: number, costs: Map<string, Cost> }} size */
function judgeCost({ count, costs }) {
  const own = costs.get(METIER)?.query ?? Number.NaN;
  const others = PEERS.flatMap((name) => costs.get(name)?.query ?? []);
  const ratio = own / Math.min(...others);
  const goal = `${count.toLocaleString("en")}: a query no slower than the faster library's`;
  return [goal, `${ratio.toFixed(2)}×`, ratio <= 1 ? "met" : "missed"];
}

/** What a program prints as JSON; `undefined` when it ran out of time or memory. @param {string} program @param {readonly string[]} args */
function runProgram(program, args) {
  const { status, stdout } = spawnSync(
    process.execPath,
    ["--max-old-space-size=8192", join(PROGRAMS, program), ...args],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
      timeout: TIMEOUT_MS,
      maxBuffer: 1e8,
    },
  );
  return status === 0 ? JSON.parse(stdout) : undefined;
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
