/**
 * Capability calls through the socket of a run: each kind of provider, as a ratio to a bare socket with the same
 * frames.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  AT_ONCE,
  BARE_PIPE,
  CALLS_PER_ROUND,
  ECHO,
  IN_PROCESS,
  PER_CALL,
  PERSISTENT,
} from "./capability/contestants.mjs";
import { machineLine, table } from "./report.mjs";

/** @typedef {{ readonly single: number[], readonly together: number[], readonly togetherMs: number }} Times in milliseconds */
/** @typedef {Readonly<Record<string, Times>>} Measured */

const ROUNDS = 20;
const WARM_UPS = 5;
const CONTESTANTS = [ECHO, BARE_PIPE, IN_PROCESS, PERSISTENT, PER_CALL];
/** @type {Readonly<Record<string, number>>} */
const GOALS = { [IN_PROCESS]: 5, [PERSISTENT]: 10 };
const ABOUT = `One call is one JSON-RPC request with a token and its answer, 200 characters of input and of output. In ${ROUNDS} rounds, in turns, ${CALLS_PER_ROUND[ECHO]} calls each (${CALLS_PER_ROUND[PER_CALL]} where each starts a process), one after the other and then ${AT_ONCE} at a time. The other rows also check the token, the schemas and the rate, write the audit log, and include the provider itself. All bridges are the same Node program.`;
const PROGRAM = join(import.meta.dirname, "programs", "capability-cost.mjs");

/** @returns {string} the section for the document */
export function benchCapability() {
  const machine = machineLine();
  const measured = measure();
  const base = medianOf(ECHO, measured);
  return [
    "## Calls of a capability: `npm run bench -- capability`",
    machine,
    ABOUT,
    table(
      [
        "who answers",
        "calls a second",
        "p50 ms",
        "p99 ms",
        "p50, to the echo",
        `calls a second, ${AT_ONCE} at a time`,
      ],
      CONTESTANTS.map((name) => describe(name, measured, base)),
    ),
    table(["what staying saves", ""], [[`${PERSISTENT} against ${PER_CALL}`, compare(measured)]]),
    table(
      ["goal, by p50", "measured", ""],
      Object.entries(GOALS).map(([name, most]) => holdTo(name, most, medianOf(name, measured) / base)),
    ),
  ].join("\n\n");
}

/** @returns {Measured} */
function measure() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-bench-capability-")));
  try {
    const args = [PROGRAM, folder, String(ROUNDS), String(WARM_UPS)];
    const { status, stdout } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (status !== 0) throw new Error(`\`${PROGRAM}\` ended with exit code ${status}.`);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} name @param {number} most @param {number} is times the echo */
function holdTo(name, most, is) {
  return [`${name}: at most ${most} times the echo`, `${is.toFixed(1)}×`, is <= most ? "met" : "missed"];
}

/** @param {string} name @param {Measured} measured */
function medianOf(name, measured) {
  return quantile(timesOf(name, measured).single, 0.5);
}

/** @param {string} name @param {Measured} measured @param {number} base p50 of the echo */
function describe(name, measured, base) {
  const { single, together, togetherMs } = timesOf(name, measured);
  const rate = rateOf(single);
  return [
    name,
    rate.toFixed(0),
    quantile(single, 0.5).toFixed(2),
    quantile(single, 0.99).toFixed(2),
    `${(quantile(single, 0.5) / base).toFixed(1)}×`,
    ((together.length / togetherMs) * 1000).toFixed(0),
  ];
}

/** @param {Measured} measured */
function compare(measured) {
  const [slow, fast] = [PER_CALL, PERSISTENT].map((name) => quantile(timesOf(name, measured).single, 0.5));
  return `${((slow ?? 0) / (fast ?? 1)).toFixed(1)} times as fast, by the median`;
}

/** @param {string} name @param {Measured} measured @returns {Times} */
function timesOf(name, measured) {
  return measured[name] ?? { single: [], together: [], togetherMs: 0 };
}

/** Calls per second. @param {readonly number[]} times */
function rateOf(times) {
  return (times.length / times.reduce((sum, time) => sum + time, 0)) * 1000;
}

/** @param {readonly number[]} numbers @param {number} part */
function quantile(numbers, part) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
