/**
 * `npm run kill-suite`: kills 200 processes while they install, update and remove (`METIER_KILLS` sets how many). To
 * repeat a run with the same delays, pass its seed: `METIER_KILL_SEED=<seed> npm run kill-suite`.
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { ROOT, runInForeground, runScript, say } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

const DEFAULT_KILLS = "200";
const MOST_SEEDS = 2 ** 31;

runScript(() => {
  const node = setUp();
  const kills = process.env.METIER_KILLS ?? DEFAULT_KILLS;
  const seed = process.env.METIER_KILL_SEED ?? String(randomInt(MOST_SEEDS));
  say(`killing ${kills} processes, seed ${seed}`);
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", "test/install/kill.long.test.ts", ...process.argv.slice(2)];
  return runInForeground(node, args, { ...process.env, METIER_KILLS: kills, METIER_KILL_SEED: seed });
});
