/**
 * Tests named `*.long.test.ts` take more than a few seconds: attacks, races, kills, terminals, every command of the docs.
 * `METIER_TESTS` chooses: `quick` (`npm test`) leaves them out, `long` (`npm run test:exhaustive`) runs them alone, one file
 * at a time; without it all tests are found. Their environment is made clean first: no test sees the developer's own home.
 */
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { LIBRARY_ENTRIES } from "./scripts/build/library-entries.mjs";
import { findFilesThatChangeTheProcess } from "./test/support/alone.ts";

const { METIER_TESTS: chosen } = process.env;
const LONG = "**/*.long.test.ts";
const QUICK = ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "examples/*/test/*.test.ts"];

/**
 * Files that change what all tests of a process share get a worker of their own, and so do long ones. All others share
 * workers: what they import is loaded once for each worker instead of once for each file, which was half of all the work.
 */
const ALONE = [LONG, ...findFilesThatChangeTheProcess()];

export default defineConfig({
  resolve: {
    // What a program imports is its source here, as for the type check.
    alias: Object.entries(LIBRARY_ENTRIES).map(([name, source]) => ({
      find: new RegExp(`^metier${name === "index" ? "" : `/${name}`}$`),
      replacement: resolve(import.meta.dirname, source),
    })),
  },
  test: {
    globalSetup: ["test/support/clean-environment.ts"],
    setupFiles: ["test/support/no-network.ts"],
    // Long enough for a machine that does much else: a test ends by what it waits for, and this is for one that hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 90_000, interval: 20 } },
    // A process for each worker: starting a program copies the page tables of the process that starts it, and one process of
    // all workers is so large that this took a third of the time of the whole suite.
    pool: "forks",
    // Much of what the tests do is waiting for processes, so there are more workers than the usual half of the cores.
    maxWorkers: chosen === "long" ? 1 : 2,
    projects: [
      project("alone", chosen === "long" ? [LONG] : ALONE, true),
      ...(chosen === "long" ? [] : [project("together", QUICK, false)]),
    ],
  },
});

function project(name: string, include: readonly string[], isolate: boolean) {
  const others = [...(isolate ? [] : ALONE), ...(chosen === "quick" ? [LONG] : [])];
  return {
    extends: true as const,
    test: { name, include: [...include], exclude: ["**/node_modules/**", ...others], isolate },
  };
}
