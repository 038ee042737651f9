/**
 * `npm test`: set-up, type check, lint and the quick tests (`METIER_TESTS` chooses others). Whatever happens, the last line is
 * `N passed, N failed` (with `, N skipped` where some were); the type check and lint count as one test each.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, runInForeground, runQuietly, runScript, say } from "./setup/repository.mjs";
import { sandboxLine, sandboxStatus } from "./setup/sandbox.mjs";
import { setUp } from "./setup/set-up.mjs";

/** @typedef {import("./test/count-reporter.mjs").Counts} Counts */

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

runScript(() => {
  const node = setUp();
  add(check("type check", node, [join(TOOLS, "typescript", "bin", "tsc")]));
  add(check("lint", node, [join(TOOLS, "@biomejs", "biome", "bin", "biome"), "check", "."]));
  add(runVitest(node));
  if (total.skipped > 0 && !sandboxStatus().available) say(`tests were skipped; ${sandboxLine()}`);
  return total.failed > 0 ? 1 : 0;
});

/** @param {Counts} counts */
function add(counts) {
  total = {
    passed: total.passed + counts.passed,
    failed: total.failed + counts.failed,
    skipped: total.skipped + counts.skipped,
  };
}

/**
 * A check that passes or fails as a whole, and shows its output only when it fails.
 *
 * @param {string} title
 * @param {string} node
 * @param {readonly string[]} args
 * @returns {Counts}
 */
function check(title, node, args) {
  const { ok, output } = runQuietly(node, args);
  process.stdout.write(ok ? `${title}: ok\n` : `${title}: failed\n${output}\n`);
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

/** @param {string} node @returns {Counts} */
function runVitest(node) {
  const folder = mkdtempSync(join(tmpdir(), "metier-test-counts-"));
  const file = join(folder, "counts.json");
  try {
    const vitest = join(TOOLS, "vitest", "vitest.mjs");
    const args = [vitest, "run", "--reporter=dot", `--reporter=${REPORTER}`, ...process.argv.slice(2)];
    const status = runInForeground(node, args, {
      ...process.env,
      METIER_TESTS: process.env.METIER_TESTS ?? "quick",
      METIER_TEST_COUNTS: file,
    });
    const counts = readCounts(file);
    return status !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} file @returns {Counts} */
function readCounts(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }; // Vitest ended before it wrote them; its exit code says so
  }
}
