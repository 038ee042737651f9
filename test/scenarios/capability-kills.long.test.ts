/** The host is killed during a change. Few here; `npm run capability-suite` makes it two hundred, at other moments each time. */
import { expect, test } from "vitest";
import { killDuring, killOften } from "../support/capability-killing.ts";
import { temporaryFolder } from "../support/temporary.ts";

const KILLS = Number(process.env.METIER_CAPABILITY_KILLS ?? 4);
const SEED = Number(process.env.METIER_CAPABILITY_SEED ?? 1);
const UNKNOWN = { ok: false, fault: { code: "capability_outcome_unknown" } };

test("what is idempotent happened once after the host was killed and the call was made again with the same key", async () => {
  const home = temporaryFolder();
  const early = await killDuring(home, "set", "k1", { stopAt: "before" });
  expect(early).toMatchObject({ made: [0, 1], answer: { ok: true, value: { isRepeat: false } } });
  const late = await killDuring(home, "set", "k2", { stopAt: "after" });
  expect(late).toMatchObject({ made: [1, 1], answer: { ok: true, value: { isRepeat: false } } });
});

test("of anything else it is said that nobody knows, and it is not made again", async () => {
  const home = temporaryFolder();
  const early = await killDuring(home, "add", "k1", { stopAt: "before" });
  expect(early).toMatchObject({ made: [0, 0], answer: UNKNOWN });
  const late = await killDuring(home, "add", "k2", { stopAt: "after" });
  expect(late).toMatchObject({ made: [1, 1], answer: UNKNOWN });
});

test("a second host that makes the same call waits for the first, also for its death", async () => {
  const home = temporaryFolder();
  const repeated = await killDuring(home, "set", "k1", { stopAt: "before" }, { meanwhile: true });
  expect(repeated).toMatchObject({ made: [0, 1], answer: { ok: true } });
  const unknown = await killDuring(home, "add", "k2", { stopAt: "after" }, { meanwhile: true });
  expect(unknown).toMatchObject({ made: [1, 1], answer: UNKNOWN });
});

test(`at whatever moment the host is killed, no change is made twice (${KILLS} kills, seed ${SEED})`, {
  timeout: 60_000 + KILLS * 20_000,
}, async () => {
  const { cutOff, faults } = await killOften(temporaryFolder(), KILLS, SEED);
  expect(faults).toEqual([]);
  expect(Object.values(cutOff).reduce((sum, count) => sum + count)).toBe(KILLS);
});
