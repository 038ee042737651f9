/** A small real load to check the simulation: runs that arrive at random, two workers, the real store and engine. */
import { setTimeout as delay } from "node:timers/promises";
import { forAllTenants, forTenant } from "@metier/durable";
import { stepOf } from "./measure-journal.mjs";
import { readUse } from "./postgres-use.mjs";
import { createRandom } from "./random.mjs";
import { BASE, FLEET, LOAD } from "./scenarios.mjs";

/** @typedef {import("./measure.mjs").Bed} Bed */

const PER_SECOND = 12;
const SETTLE_MS = 8_000;
const WINDOW_MS = 30_000;
const TENANT = "load";

/** The same load, for the simulation. @type {import("./scenarios.mjs").Scenario} */
const PLAN = {
  ...BASE,
  load: {
    ...LOAD,
    runsPerDay: PER_SECOND * 86_400,
    peak: 1,
    tenants: 1,
    batch: 1,
    modelMs: 150,
    toolMs: 40,
    parking: 0,
    watched: 0,
    listsPerSecond: 0,
  },
  // No notices for writes: the journal has no service around it here.
  fleet: { ...FLEET, workers: 2, slots: 16, servers: 1, tellsAll: false, partitions: true },
  settleMs: SETTLE_MS,
  windowMs: 600_000,
};

/** @param {Bed} bed @returns {Promise<import("../simulate.mjs").Measured["check"]>} */
export async function measureLoad(bed) {
  const random = createRandom(3);
  const engines = [await bed.openEngine(), await bed.openEngine()];
  const busy = { now: 0, area: 0, last: performance.now() };
  const workers = forAllTenants(() =>
    engines.map((engine) =>
      engine.work({
        slots: PLAN.fleet.slots,
        leaseMs: PLAN.fleet.leaseMs,
        onFault: (fault) => {
          throw fault;
        },
        async advance(lease) {
          occupy(busy, 1);
          await forTenant(TENANT, () => advance(bed, random, lease));
          occupy(busy, -1);
          return { kind: "ended" };
        },
      }),
    ),
  );
  const end = performance.now() + SETTLE_MS + WINDOW_MS;
  const arriving = arrive(bed, engines, random, end);
  await delay(SETTLE_MS);
  occupy(busy, 0);
  busy.area = 0;
  const [before, from] = [readUse(bed.cluster), performance.now()];
  await delay(WINDOW_MS);
  occupy(busy, 0);
  const [after, ms] = [readUse(bed.cluster), performance.now() - from];
  await arriving;
  await Promise.all(workers.map((worker) => worker.stop(60_000)));
  return {
    plan: PLAN,
    cores: (after.cpuMs - before.cpuMs) / ms,
    walMegabytes: (after.walBytes - before.walBytes) / 1000 / ms,
    busySlots: busy.area / ms,
  };
}

/** @param {Bed} bed @param {readonly import("@metier/durable").RunEngine[]} engines @param {import("./random.mjs").Random} random @param {number} end */
async function arrive({ journal }, [engine], random, end) {
  for (let number = 0; performance.now() < end; number++) {
    await delay(random.exponential(1000 / PER_SECOND));
    const id = `load-${number}`;
    void forTenant(TENANT, async () => {
      await journal.create({ id, tenant: TENANT, order: { message: "x".repeat(500) } });
      await engine?.enqueue(id, { tenant: TENANT });
    });
  }
}

/** @param {Bed} bed @param {import("./random.mjs").Random} random @param {import("@metier/durable").RunLease} lease */
async function advance({ journal }, random, { runId, holder, term }) {
  const { load } = PLAN;
  const own = { rootId: runId, holder, term };
  let written = 0;
  const write = () => {
    written += 1;
    return journal.write(own, stepOf(runId, written));
  };
  await journal.take(own);
  await write();
  const steps = random.count(load.steps);
  for (let step = 1; step <= steps; step++) {
    await delay(random.lognormal(load.modelMs, load.spread));
    await write();
    if (step === steps) break;
    if (random.next() < load.changing) await write();
    await delay(random.lognormal(load.toolMs, load.spread));
    await write();
  }
  await journal.write(own, { runId, status: "completed", result: { text: "x".repeat(500) } });
}

/** @param {{ now: number, area: number, last: number }} busy @param {number} change */
function occupy(busy, change) {
  const now = performance.now();
  busy.area += busy.now * (now - busy.last);
  busy.last = now;
  busy.now += change;
}
