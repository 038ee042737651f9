/** `npm run fuzz`: runs the fuzz tests far longer than `npm test` does (`METIER_FUZZ_RUNS` sets how many runs). */
import { join } from "node:path";
import { ROOT, runInForeground, runScript, say } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

const DEFAULT_RUNS = "20000";
const ONE_HOUR_MS = "3600000";

runScript(() => {
  const node = setUp();
  const runs = process.env.METIER_FUZZ_RUNS ?? DEFAULT_RUNS;
  say(`fuzzing with ${runs} runs per property`);
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const args = [
    vitest,
    "run",
    "packages/skills/test/fuzz",
    "--testTimeout",
    ONE_HOUR_MS,
    ...process.argv.slice(2),
  ];
  return runInForeground(node, args, { ...process.env, METIER_FUZZ_RUNS: runs });
});
