/** All tests run in one go. Their environment is made clean first: no test sees the developer's own home or settings. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/fixtures/**", "node_modules/**"],
    globalSetup: ["test/support/clean-environment.ts"],
    setupFiles: ["test/support/no-network.ts"],
    testTimeout: 60_000,
    pool: "threads",
    // Much of what the tests do is waiting for processes, so there are more workers than the usual half of the cores.
    maxWorkers: 2,
    // Some attempts on the sandbox load the whole machine: what fails beside them is asked once more. A fault fails twice.
    retry: 1,
  },
});
