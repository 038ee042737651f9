/** A Vitest reporter that leaves the counts of a run in the file that `METIER_TEST_COUNTS` names, and prints nothing. */
import { writeFileSync } from "node:fs";

/** @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: number }} Counts */

/**
 * Failures that belong to no test count as well: a file that cannot be loaded, an error that nobody caught.
 *
 * @param {readonly import("vitest/node").TestModule[]} modules
 * @param {readonly unknown[]} unhandled
 * @returns {Counts}
 */
function countTests(modules, unhandled) {
  const states = modules.flatMap((module) =>
    [...module.children.allTests()].map((test) => test.result().state),
  );
  const count = (/** @type {string} */ state) => states.filter((other) => other === state).length;
  const broken = modules.filter((module) => module.errors().length > 0).length;
  return {
    passed: count("passed"),
    failed: count("failed") + broken + unhandled.length,
    skipped: count("skipped"),
  };
}

// biome-ignore lint/style/noDefaultExport: Vitest takes a reporter by its default export
export default class CountReporter {
  // Read now: the tests' own environment is cleaned of our variables.
  #file = process.env.METIER_TEST_COUNTS;

  /** @param {readonly import("vitest/node").TestModule[]} modules @param {readonly unknown[]} unhandled */
  onTestRunEnd(modules, unhandled) {
    if (this.#file) writeFileSync(this.#file, JSON.stringify(countTests(modules, unhandled)));
  }
}
