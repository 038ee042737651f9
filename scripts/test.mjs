/**
 * `npm test`: runs setup, then the quick tests (`METIER_TESTS` chooses others) and, while they wait for processes, the
 * type check and lint. The last line is always `N passed, N failed` (with `, N skipped` if some were); the type check
 * and lint count as one test each.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, SetUpError, say } from "./setup/repository.mjs";
import { sandboxLine, sandboxStatus } from "./setup/sandbox.mjs";
import { setUp } from "./setup/set-up.mjs";
import { runInSightBeside, runQuietlyBeside } from "./test/run-beside.mjs";

/** @typedef {import("./test/count-reporter.mjs").Counts} Counts */
/** @typedef {import("./test/count-reporter.mjs").Report} Report */

const TOOLS = join(ROOT, "node_modules");
const REPORTER = join(ROOT, "scripts", "test", "count-reporter.mjs");

/** @type {Counts} */
let total = { passed: 0, failed: 0, skipped: 0 };

process.on("SIGINT", () => process.exit(130));
process.on("exit", (code) => {
  const failed = code !== 0 && total.failed === 0 ? 1 : total.failed;
  const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
  process.stdout.write(`${total.passed} passed, ${failed} failed${skipped}\n`);
});

try {
  process.exitCode = await testAll(setUp());
} catch (error) {
  if (!(error instanceof SetUpError)) throw error;
  if (error.output) process.stderr.write(`${error.output}\n`);
  say(error.message);
  process.exitCode = 1;
}

/** @param {string} node @returns {Promise<number>} the exit code */
async function testAll(node) {
  const checks = checkAll(node);
  add(await runVitest(node));
  for (const { title, ok, output } of await checks) {
    process.stdout.write(ok ? `${title}: ok\n` : `${title}: failed\n${output}\n`);
    add({ passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 });
  }
  if (total.skipped > 0 && !sandboxStatus().available) say(`tests were skipped; ${sandboxLine()}`);
  return total.failed > 0 ? 1 : 0;
}

/** @param {Counts} counts */
function add(counts) {
  total = {
    passed: total.passed + counts.passed,
    failed: total.failed + counts.failed,
    skipped: total.skipped + counts.skipped,
  };
}

/**
 * The checks that pass or fail as a whole, one after the other; their output is shown only when they fail.
 *
 * @param {string} node
 * @returns {Promise<readonly { readonly title: string, readonly ok: boolean, readonly output: string }[]>}
 */
async function checkAll(node) {
  const tsc = join(TOOLS, "typescript", "bin", "tsc");
  const types = await runQuietlyBeside(node, [tsc]);
  const page = await runQuietlyBeside(node, [tsc, "-p", join(ROOT, "packages", "inspector", "src", "page")]);
  const biome = join(TOOLS, "@biomejs", "biome", "bin", "biome");
  const lint = await runQuietlyBeside(node, [biome, "check", "."]);
  return [
    { title: "type check", ...types },
    { title: "type check of the inspector's page", ...page },
    { title: "lint", ...lint },
  ];
}

/** @param {string} node @returns {Promise<Counts>} */
async function runVitest(node) {
  const folder = mkdtempSync(join(tmpdir(), "metier-test-counts-"));
  const file = join(folder, "counts.json");
  try {
    const vitest = join(TOOLS, "vitest", "vitest.mjs");
    const args = [vitest, "run", "--reporter=dot", `--reporter=${REPORTER}`, ...process.argv.slice(2)];
    const status = await runInSightBeside(node, args, {
      ...process.env,
      METIER_TESTS: process.env.METIER_TESTS ?? "quick",
      METIER_TEST_COUNTS: file,
    });
    const { flaky, ...counts } = readReport(file);
    for (const name of flaky) say(`passed only when it was tried again: ${name}`);
    return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} file @returns {Report} */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { passed: 0, failed: 0, skipped: 0, flaky: [] }; // Vitest ended before it wrote them; its exit code says so
  }
}
