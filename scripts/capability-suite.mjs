/**
 * `npm run capability-suite`: two users perform 10,000 operations at the same time (`METIER_CAPABILITY_OPERATIONS`),
 * and 200 hosts are killed while they change something (`METIER_CAPABILITY_KILLS`). To repeat a run with the same
 * order and delays, pass its seed: `METIER_CAPABILITY_SEED=<seed> npm run capability-suite`.
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { ROOT, runInForeground, runScript, say } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

const DEFAULT_OPERATIONS = "10000";
const DEFAULT_KILLS = "200";
const MOST_SEEDS = 2 ** 31;

runScript(() => {
  const node = setUp();
  const {
    METIER_CAPABILITY_OPERATIONS = DEFAULT_OPERATIONS,
    METIER_CAPABILITY_KILLS = DEFAULT_KILLS,
    METIER_CAPABILITY_SEED = String(randomInt(MOST_SEEDS)),
  } = process.env;
  say(
    `${METIER_CAPABILITY_OPERATIONS} operations and ${METIER_CAPABILITY_KILLS} kills, seed ${METIER_CAPABILITY_SEED}`,
  );
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const files = ["test/scenarios/capability-users.test.ts", "test/scenarios/capability-kills.long.test.ts"];
  return runInForeground(node, [vitest, "run", ...files, ...process.argv.slice(2)], {
    ...process.env,
    METIER_CAPABILITY_OPERATIONS,
    METIER_CAPABILITY_KILLS,
    METIER_CAPABILITY_SEED,
  });
});
