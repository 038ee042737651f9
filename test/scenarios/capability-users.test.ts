/** Five hundred operations of two users at once; `npm run capability-suite` makes it ten thousand, with another seed each time. */
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/temporary.ts";
import { interleaveUsers } from "../support/two-users.ts";

const OPERATIONS = Number(process.env.METIER_CAPABILITY_OPERATIONS ?? 500);
const SEED = Number(process.env.METIER_CAPABILITY_SEED ?? 1);

test(`two users of one skill at the same time read and change only their own, and all of it is recorded (${OPERATIONS} operations, seed ${SEED})`, {
  timeout: 60_000 + OPERATIONS * 200,
}, async () => {
  const { made, faults } = await interleaveUsers(temporaryFolder(), OPERATIONS, SEED);
  expect(faults).toEqual([]);
  expect(Math.min(...Object.values(made))).toBeGreaterThan(0);
  expect(Object.values(made).reduce((sum, count) => sum + count)).toBe(OPERATIONS);
});
