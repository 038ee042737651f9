/**
 * Tests named `*.long.test.ts` take more than a few seconds: attacks, races, kills, terminals, every command of the docs.
 * `METIER_TESTS` chooses: `quick` (`npm test`) leaves them out, `long` (`npm run test:exhaustive`) runs them alone, one file
 * at a time; without it all tests are found. Their environment is made clean first: no test sees the developer's own home.
 */
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { LIBRARY_ENTRIES } from "./scripts/build/library-entries.mjs";

const { METIER_TESTS: chosen } = process.env;
const LONG = "**/*.long.test.ts";

export default defineConfig({
  resolve: {
    // What a program imports is its source here, as for the type check.
    alias: Object.entries(LIBRARY_ENTRIES).map(([name, source]) => ({
      find: new RegExp(`^metier${name === "index" ? "" : `/${name}`}$`),
      replacement: resolve(import.meta.dirname, source),
    })),
  },
  test: {
    include:
      chosen === "long"
        ? [LONG]
        : ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "examples/*/test/*.test.ts"],
    exclude: ["**/node_modules/**", ...(chosen === "quick" ? [LONG] : [])],
    globalSetup: ["test/support/clean-environment.ts"],
    setupFiles: ["test/support/no-network.ts"],
    testTimeout: 60_000,
    pool: "threads",
    // Much of what the tests do is waiting for processes, so there are more workers than the usual half of the cores.
    maxWorkers: chosen === "long" ? 1 : 2,
    // Some attempts on the sandbox load the whole machine: what fails beside them is asked once more. A fault fails twice.
    retry: 1,
  },
});
