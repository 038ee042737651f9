/** Counts what Vitest's JSON report says, including the failures that belong to no test. */
import { readFileSync } from "node:fs";

/** @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: number }} Counts */

/**
 * A file that cannot be loaded counts as one failed test, and so does a run that failed although every test passed
 * (an unhandled rejection, a crash).
 *
 * @param {string} file
 * @param {number} status the exit code of Vitest
 * @returns {Counts}
 */
export function readVitestReport(file, status) {
  const report = readReport(file);
  const passed = report?.numPassedTests ?? 0;
  const skipped = (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0);
  const unloadable = (report?.testResults ?? []).filter(
    (result) => result.status === "failed" && result.assertionResults.length === 0,
  );
  const failed = (report?.numFailedTests ?? 0) + unloadable.length;
  return { passed, failed: failed === 0 && status !== 0 ? 1 : failed, skipped };
}

/** @param {Counts} a @param {Counts} b @returns {Counts} */
export function addCounts(a, b) {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped };
}

/**
 * @typedef {object} Report
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {readonly { status: string, assertionResults: readonly unknown[] }[]} testResults
 */

/** @param {string} file @returns {Report | undefined} */
function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined; // Vitest ended before it wrote one; its exit code says so
  }
}
