/**
 * All tests run in one go, but for the long ones in `test/exhaustive`, which `METIER_EXHAUSTIVE=1` chooses instead. Their
 * environment is made clean first: no test sees the developer's own home or settings.
 */
import { resolve } from "node:path";
import { defineConfig } from "vitest/config";
import { LIBRARY_ENTRIES } from "./scripts/build/library-entries.mjs";

const isExhaustive = process.env.METIER_EXHAUSTIVE === "1";

export default defineConfig({
  resolve: {
    // What a program imports is its source here, as for the type check.
    alias: Object.entries(LIBRARY_ENTRIES).map(([name, source]) => ({
      find: new RegExp(`^metier${name === "index" ? "" : `/${name}`}$`),
      replacement: resolve(import.meta.dirname, source),
    })),
  },
  test: {
    include: isExhaustive
      ? ["test/exhaustive/*.test.ts"]
      : ["packages/*/test/**/*.test.ts", "test/**/*.test.ts", "examples/*/test/*.test.ts"],
    exclude: ["**/node_modules/**", ...(isExhaustive ? [] : ["test/exhaustive/**"])],
    globalSetup: ["test/support/clean-environment.ts"],
    setupFiles: ["test/support/no-network.ts"],
    testTimeout: 60_000,
    pool: "threads",
    // Much of what the tests do is waiting for processes, so there are more workers than the usual half of the cores.
    maxWorkers: isExhaustive ? 1 : 2,
    // Some attempts on the sandbox load the whole machine: what fails beside them is asked once more. A fault fails twice.
    retry: 1,
  },
});
