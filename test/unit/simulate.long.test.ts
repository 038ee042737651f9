/** The simulation of many machines: the same for the same seed, nothing lost, and in accord with what queues obey. */
import { describe, expect, test } from "vitest";
import { onPaper } from "../../bench/simulate/paper.mjs";
import { FLEET, LOAD, MACHINE } from "../../bench/simulate/scenarios.mjs";
import { type Plan, type Seen, simulate } from "../../bench/simulate/simulate.mjs";

const cost = (cpuMs: number, flushes = 0) => ({ cpuMs, walBytes: 1000 * flushes, flushes, trips: 1 });
const COSTS: Plan["costs"] = {
  start: cost(1, 1),
  look: cost(0.1),
  claim: cost(1, 1),
  write: cost(0.5, 1),
  renew: cost(0.3, 1),
  renewMany: cost(0.3, 1),
  renewEach: cost(0.05),
  park: cost(0.5, 1),
  wake: cost(0.5, 1),
  end: cost(1, 1),
  notify: cost(0.05),
  deliver: cost(0.01),
  events: cost(0.2),
  list: cost(1),
  purge: cost(0.5, 1),
};

/** Half a million runs a day on 25 workers, all coming one by one. */
const SMALL: Plan = {
  load: { ...LOAD, runsPerDay: 500_000, tenants: 50, batch: 1, spread: 0.5 },
  fleet: { ...FLEET, workers: 25, servers: 2 },
  machine: { ...MACHINE, cores: 4 },
  costs: COSTS,
  hour: 20,
  seed: 7,
  settleMs: 120_000,
  windowMs: 1_200_000,
};

function expectNear(is: number, wanted: number, within: number): void {
  expect(is).toBeGreaterThan(wanted * (1 - within));
  expect(is).toBeLessThan(wanted * (1 + within));
}

describe("the simulation of many machines", () => {
  test("the same seed gives the same numbers, and another one gives others", () => {
    const short = { ...SMALL, windowMs: 60_000 };
    expect(simulate(short)).toEqual(simulate(short));
    expect(simulate({ ...short, seed: 8 })).not.toEqual(simulate(short));
  });

  test("every run that starts ends, also when nothing is fast enough", () => {
    const short = { ...SMALL, windowMs: 60_000 };
    const full = { ...short, fleet: { ...SMALL.fleet, workers: 2 } };
    for (const plan of [short, full, { ...short, machine: { ...MACHINE, cores: 1, connections: 2 } }]) {
      const { started, ended } = simulate(plan);
      expect(started).toBeGreaterThan(100);
      expect(ended).toBe(started);
    }
  });

  test("slots are held as Little's law says: how many come, times how long each stays", () => {
    const { busySlots, claimsPerSecond, heldMs } = simulate(SMALL);
    expectNear(busySlots, (claimsPerSecond * heldMs) / 1000, 0.05);
  });

  test("what Postgres does is what the operations take, summed", () => {
    const seen: Seen = simulate(SMALL);
    const sum = Object.entries(seen.asksPerSecond).reduce(
      (all, [name, rate]) => all + rate * (COSTS[name]?.cpuMs ?? 0),
      0,
    );
    expectNear(seen.cores, sum / 1000, 0.03);
  });

  test.each([
    ["as it comes", {}],
    ["with renewals together", { batchedRenewals: true }],
    ["with workers that only look by themselves", { listening: false, pollMs: 1_000 }],
    ["with replicas, partitions and fewer notices", { replicas: true, partitions: true, tellsAll: false }],
  ])("it comes to the same as the arithmetic where nothing is full: %s", (_, fleet) => {
    const plan = { ...SMALL, fleet: { ...SMALL.fleet, ...fleet } };
    const [seen, paper] = [simulate(plan), onPaper(plan)];
    expectNear(seen.cores, paper.cores, 0.15);
    expectNear(seen.walMegabytes, paper.walMegabytes, 0.1);
    expectNear(seen.busySlots, paper.busySlots, 0.1);
  });

  test("a start waits when all slots are taken", () => {
    const few = { ...SMALL, windowMs: 60_000, fleet: { ...SMALL.fleet, workers: 5 } };
    expect(simulate(few).startP50).toBeGreaterThan(100 * simulate({ ...few, fleet: SMALL.fleet }).startP50);
  });
});
