/**
 * What the engine of durable runs costs: `engine-cost.mjs <folder> <store>`. Prints the milliseconds of every measured
 * step as JSON: from enqueueing to the start of a run, from waking to its start, and bare claims, each alone, next to
 * many parked runs and next to many queued runs; and how many runs complete per second.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { forAllTenants } from "@metier/durable";
import { openBed, openPlace } from "../engine/beds.mjs";
import { KILLS, LEASE_MS, PARKED, QUEUED, SAMPLES, THROUGH } from "../engine/sizes.mjs";

/** @typedef {import("@metier/durable").RunEngine} RunEngine */
/** @typedef {import("@metier/durable").RunLease} RunLease */
/** @typedef {import("@metier/durable").AdvanceOutcome} AdvanceOutcome */
/** @typedef {import("../engine/beds.mjs").Bed} Bed */

const ENDED = /** @type {const} */ ({ kind: "ended" });
const PARK = /** @type {const} */ ({ kind: "parked" });
const [folder = "", given = "", hangsAt] = process.argv.slice(2);
const store = /** @type {import("../engine/beds.mjs").Store} */ (given);

if (hangsAt !== undefined) {
  const { engine } = await openPlace(store, hangsAt);
  work(engine, async ({ lost }) => {
    process.stdout.write("started\n");
    await once(lost, "abort");
    return ENDED;
  });
} else {
  const bed = await openBed(store, folder);
  try {
    process.stdout.write(JSON.stringify(await forAllTenants(() => measure(bed))));
  } finally {
    await bed.close();
  }
}

/** @param {Awaited<ReturnType<typeof openBed>>} bed */
async function measure(bed) {
  const alone = await measureStarts(bed, "alone", async () => undefined);
  const parked = await measureStarts(bed, "parked", (engine) => fillParked(bed, "parked", engine));
  return {
    alone,
    parked,
    queued: await measureQueued(bed),
    releases: "measureReleases" in bed ? await bed.measureReleases() : undefined,
    throughput: {
      engine: await measureThroughput(bed, "through", 0),
      journal: await measureThroughput(bed, "journal", 5),
    },
    takeovers: await measureTakeovers(bed),
    bytesPerParked: ((await bed.bytes("parked")) - (await bed.bytes("alone"))) / PARKED,
  };
}

/** @param {Bed} bed @param {string} name */
async function openNamed(bed, name) {
  return bed.open(await bed.place(name));
}

/** @param {RunEngine} engine @param {(lease: RunLease) => Promise<AdvanceOutcome>} advance */
function work(engine, advance, slots = 4) {
  const onFault = (/** @type {unknown} */ fault) => {
    throw fault;
  };
  return engine.work({
    slots,
    leaseMs: LEASE_MS,
    onFault,
    advance: (lease) => forAllTenants(() => advance(lease)),
  });
}

/**
 * Starts and wake-ups, one after the other, next to whatever `fill` added.
 *
 * @param {Bed} bed
 * @param {string} name
 * @param {(engine: RunEngine) => Promise<void>} fill
 */
async function measureStarts(bed, name, fill) {
  const { engine, close } = await openNamed(bed, name);
  await fill(engine);
  /** @type {(at: number) => void} */
  let begun = () => undefined;
  /** @type {Set<string>} */
  const seen = new Set();
  const worker = work(engine, async ({ runId }) => {
    begun(performance.now());
    return !seen.has(runId) && seen.add(runId) ? PARK : ENDED;
  });
  /** @param {() => Promise<void>} cause */
  const timeOf = async (cause) => {
    while (worker.active > 0) await delay(1);
    const start = /** @type {Promise<number>} */ (new Promise((resolve) => (begun = resolve)));
    const from = performance.now();
    await cause();
    return (await start) - from;
  };
  /** @type {number[]} */ const starts = [];
  /** @type {number[]} */ const wakes = [];
  for (let number = 0; number < SAMPLES; number++) {
    starts.push(await timeOf(() => engine.enqueue(`sample-${number}`)));
    wakes.push(await timeOf(() => engine.wake(`sample-${number}`)));
  }
  await worker.stop(1000);
  await close();
  return { starts, wakes, claims: await measureClaims(await bed.claimer(name), SAMPLES) };
}

/**
 * Bare claims of openworkflow in that place: what an idle worker does all the time.
 *
 * @param {Awaited<ReturnType<Bed["claimer"]>>} backend
 * @param {number} count
 */
async function measureClaims(backend, count) {
  /** @type {number[]} */ const times = [];
  for (let number = 0; number < count; number++) {
    const from = performance.now();
    await backend.claimWorkflowRun({ workerId: `bench-${number}`, leaseDurationMs: 60_000 });
    times.push(performance.now() - from);
  }
  await backend.stop();
  return times;
}

/**
 * One run that was really parked, and copies of its rows.
 *
 * @param {Bed} bed
 * @param {string} name
 * @param {RunEngine} engine
 */
async function fillParked(bed, name, engine) {
  await engine.enqueue("parked-0");
  let isParked = false;
  const worker = work(engine, async () => {
    isParked = true;
    return PARK;
  });
  while (!isParked || worker.active > 0) await delay(5);
  await worker.stop(1000);
  await bed.copyParked(name);
}

/** How long a slot stays empty when one run ends and many wait; and a bare claim next to as many. @param {Bed} bed */
async function measureQueued(bed) {
  const { engine, close } = await openNamed(bed, "queued");
  await enqueueAll(engine, "queued", QUEUED);
  /** @type {number[]} */ const gaps = [];
  let last = Number.NaN;
  await new Promise((resolve) => {
    const advance = async () => {
      if (!Number.isNaN(last)) gaps.push(performance.now() - last);
      if (gaps.length === SAMPLES) resolve(undefined);
      last = performance.now();
      return ENDED;
    };
    work(engine, advance, 1);
  });
  await close();
  await (await openNamed(bed, "bare")).close();
  const bare = await bed.claimer("bare");
  for (let number = 0; number < QUEUED; number++) await bare.createWorkflowRun(plainRun(`queued-${number}`));
  return { gaps, claims: await measureClaims(bare, Math.min(SAMPLES, 50)) };
}

/**
 * Several at a time, because a store on another machine answers later.
 *
 * @param {RunEngine} engine
 * @param {string} name
 * @param {number} count
 */
async function enqueueAll(engine, name, count) {
  for (let from = 0; from < count; from += 100) {
    const ids = Array.from({ length: Math.min(100, count - from) }, (_, index) => `${name}-${from + index}`);
    await Promise.all(ids.map((id) => engine.enqueue(id)));
  }
}

/** @param {string} workflowName */
function plainRun(workflowName) {
  return {
    workflowName,
    version: null,
    idempotencyKey: null,
    config: {},
    context: null,
    input: null,
    parentStepAttemptNamespaceId: null,
    parentStepAttemptId: null,
    availableAt: null,
    deadlineAt: null,
  };
}

/** Runs per second on 20 slots. Each step makes one flushed write and two plain writes of 1 KB. @param {Bed} bed @param {string} name @param {number} steps */
async function measureThroughput(bed, name, steps) {
  const { engine, journal, close } = await openNamed(bed, name);
  const count = steps === 0 ? THROUGH : THROUGH / 10;
  const value = "x".repeat(1000);
  for (let number = 0; number < count; number++) {
    await journal.create({ id: `run-${number}`, tenant: "bench", order: {} });
  }
  const from = performance.now();
  let ended = 0;
  await new Promise((resolve) => {
    const advance = async (/** @type {RunLease} */ { runId, holder, term }) => {
      const lease = { rootId: runId, holder, term };
      if (steps > 0) await journal.take(lease);
      for (let step = 1; step <= steps; step++) {
        await journal.write(lease, { runId, events: [{ seq: 2 * step - 1, event: value }] });
        await journal.write(lease, { runId, events: [{ seq: 2 * step, event: value }] });
        await journal.write(lease, { runId, entries: [{ key: `step-${step}`, value }] });
      }
      ended += 1;
      if (ended === count) resolve(undefined);
      return ENDED;
    };
    work(engine, advance, 20);
    void enqueueAll(engine, "run", count);
  });
  const rate = (count / (performance.now() - from)) * 1000;
  await delay(50);
  await close();
  return rate;
}

/** From killing a worker's process to the start of its run in this one. @param {Bed} bed */
async function measureTakeovers(bed) {
  const place = await bed.place("takeovers");
  /** @type {number[]} */ const times = [];
  for (let number = 0; number < KILLS; number++) {
    const { engine, close } = await bed.open(place);
    await engine.enqueue(`killed-${number}`);
    const child = spawn(process.execPath, [import.meta.filename, folder, store, place], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await delay(Math.random() * LEASE_MS);
    const from = performance.now();
    child.kill("SIGKILL");
    await new Promise((resolve) => {
      work(engine, async () => {
        resolve(undefined);
        return ENDED;
      });
    });
    times.push(performance.now() - from);
    await delay(50);
    await close();
  }
  return times;
}
