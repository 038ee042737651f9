import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/fixtures/**", "node_modules/**"],
    setupFiles: ["test/support/no-network.ts"],
    testTimeout: 60_000,
    pool: "threads",
  },
});
