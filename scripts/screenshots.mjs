/**
 * `npm run screenshots`: takes pictures of every inspector view, light and dark, into `docs/images`. Needs Chromium.
 */
import { join } from "node:path";
import { ROOT, runInForeground, runScript } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

runScript(() => {
  const node = setUp();
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const file = "test/inspector/screenshots.long.test.ts";
  return runInForeground(node, [vitest, "run", file], {
    ...process.env,
    METIER_TESTS: "long",
    METIER_SCREENSHOTS: "1",
    METIER_REQUIRE_BROWSER: "1",
  });
});
