/** Twenty kills; `npm run kill-suite` makes it two hundred, with another seed each time. */
import { expect, test } from "vitest";
import { killOften } from "../support/killing.ts";

const KILLS = Number(process.env.METIER_KILLS ?? 20);
const SEED = Number(process.env.METIER_KILL_SEED ?? 1);
const MINUTES_MS = 60_000;

test(`whoever is killed while installing, updating or removing leaves skills wholly old or wholly new (${KILLS} times, seed ${SEED})`, {
  timeout: Math.max(5, KILLS / 4) * MINUTES_MS,
}, async () => {
  const { killed, faults } = await killOften(KILLS, SEED);
  expect(faults).toEqual([]);
  expect(Object.values(killed).reduce((sum, count) => sum + count)).toBe(KILLS);
});
