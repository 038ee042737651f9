/**
 * How long `metier scan` takes for 10,000 skills, from scratch and unchanged, compared with a program that only reads
 * them.
 */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, say } from "../scripts/setup/repository.mjs";
import { generateSkills } from "./generate-skills.mjs";
import { measureInTurns, outputOf } from "./measure.mjs";
import { table } from "./report.mjs";

const COUNT = 10_000;
const METIER = join(ROOT, "packages/metier/bin/metier.js");
const BARE_READ = join(import.meta.dirname, "programs", "bare-read.mjs");
const BARE = "walk and read only";
const COLD = "`metier scan`, nothing known";
const UNCHANGED = "`metier scan`, unchanged";
/** What a cold scan took on one core in an earlier version, as a multiple of a bare read measured in turns with it. */
const BEFORE = 43;

/** @returns {{ readonly text: string, readonly goal: readonly string[] }} */
export function measureScan() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "metier-bench-scan-speed-")));
  try {
    say(`generating ${COUNT} skills`);
    const [home, skills] = [join(folder, "home"), join(folder, "skills")];
    mkdirSync(home);
    generateSkills(skills, COUNT);
    const surroundings = { cwd: folder, env: { PATH: process.env.PATH, HOME: home, NO_COLOR: "1" } };
    const node = process.execPath;
    const known = join(home, ".metier", "cache", "scans");
    const contestants = [
      { name: BARE, command: [node, BARE_READ, skills] },
      {
        name: COLD,
        command: [node, METIER, "scan", skills],
        before: () => rmSync(known, { recursive: true, force: true }),
      },
      { name: UNCHANGED, command: [node, METIER, "scan", skills] },
    ];
    for (const contestant of contestants.slice(1)) checkScanned(outputOf(contestant, surroundings), known);
    say("measuring, at most 7 rounds");
    return report(measureInTurns(contestants, surroundings, { most: 7, seconds: 60 }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} output @param {string} known */
function checkScanned(output, known) {
  if (!output.includes(`${COUNT} skills scanned`)) throw new Error(`It scanned something else: ${output}`);
  if (!existsSync(known)) throw new Error("What was found is not kept.");
}

/** @param {readonly import("./measure.mjs").Timing[]} timings */
function report(timings) {
  const fastest = (/** @type {string} */ name) =>
    timings.find((timing) => timing.name === name)?.minimum ?? Number.NaN;
  const rows = timings.map(({ name, minimum, median }) => [
    name,
    minimum.toFixed(0),
    median.toFixed(0),
    (minimum / fastest(BARE)).toFixed(2),
  ]);
  const ratio = fastest(COLD) / fastest(BARE) / BEFORE;
  const what = `10,000 skills, nothing known: at most a third of what it took before (${BEFORE} bare reads)`;
  return {
    text: table([`10,000 skills, ${timings[0]?.runs} runs`, "min ms", "median ms", "to the bare read"], rows),
    goal: [what, `${ratio.toFixed(2)}×`, ratio <= 1 / 3 ? "met" : "missed"],
  };
}
