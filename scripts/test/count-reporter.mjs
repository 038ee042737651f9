/** A Vitest reporter that writes the counts of a run to the file in `METIER_TEST_COUNTS`, and prints nothing. */
import { writeFileSync } from "node:fs";

/** @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: number }} Counts */

/**
 * Counts failures outside tests too: a file that can't be loaded, an uncaught error.
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
  // Read now: our variables are removed from the tests' own environment.
  #file = process.env.METIER_TEST_COUNTS;

  /** @param {readonly import("vitest/node").TestModule[]} modules @param {readonly unknown[]} unhandled */
  onTestRunEnd(modules, unhandled) {
    if (this.#file) writeFileSync(this.#file, JSON.stringify(countTests(modules, unhandled)));
  }
}
