/** A Vitest reporter that writes the counts of a run to the file in `METIER_TEST_COUNTS`, and prints nothing. */
import { writeFileSync } from "node:fs";

/** @typedef {{ readonly passed: number, readonly failed: number, readonly skipped: number }} Counts */

/** @typedef {Counts & { readonly flaky: readonly string[] }} Report */

/**
 * Counts failures outside tests too: a file that can't be loaded, an uncaught error. With `--retry`, names the tests that
 * passed only when they were tried again: each one is a race to find.
 *
 * @param {readonly import("vitest/node").TestModule[]} modules
 * @param {readonly unknown[]} unhandled
 * @returns {Report}
 */
function countTests(modules, unhandled) {
  const tests = modules.flatMap((module) => [...module.children.allTests()]);
  const count = (/** @type {string} */ state) => tests.filter((test) => test.result().state === state).length;
  const broken = modules.filter((module) => module.errors().length > 0).length;
  return {
    passed: count("passed"),
    failed: count("failed") + broken + unhandled.length,
    skipped: count("skipped"),
    flaky: tests
      .filter((test) => test.diagnostic()?.flaky)
      .map((test) => `${test.module.relativeModuleId} > ${test.fullName}`),
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
