/**
 * Finding a skill: what the index and a query cost compared with a plain BM25, a plain scan, MiniSearch and Orama over
 * the same text, what the index on disk saves, and how well each ranks real requests. Each runs in its own process.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "../scripts/setup/repository.mjs";
import { BODY_LENGTHS, generateDocuments, generateQueries } from "./find/documents.mjs";
import { DESCRIPTIONS, installFinders, METIER, PEERS, PEERS_SET_UP, PLAIN, SCAN } from "./find/finders.mjs";
import { ROUTING_SET_IS_HERE } from "./find/routing-set.mjs";
import { IS_COMPARISON, measureInTurns } from "./measure.mjs";
import { machineLine, table } from "./report.mjs";

/** @typedef {{ readonly index: number, readonly p50: number, readonly p95: number, readonly memory: number }} Cost */
/** @typedef {import("./find/routing-set.mjs").Quality} Quality */
/** @typedef {{ readonly count: number, readonly rounds: number, readonly names: readonly string[] }} Size */

/** Above 10,000 skills of this length, the others take minutes and gigabytes. */
const EVERYONE = [SCAN, METIER, PLAIN, ...PEERS];
/** @type {readonly Size[]} */
const SIZES = [
  { count: 1000, rounds: 3, names: EVERYONE },
  { count: 10_000, rounds: 1, names: EVERYONE },
  { count: 31_700, rounds: 1, names: [METIER, PLAIN] },
  { count: 86_000, rounds: 1, names: [METIER, PLAIN] },
];
/** As a share of a plain BM25. */
const [MOST_QUERY, MOST_BUILD] = [2, 1];
const QUERY_LIMIT_MS = 3000;
const TIMEOUT_MS = 600_000;
const ABOUT_COSTS =
  `Generated skills as long as real ones: half of the bodies have fewer than ${BODY_LENGTHS.median.toLocaleString("en")} ` +
  `characters, nine tenths fewer than ${BODY_LENGTHS.ninetieth.toLocaleString("en")}. Of 500 requests after a first round ` +
  "that does not count. The plain BM25 gets texts and requests without stop words, and is not charged for leaving them out.";
const ABOUT_PEERS =
  "The libraries stand here as they come, and set up with our stop words and more weight for name and description. " +
  "Orama finds the right skill for a name or a few words, but ranks far lower for whole sentences, and stop words help " +
  "it only in part. The weights of `metier` were chosen on these requests, which favors it here.";
const PROGRAMS = join(import.meta.dirname, "programs");

/** @returns {string} the section for the document */
export function benchFind() {
  const machine = machineLine();
  installFinders();
  const sizes = SIZES.map((size) => ({ ...size, costs: measureCosts(size) }));
  return [
    "## Finding skills: `npm run bench -- find`",
    machine,
    ABOUT_COSTS,
    ...sizes.map(describeCosts),
    measureDisk(),
    ...(ROUTING_SET_IS_HERE && !IS_COMPARISON ? [describeQuality()] : []),
    table(["goal", "measured", ""], sizes.flatMap(judgeCosts)),
  ].join("\n\n");
}

/** The fastest of several runs each. @param {Size} size @returns {Map<string, Cost>} */
function measureCosts({ count, rounds, names }) {
  /** @type {Map<string, Cost>} */
  const costs = new Map();
  for (let round = 0; round < rounds; round++) {
    for (const name of IS_COMPARISON ? [METIER] : names) {
      say(`${name}, ${count} skills`);
      const cost = runProgram("find-cost.mjs", [name, String(count), String(QUERY_LIMIT_MS)]);
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
    p50: Math.min(a.p50, b.p50),
    p95: Math.min(a.p95, b.p95),
    memory: Math.min(a.memory, b.memory),
  };
}

/** @param {Size & { costs: Map<string, Cost> }} size */
function describeCosts({ count, names, costs }) {
  const plain = costs.get(PLAIN);
  const rows = names.map((name) => {
    const cost = costs.get(name);
    if (cost === undefined) return [name, "did not finish", "", "", "", "", "", ""];
    const to = (/** @type {"index" | "p50" | "p95"} */ key) =>
      (cost[key] / (plain?.[key] ?? Number.NaN)).toFixed(2);
    const { index, p50, p95, memory } = cost;
    return [
      name,
      index.toFixed(0),
      to("index"),
      p50.toFixed(2),
      to("p50"),
      p95.toFixed(2),
      to("p95"),
      memory.toFixed(0),
    ];
  });
  const head = `${count.toLocaleString("en")} skills`;
  const to = "to plain";
  return table([head, "index ms", to, "query p50 ms", to, "p95 ms", to, "MB more"], rows);
}

/** The index over real files, from scratch and unchanged. */
function measureDisk() {
  const folder = mkdtempSync(join(tmpdir(), "metier-bench-find-"));
  try {
    say("generating 10000 skill files");
    const skills = join(folder, "skills");
    const cache = join(folder, "cache");
    for (const { name, description, body } of generateDocuments(10_000)) {
      mkdirSync(join(skills, name), { recursive: true });
      const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
      writeFileSync(join(skills, name, "SKILL.md"), text);
    }
    sleep(2500); // an index ignores files younger than two seconds
    const [query = ""] = generateQueries(1, 10_000);
    const run = (/** @type {string} */ program, /** @type {string[]} */ ...args) => [
      process.execPath,
      join(PROGRAMS, program),
      skills,
      ...args,
    ];
    const open = run("find-open.mjs", cache, query);
    const timings = measureInTurns(
      [
        { name: "walk and read only", command: run("bare-read.mjs") },
        { name: "read, plain BM25 and find", command: run("find-plain.mjs", query) },
        {
          name: "index and find, cold",
          command: open,
          before: () => rmSync(cache, { recursive: true, force: true }),
        },
        { name: "index and find, unchanged", command: open },
      ],
      { cwd: folder, env: process.env },
      { most: 5, seconds: 30 },
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

/** @param {Size & { costs: Map<string, Cost> }} size */
function judgeCosts({ count, costs }) {
  const own = costs.get(METIER);
  const plain = costs.get(PLAIN);
  const libraries = PEERS.flatMap((name) => costs.get(name)?.p50 ?? []);
  const judge = (/** @type {string} */ goal, /** @type {number} */ ratio, /** @type {number} */ most) => [
    `${count.toLocaleString("en")}: ${goal}`,
    `${ratio.toFixed(2)}×`,
    ratio <= most ? "met" : "missed",
  ];
  const ratio = (/** @type {"index" | "p50" | "p95"} */ key) =>
    (own?.[key] ?? Number.NaN) / (plain?.[key] ?? Number.NaN);
  return [
    judge(`a query at p50 within ${MOST_QUERY}× of the plain BM25`, ratio("p50"), MOST_QUERY),
    judge(`a query at p95 within ${MOST_QUERY}× of the plain BM25`, ratio("p95"), MOST_QUERY),
    judge("the index made no slower than the plain BM25's", ratio("index"), MOST_BUILD),
    ...(libraries.length > 0
      ? [
          judge(
            "a query no slower than the faster library's",
            (own?.p50 ?? Number.NaN) / Math.min(...libraries),
            1,
          ),
        ]
      : []),
  ];
}

/** What a program prints, as JSON; `undefined` if it ran out of time or memory. @param {string} program @param {readonly string[]} args */
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
