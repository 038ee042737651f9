/**
 * Starting a command: what each sandbox backend costs over a plain spawn, and what ours adds to a bare call of
 * bubblewrap with the same arguments.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { machineLine, table } from "./report.mjs";
import { BACKENDS, BARE, BUBBLEWRAP, MADE_FOR_IT, PLAIN, UNLIMITED } from "./sandbox/contestants.mjs";

/** @typedef {Readonly<Record<string, readonly number[] | string>>} Measured milliseconds, or why there are none */

const ROUNDS = 100;
const WARM_UPS = 10;
const MOST_OVER_BARE = 2;
const MOST_OVER_SPAWN = 5;
const ABOUT = `The command is \`true\`, ${ROUNDS} times by each in turns. \`metier\`'s backends also check it, measure its work folder, and watch it; the bare call does not. "Over bare" is the median of the differences round by round. The sandbox of \`${BUBBLEWRAP}\` was made before its command came.`;
const PROGRAM = join(import.meta.dirname, "programs", "sandbox-cost.mjs");

/** @returns {string} the section for the document */
export function benchSandbox() {
  const machine = machineLine();
  const measured = measure();
  return [
    "## Starting a command in the sandbox: `npm run bench -- sandbox`",
    machine,
    ABOUT,
    table(
      ["one command", "min ms", "median ms", "to plain spawn", "over bare, ms"],
      [PLAIN, UNLIMITED, BARE, MADE_FOR_IT, ...BACKENDS].map((name) => describe(name, measured)),
    ),
    table(["goal", "measured", ""], [judge(measured), judgeSpawn(measured)]),
  ].join("\n\n");
}

/** @returns {Measured} */
function measure() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-bench-sandbox-")));
  try {
    const args = [PROGRAM, folder, String(ROUNDS), String(WARM_UPS)];
    const { status, stdout } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (status !== 0) throw new Error(`\`${PROGRAM}\` ended with exit code ${status}.`);
    return JSON.parse(stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} name @param {Measured} measured */
function describe(name, measured) {
  const times = measured[name] ?? "not measured";
  if (typeof times === "string") return [name, `not available: ${times}`, "", "", ""];
  const ratio = median(times) / median(timesOf(PLAIN, measured));
  const over = overBare(name, measured);
  return [
    name,
    Math.min(...times).toFixed(2),
    median(times).toFixed(2),
    `${ratio.toFixed(2)}×`,
    name === BARE || name === PLAIN || name === UNLIMITED || over === undefined ? "" : over.toFixed(2),
  ];
}

/** @param {Measured} measured */
function judge(measured) {
  const goal = `${MADE_FOR_IT}: at most ${MOST_OVER_BARE} ms over the bare call`;
  const over = overBare(MADE_FOR_IT, measured);
  if (over === undefined) return [goal, "bubblewrap does not work here", ""];
  return [goal, `${over.toFixed(2)} ms`, over <= MOST_OVER_BARE ? "met" : "missed"];
}

/** The warm-ups are the commands before it, and every command has its own sandbox. @param {Measured} measured */
function judgeSpawn(measured) {
  const goal = `the tenth command of a run: less than ${MOST_OVER_SPAWN} ms over a plain spawn`;
  const over = overOther(BUBBLEWRAP, PLAIN, measured);
  if (over === undefined) return [goal, "bubblewrap does not work here", ""];
  const bare = overOther(UNLIMITED, PLAIN, measured)?.toFixed(2) ?? "";
  const met = over < MOST_OVER_SPAWN ? "met" : "missed";
  return [goal, `${over.toFixed(2)} ms (\`bwrap\` alone: ${bare} ms)`, met];
}

/** @param {string} name @param {Measured} measured */
function overBare(name, measured) {
  return overOther(name, BARE, measured);
}

/** @param {string} name @param {string} other @param {Measured} measured @returns {number | undefined} */
function overOther(name, other, measured) {
  const base = timesOf(other, measured);
  const differences = timesOf(name, measured).flatMap((time, round) => time - (base[round] ?? Number.NaN));
  return base.length === 0 || differences.length === 0 ? undefined : median(differences);
}

/** @param {string} name @param {Measured} measured @returns {readonly number[]} */
function timesOf(name, measured) {
  const times = measured[name];
  return times === undefined || typeof times === "string" ? [] : times;
}

/** @param {readonly number[]} numbers */
function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}
