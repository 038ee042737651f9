/**
 * `npm run bench -- [name] --against <git ref>`: builds another version next to this one and measures both in one run,
 * in turns, with this version's programs, or with the other version's own if these don't fit it. Other tools are left
 * out where they take long (`IS_COMPARISON`). Records nothing.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT, runQuietly, SetUpError, say } from "../scripts/setup/repository.mjs";
import { table } from "./report.mjs";
import { isRate, readMeasured } from "./tables.mjs";

/** How often each version runs. What is slower in all runs is slower by more than noise. */
const ROUNDS = 2;
/** A smaller difference isn't reported, no matter how steady it is. */
const LEAST = 0.05;

/** @param {readonly string[]} names of benches @param {string} ref @returns {number} the exit code: 1 if something is slower */
export function compareWith(names, ref) {
  const found = runQuietly("git", ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`]);
  if (!found.ok)
    throw new SetUpError(`\`${ref}\` is no version of this repository: name a branch, a tag or a commit.`);
  const folder = mkdtempSync(join(tmpdir(), "metier-bench-against-"));
  try {
    const other = buildOther(folder, found.output);
    const rows = names.flatMap((name) => compareBench(name, other));
    const slower = rows.filter((row) => row.at(-1) === "slower").length;
    process.stdout.write(
      `${table(["measured", `at ${ref}`, "now", "ratio", ""], rows)}\n\n${slower} of ${rows.length} are slower by more than noise.\n`,
    );
    return slower > 0 ? 1 : 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} folder @param {string} commit @returns {string} where it is */
function buildOther(folder, commit) {
  const other = join(folder, "other");
  say(`building ${commit.slice(0, 12)}`);
  for (const [program, args, cwd] of /** @type {const} */ ([
    ["git", ["clone", "--quiet", "--no-checkout", ROOT, other], ROOT],
    ["git", ["checkout", "--quiet", commit], other],
    [process.execPath, ["scripts/setup.mjs"], other],
  ])) {
    const done = runQuietly(program, args, { cwd });
    if (!done.ok) throw new SetUpError(`\`${commit}\` could not be built.`, done.output);
  }
  cpSync(join(other, "bench"), join(folder, "own-bench"), { recursive: true });
  return other;
}

/** @param {string} name @param {string} other @returns {string[][]} */
function compareBench(name, other) {
  /** @type {Record<"now" | "before", string[]>} */
  const sections = { now: [], before: [] };
  for (let round = 0; round < ROUNDS; round++) {
    say(`${name}, ${round + 1} of ${ROUNDS}`);
    sections.before.push(sectionOf(name, other, other) ?? "");
    sections.now.push(sectionOf(name, ROOT, other) ?? "");
  }
  return compareSections(sections.before, sections.now).map(([first = "", ...rest]) => [
    `${name}: ${first}`,
    ...rest,
  ]);
}

/** @param {string} name @param {string} tree @param {string} other @returns {string | undefined} */
function sectionOf(name, tree, other) {
  const run = () =>
    runQuietly(process.execPath, ["bench/run.mjs", ...name.split(" "), "--print"], {
      cwd: tree,
      env: { ...process.env, METIER_BENCH_COMPARISON: "1", METIER_BENCH_KEPT: dirname(other) },
    });
  if (tree !== ROOT) copyBench(join(ROOT, "bench"), tree);
  const measured = run();
  if (measured.ok) return measured.output;
  const own = join(tree, "..", "own-bench");
  if (tree === ROOT || !existsSync(own)) throw new SetUpError(`\`bench ${name}\` failed.`, measured.output);
  copyBench(own, tree);
  const again = run();
  say(
    again.ok
      ? `${name}: the other version is measured by its own bench`
      : `${name}: the other version has no such bench`,
  );
  return again.ok ? again.output : undefined;
}

/** @param {string} from @param {string} tree */
function copyBench(from, tree) {
  rmSync(join(tree, "bench"), { recursive: true, force: true });
  cpSync(from, join(tree, "bench"), { recursive: true });
}

/**
 * What both versions measured, each by its best run.
 *
 * @param {readonly string[]} then sections of the other version
 * @param {readonly string[]} now
 * @returns {string[][]} name, then, now, ratio, and whether it is slower in every run
 */
export function compareSections(then, now) {
  const [before, after] = [collect(then), collect(now)];
  return [...after].flatMap(([key, { name, column, values }]) => {
    const old = before.get(key)?.values ?? [];
    if (old.length < ROUNDS || values.length < ROUNDS) return [];
    // As if less were always better.
    const cost = (/** @type {number} */ value) => (isRate(column) ? 1 / value : value);
    const [costs, oldCosts] = [values.map(cost), old.map(cost)];
    const isSlower = Math.min(...costs) > Math.max(...oldCosts) * (1 + LEAST);
    const isFaster = Math.max(...costs) * (1 + LEAST) < Math.min(...oldCosts);
    const best = (/** @type {readonly number[]} */ all) =>
      isRate(column) ? Math.max(...all) : Math.min(...all);
    const ratio = Math.min(...costs) / Math.min(...oldCosts);
    const verdict = isSlower ? "slower" : isFaster ? "faster" : "";
    return [[`${name}, ${column}`, String(best(old)), String(best(values)), `${ratio.toFixed(2)}×`, verdict]];
  });
}

/** @param {readonly string[]} sections */
function collect(sections) {
  /** @type {Map<string, { name: string, column: string, values: number[] }>} */
  const cells = new Map();
  for (const { name, column, value } of sections.flatMap(readMeasured)) {
    const key = JSON.stringify([name, column]);
    const known = cells.get(key) ?? { name, column, values: [] };
    known.values.push(value);
    cells.set(key, known);
  }
  return cells;
}
