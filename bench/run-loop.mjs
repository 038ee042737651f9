/**
 * Running a skill: what an isolated run costs over the bare loop of the AI SDK, with the same instant model, tool and
 * steps, and how much memory a run holds while it waits for its model.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { say } from "../scripts/setup/repository.mjs";
import { machineLine, table } from "./report.mjs";
import { BARE, CONTESTANTS, createFolders, METIER, PROJECT_FILES } from "./run-loop/contestants.mjs";

/** @typedef {{ readonly minimum: number, readonly median: number }} Timing milliseconds of one run */
/** @typedef {{ readonly steps: number, readonly together: number, readonly rounds: number }} Load */
/** @typedef {Load & { readonly timings: ReadonlyMap<string, Timing> }} Measured */

/** @type {readonly Load[]} */
const LOADS = [
  { steps: 1, together: 1, rounds: 150 },
  { steps: 10, together: 1, rounds: 50 },
  { steps: 100, together: 1, rounds: 15 },
  { steps: 1, together: 50, rounds: 15 },
  { steps: 10, together: 50, rounds: 7 },
  { steps: 100, together: 50, rounds: 3 },
];
const IDLE_RUNS = 200;
const MOST_PER_STEP = 1;
const MOST_PER_RUN = 5;
/** How processor time is measured (processes, and turns in each), and the most it may be relative to the bare loop. */
const CPU = { steps: 10, processes: 5, turns: 15, warmUps: 8, most: 1.6 };
/** The first run in a process: how many processes, and how many milliseconds it may spend loading. */
const FIRST = { processes: 7, most: 120 };
const OWN = CONTESTANTS.filter((name) => name !== BARE);
const ABOUT =
  `The model answers at once, so that only the loop is measured. Our runs without a folder are what the library does by itself; the folder of the others has ${PROJECT_FILES.toLocaleString("en")} files. All ` +
  "hold each call against policy and schema, and write each event to their log as it happens.";
const PROGRAMS = join(import.meta.dirname, "programs");

/** @returns {string} the section for the document */
export function benchRun() {
  const machine = machineLine();
  const measured = LOADS.map(measureLoad);
  const first = measureFirst();
  return [
    "## Running a skill: `npm run bench -- run`",
    machine,
    ABOUT,
    table(
      ["one run, min (median) ms", ...CONTESTANTS, ...OWN.map((name) => `${name}: over bare`)],
      measured.map(describeLoad),
    ),
    describeMemory(),
    describeFirst(first),
    table(
      ["goal (by the fastest run)", "measured", ""],
      [...OWN.flatMap((name) => judge(name, measured)), judgeCpu(), judgeFirst(first)],
    ),
  ].join("\n\n");
}

/** @param {Load} load @returns {Measured} */
function measureLoad(load) {
  const { steps, together, rounds } = load;
  say(`${steps} steps, ${together} at once`);
  const warmUps = Math.ceil(rounds / 3);
  /** @type {number[][]} */
  const times = runProgram("run-cost.mjs", [], [steps, together, rounds, warmUps]);
  return {
    ...load,
    timings: new Map(CONTESTANTS.map((name, index) => [name, summarise(times[index] ?? [])])),
  };
}

/** @param {number[]} times @returns {Timing} */
function summarise(times) {
  const sorted = times.toSorted((a, b) => a - b);
  return { minimum: sorted[0] ?? Number.NaN, median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN };
}

/** @param {Measured} measured */
function describeLoad(measured) {
  const times = CONTESTANTS.map((name) => {
    const { minimum, median } = timingOf(measured, name);
    return `${minimum.toFixed(2)} (${median.toFixed(2)})`;
  });
  const { steps, together } = measured;
  const load = `${steps} ${steps === 1 ? "step" : "steps"}, ${together} at once`;
  return [load, ...times, ...OWN.map((name) => over(measured, name).toFixed(2))];
}

function describeMemory() {
  const rows = CONTESTANTS.map((name) => {
    say(`${name}, ${IDLE_RUNS} waiting runs`);
    /** @type {number} */
    const bytes = runProgram("run-memory.mjs", [name], [IDLE_RUNS]);
    return [name, (bytes / 1024).toFixed(0)];
  });
  return table([`${IDLE_RUNS} runs that wait for their model`, "KB a run"], rows);
}

/** @typedef {{ readonly setUp: number, readonly first: number, readonly third: number }} FirstRun milliseconds */

/** In turns. @returns {ReadonlyMap<string, readonly FirstRun[]>} */
function measureFirst() {
  say(`first runs of ${FIRST.processes} processes`);
  const names = [BARE, METIER];
  /** @type {Map<string, FirstRun[]>} */
  const runs = new Map(names.map((name) => [name, []]));
  for (let count = 0; count < FIRST.processes; count++) {
    for (const name of names) runs.get(name)?.push(runProgram("run-first.mjs", [name], []));
  }
  return runs;
}

/** @param {ReadonlyMap<string, readonly FirstRun[]>} runs */
function describeFirst(runs) {
  const head = ["1 step in its own process, min (median) ms", "set up", "first run", "third run"];
  const rows = [...runs].map(([name, all]) => {
    const cells = /** @type {const} */ (["setUp", "first", "third"]).map((part) => {
      const { minimum, median } = summarise(all.map((run) => run[part]));
      return `${minimum.toFixed(1)} (${median.toFixed(1)})`;
    });
    return [name, ...cells];
  });
  return table(head, rows);
}

/** @param {ReadonlyMap<string, readonly FirstRun[]>} runs */
function judgeFirst(runs) {
  const { minimum, median } = summarise((runs.get(METIER) ?? []).map(({ first, third }) => first - third));
  const goal = `metier, first run in a process: at most ${FIRST.most} ms of loading`;
  const measured = `${minimum.toFixed(0)} ms (median ${median.toFixed(0)}), over the third run`;
  return [goal, measured, minimum <= FIRST.most ? "met" : "missed"];
}

/**
 * What a step and a run cost, from the shortest and the longest run; the goal must hold for every length.
 *
 * @param {string} name
 * @param {readonly Measured[]} all
 */
function judge(name, all) {
  const counts = [...new Set(all.map(({ together }) => together))];
  return counts.map((together) => {
    const measured = all.filter((load) => load.together === together);
    const [first, last] = [measured.at(0), measured.at(-1)];
    if (first === undefined || last === undefined) throw new Error("Nothing was measured.");
    const step = (over(last, name) - over(first, name)) / (last.steps - first.steps);
    const run = over(first, name) - step * first.steps;
    const isMet = measured.every((load) => over(load, name) <= load.steps * MOST_PER_STEP + MOST_PER_RUN);
    const goal = `${name}, ${together} at once: at most ${MOST_PER_STEP} ms a step and ${MOST_PER_RUN} ms a run over bare`;
    return [goal, `${step.toFixed(2)} ms a step, ${run.toFixed(2)} ms a run`, isMet ? "met" : "missed"];
  });
}

/** Uses the median process: what the compiler makes of the same code varies by a fifth between processes. */
function judgeCpu() {
  const { steps, processes, turns, warmUps, most } = CPU;
  say(`processor time of ${steps} steps`);
  /** @type {[bare: number, own: number][]} */
  const means = runProgramTimes("run-cpu.mjs", [], [steps, turns, warmUps], processes);
  const measured = means
    .map(([bare, own]) => ({ bare, own, ratio: own / bare }))
    .toSorted((a, b) => a.ratio - b.ratio);
  const [least, middle, worst] = [measured[0], measured[Math.floor(processes / 2)], measured.at(-1)];
  if (!least || !middle || !worst) throw new Error("Nothing was measured.");
  const range = `${least.ratio.toFixed(2)} to ${worst.ratio.toFixed(2)} in ${processes} processes`;
  return [
    `metier, ${steps} steps: at most ${most} times the processor time of the bare loop`,
    `${middle.ratio.toFixed(2)}× (${middle.own.toFixed(2)} to ${middle.bare.toFixed(2)} ms; ${range})`,
    middle.ratio <= most ? "met" : "missed",
  ];
}

/** Milliseconds that a run takes beyond the bare loop's. @param {Measured} measured @param {string} name */
function over(measured, name) {
  return timingOf(measured, name).minimum - timingOf(measured, BARE).minimum;
}

/** @param {Measured} measured @param {string} name @returns {Timing} */
function timingOf({ timings }, name) {
  return timings.get(name) ?? summarise([]);
}

/**
 * What a program prints, as JSON, started this many times, one after the other. It gets an empty home and a project,
 * the same every time: whenever ext4 creates a file, it searches past what was deleted in the last seconds.
 *
 * @param {string} program
 * @param {readonly string[]} before arguments before the folder
 * @param {readonly number[]} after and after it
 * @param {number} times
 */
function runProgramTimes(program, before, after, times) {
  const folder = mkdtempSync(join(tmpdir(), "metier-bench-run-"));
  try {
    createFolders(folder);
    const args = ["--expose-gc", join(PROGRAMS, program), ...before, folder, ...after.map(String)];
    return Array.from({ length: times }, () => {
      const { status, stdout } = spawnSync(process.execPath, args, {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      });
      if (status !== 0) throw new Error(`\`${program}\` ended with exit code ${status}.`);
      return JSON.parse(stdout);
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} program @param {readonly string[]} before @param {readonly number[]} after */
function runProgram(program, before, after) {
  return runProgramTimes(program, before, after, 1)[0];
}
