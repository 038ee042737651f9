/** The engine of durable runs on SQLite: starts, wake-ups, claims and takeovers, also beside many runs that wait. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KILLS, LEASE_MS, PARKED, QUEUED, SAMPLES } from "./engine/sizes.mjs";
import { machineLine, table } from "./report.mjs";

/**
 * @typedef {{ readonly starts: number[], readonly wakes: number[], readonly claims: number[] }} Starts in milliseconds
 *
 * @typedef {object} Measured
 * @property {Starts} alone
 * @property {Starts} parked
 * @property {{ readonly gaps: number[], readonly claims: number[] }} queued
 * @property {{ readonly engine: number, readonly journal: number }} throughput runs a second
 * @property {number[]} takeovers
 * @property {number} bytesPerParked
 */

const PROGRAM = join(import.meta.dirname, "programs", "engine-cost.mjs");
const many = (/** @type {number} */ count) => count.toLocaleString("en-US");
const ABOUT = `${many(SAMPLES)} of each, one after the other, in one process. A start is from \`enqueue\` to the call of \`advance\`, a wake-up from \`wake\` to it. A bare claim is openworkflow's own, on the same file, with nothing due: what an idle worker does four times a second. Takeovers are ${KILLS} kills of a process that holds a run, at a lease of ${LEASE_MS / 1000} s.`;

/** @returns {string} the section for the document */
export function benchEngine() {
  const machine = machineLine();
  const { alone, parked, queued, throughput, takeovers, bytesPerParked } = measure();
  const parkedName = `beside ${many(PARKED)} parked runs`;
  const queuedName = `${many(QUEUED)} queued runs`;
  const [start50, start99] = [quantile(parked.starts, 0.5), quantile(parked.starts, 0.99)];
  const latest = Math.max(...takeovers);
  return [
    "## The engine of durable runs: `npm run bench -- engine`",
    machine,
    ABOUT,
    table(
      ["SQLite", "p50 ms", "p99 ms"],
      [
        ["start, nothing else there", ...times(alone.starts)],
        [`start, ${parkedName}`, ...times(parked.starts)],
        ["wake-up, nothing else there", ...times(alone.wakes)],
        [`wake-up, ${parkedName}`, ...times(parked.wakes)],
        ["bare claim, nothing else there", ...times(alone.claims)],
        [`bare claim, ${parkedName}`, ...times(parked.claims)],
        [`from one run's end to the next one's start, ${queuedName}`, ...times(queued.gaps)],
        [`bare claim with ${queuedName} in openworkflow, as we do not`, ...times(queued.claims)],
        ["takeover", ...times(takeovers)],
      ],
    ),
    table(
      ["throughput, 20 slots", "runs a second"],
      [
        ["engine alone", throughput.engine.toFixed(0)],
        [
          "with 5 steps, each one flushed and two plain journal writes of 1 KB",
          throughput.journal.toFixed(0),
        ],
      ],
    ),
    table(
      ["goal", "measured", ""],
      [
        goal(`claim within 2 ms ${parkedName}, by the median`, quantile(parked.claims, 0.5), 2),
        goal(`wake-up p99 within 500 ms ${parkedName}`, quantile(parked.wakes, 0.99), 500),
        goal("start p50 within 10 ms", start50, 10),
        goal("start p99 within 30 ms", start99, 30),
        goal("takeover within the lease and 1 s", latest, LEASE_MS + 1000),
        [
          "a parked run within 10 KB",
          `${(bytesPerParked / 1024).toFixed(1)} KB`,
          bytesPerParked <= 10_240 ? "met" : "missed",
        ],
      ],
    ),
  ].join("\n\n");
}

/** @returns {Measured} */
function measure() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-bench-engine-")));
  try {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, folder], {
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

/** @param {readonly number[]} numbers */
function times(numbers) {
  return [quantile(numbers, 0.5).toFixed(2), quantile(numbers, 0.99).toFixed(2)];
}

/** @param {string} name @param {number} is @param {number} most both in milliseconds */
function goal(name, is, most) {
  return [name, `${is.toFixed(2)} ms`, is <= most ? "met" : "missed"];
}

/** @param {readonly number[]} numbers @param {number} part */
function quantile(numbers, part) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
