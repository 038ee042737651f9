/**
 * `npm test`: set-up, type check, lint and all tests. Whatever happens, the last line is `N passed, N failed`
 * (with `, N skipped` where some were); the type check and lint count as one test each.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, runInForeground, runQuietly, runScript, say } from "./setup/repository.mjs";
import { sandboxLine } from "./setup/sandbox.mjs";
import { setUp } from "./setup/set-up.mjs";
import { addCounts, readVitestReport } from "./test/vitest-report.mjs";

/** @typedef {import("./test/vitest-report.mjs").Counts} Counts */

const TOOLS = join(ROOT, "node_modules");

/**
 * A check that passes or fails as a whole, and speaks only when it fails.
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
  const folder = mkdtempSync(join(tmpdir(), "metier-report-"));
  const report = join(folder, "report.json");
  try {
    const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${report}`];
    const vitest = join(TOOLS, "vitest", "vitest.mjs");
    const status = runInForeground(node, [vitest, "run", ...reporters, ...process.argv.slice(2)]);
    return readVitestReport(report, status);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @type {Counts} */
let counts = { passed: 0, failed: 0, skipped: 0 };

process.on("SIGINT", () => process.exit(130));
process.on("exit", (code) => {
  const failed = code !== 0 && counts.failed === 0 ? 1 : counts.failed;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  process.stdout.write(`${counts.passed} passed, ${failed} failed${skipped}\n`);
});

runScript(() => {
  const node = setUp();
  const tsc = join(TOOLS, "typescript", "bin", "tsc");
  counts = addCounts(counts, check("type check", node, [tsc, "-p", "tsconfig.test.json"]));
  const biome = join(TOOLS, "@biomejs", "biome", "bin", "biome");
  counts = addCounts(counts, check("lint", node, [biome, "check", "."]));
  counts = addCounts(counts, runVitest(node));
  if (counts.skipped > 0) say(`some tests were skipped; ${sandboxLine()}`);
  return counts.failed > 0 ? 1 : 0;
});
