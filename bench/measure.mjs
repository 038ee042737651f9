/** Runs programs in turns, so that a busy moment of the machine affects all of them alike. */
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Two versions of Metier are compared: what others take is the same for both, and is not measured. */
export const IS_COMPARISON = process.env.METIER_BENCH_COMPARISON === "1";
/** Then nothing in this folder is deleted before the end: deleting would slow down the next version (see `install.mjs`). */
export const KEPT_IN = process.env.METIER_BENCH_KEPT;

const REPORT_MEMORY = join(import.meta.dirname, "programs", "report-memory.cjs");

/**
 * @typedef {object} Contestant
 * @property {string} name
 * @property {readonly string[]} command program and arguments
 * @property {() => void} [before] done before each run, outside the measured time
 *
 * @typedef {{ readonly name: string, readonly minimum: number, readonly median: number, readonly runs: number }} Timing
 *     milliseconds of wall time
 *
 * @typedef {{ readonly cwd: string, readonly env: NodeJS.ProcessEnv }} Surroundings
 */

/**
 * Each runs once per round. Rounds stop at `most`, or after `seconds` and at least three rounds.
 *
 * @param {readonly Contestant[]} contestants
 * @param {Surroundings} surroundings
 * @param {{ most: number, seconds: number }} bounds
 * @returns {readonly Timing[]}
 */
export function measureInTurns(contestants, surroundings, { most, seconds }) {
  const times = contestants.map(() => /** @type {number[]} */ ([]));
  const end = performance.now() + seconds * 1000;
  for (let round = 0; round < most && (round < 3 || performance.now() < end); round++) {
    for (const [index, contestant] of contestants.entries()) {
      contestant.before?.();
      const start = performance.now();
      run(contestant, surroundings, "ignore");
      times[index]?.push(performance.now() - start);
    }
  }
  return contestants.map(({ name }, index) => summarise(name, times[index] ?? []));
}

/**
 * @param {Contestant} contestant
 * @param {Surroundings} surroundings
 * @returns {string} what it prints
 */
export function outputOf(contestant, surroundings) {
  // To a file: a program that ends with `process.exit` may lose what it wrote to a pipe.
  return withTemporaryFile((file) => {
    const output = openSync(file, "w");
    contestant.before?.();
    run(contestant, surroundings, output);
    closeSync(output);
    return readFileSync(file, "utf8");
  });
}

/**
 * @param {Contestant} contestant
 * @param {Surroundings} surroundings
 * @returns {number} peak memory in MB
 */
export function peakMemory(contestant, surroundings) {
  return withTemporaryFile((file) => {
    const env = {
      ...surroundings.env,
      NODE_OPTIONS: `--require "${REPORT_MEMORY}"`,
      BENCH_MEMORY_FILE: file,
    };
    contestant.before?.();
    run(contestant, { ...surroundings, env }, "ignore");
    return Number(readFileSync(file, "utf8")) / 1024;
  });
}

/** @template T @param {(file: string) => T} use @returns {T} */
function withTemporaryFile(use) {
  const folder = mkdtempSync(join(tmpdir(), "metier-bench-"));
  try {
    return use(join(folder, "file"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {Contestant} contestant @param {Surroundings} surroundings @param {"ignore" | number} output */
function run({ name, command: [program = "", ...args] }, surroundings, output) {
  const result = spawnSync(program, args, {
    ...surroundings,
    stdio: ["ignore", output, "pipe"],
    encoding: "utf8",
    timeout: 120_000,
  });
  if (result.status !== 0) {
    throw new Error(`${name} failed (exit code ${result.status}): ${result.error?.message ?? result.stderr}`);
  }
}

/** @param {string} name @param {number[]} times @returns {Timing} */
function summarise(name, times) {
  const sorted = times.toSorted((a, b) => a - b);
  return {
    name,
    minimum: sorted[0] ?? 0,
    median: sorted[Math.floor(sorted.length / 2)] ?? 0,
    runs: sorted.length,
  };
}
