/**
 * `npm run durability`: kills workers 300 times while they advance durable runs (`METIER_DURABILITY_KILLS` sets how
 * often). To repeat a run with the same delays, pass its seed: `METIER_DURABILITY_SEED=<seed> npm run durability`.
 * With `-- --postgres`, workers share a database, which is restarted and cut off meanwhile
 * (`METIER_DURABILITY_WORKERS` at once).
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { ROOT, runInForeground, runScript, say } from "./setup/repository.mjs";
import { setUp } from "./setup/set-up.mjs";

const DEFAULT_KILLS = "300";
const DEFAULT_RUNS = "40";
const POSTGRES = "--postgres";
const MOST_SEEDS = 2 ** 31;

runScript(() => {
  const node = setUp();
  const {
    METIER_DURABILITY_KILLS = DEFAULT_KILLS,
    METIER_DURABILITY_RUNS = DEFAULT_RUNS,
    METIER_DURABILITY_SEED = String(randomInt(MOST_SEEDS)),
  } = process.env;
  const given = process.argv.slice(2);
  const isShared = given.includes(POSTGRES);
  const file = `test/durability/${isShared ? "postgres" : "durability"}.long.test.ts`;
  say(`killing workers ${METIER_DURABILITY_KILLS} times, seed ${METIER_DURABILITY_SEED}`);
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const args = [vitest, "run", file, "--retry=0", ...given.filter((word) => word !== POSTGRES)];
  return runInForeground(node, args, {
    ...process.env,
    METIER_DURABILITY_KILLS,
    METIER_DURABILITY_RUNS,
    METIER_DURABILITY_SEED,
    ...(isShared && { METIER_REQUIRE_POSTGRES: "1" }),
  });
});
