/**
 * What the engine of durable runs costs on SQLite. Prints, as JSON, the milliseconds of every measured step: from enqueueing
 * to the start of a run, from waking to its start, of bare claims, with nothing beside them, beside many parked and beside many
 * queued runs; and how many runs go through in a second.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { BackendSqlite } from "openworkflow/sqlite";
import { KILLS, LEASE_MS, PARKED, QUEUED, SAMPLES, THROUGH } from "../engine/sizes.mjs";

/** @typedef {import("@metier/durable").RunEngine} RunEngine */
/** @typedef {import("@metier/durable").RunLease} RunLease */
/** @typedef {import("@metier/durable").AdvanceOutcome} AdvanceOutcome */

const ENDED = /** @type {const} */ ({ kind: "ended" });
const PARK = /** @type {const} */ ({ kind: "parked" });
const [folder = "", role = "measure"] = process.argv.slice(2);
const file = join(folder, "metier.db");

if (role === "hang") {
  work(open(file).engine, async ({ lost }) => {
    process.stdout.write("started\n");
    await once(lost, "abort");
    return ENDED;
  });
} else {
  const measured = {
    alone: await measureStarts(join(folder, "alone.db"), async () => undefined),
    parked: await measureStarts(join(folder, "parked.db"), fillParked),
    queued: await measureQueued(join(folder, "queued.db")),
    throughput: {
      engine: await measureThroughput(join(folder, "through.db"), 0),
      journal: await measureThroughput(join(folder, "journal.db"), 5),
    },
    takeovers: await measureTakeovers(),
    bytesPerParked:
      (statSync(join(folder, "parked.db")).size - statSync(join(folder, "alone.db")).size) / PARKED,
  };
  process.stdout.write(JSON.stringify(measured));
}

/** @param {string} path */
function open(path) {
  const [store, engine] = [openSqliteStore({ file: path }), openSqliteEngine({ file: path })];
  if (!store.ok || !engine.ok) throw new Error("SQLite cannot be opened.");
  return { journal: store.value.journal, engine: engine.value, close: () => engine.value.close() };
}

/** @param {RunEngine} engine @param {(lease: RunLease) => Promise<AdvanceOutcome>} advance */
function work(engine, advance, slots = 4) {
  const onFault = (/** @type {unknown} */ fault) => {
    throw fault;
  };
  return engine.work({ slots, leaseMs: LEASE_MS, onFault, advance });
}

/**
 * Starts and wake-ups, one after the other, beside whatever `fill` put there.
 *
 * @param {string} path
 * @param {(path: string, engine: RunEngine) => Promise<void>} fill
 */
async function measureStarts(path, fill) {
  const { engine, close } = open(path);
  await fill(path, engine);
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
  return { starts, wakes, claims: await measureClaims(path, SAMPLES) };
}

/** Bare claims of openworkflow on that file: what an idle worker does all the time. @param {string} path @param {number} count */
async function measureClaims(path, count) {
  const backend = BackendSqlite.connect(path, { namespaceId: "metier" });
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
 * @param {string} path
 * @param {RunEngine} engine
 */
async function fillParked(path, engine) {
  await engine.enqueue("parked-0");
  let isParked = false;
  const worker = work(engine, async () => {
    isParked = true;
    return PARK;
  });
  while (!isParked || worker.active > 0) await delay(5);
  await worker.stop(1000);
  const database = new DatabaseSync(path);
  const copy = (/** @type {string} */ table, /** @type {Readonly<Record<string, string>>} */ changed) => {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const names = columns.map(({ name }) => String(name));
    const values = names.map((name) => changed[name] ?? `"${name}"`);
    return `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join(", ")})
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${PARKED - 1})
      SELECT ${values.join(", ")} FROM ${table}, n`;
  };
  const runs = copy("workflow_runs", { id: "id || '-' || i", workflow_name: "'parked-' || i" });
  const waits = copy("step_attempts", {
    id: "id || '-' || i",
    workflow_run_id: "workflow_run_id || '-' || i",
    context: "json_set(context, '$.signal', 'wake:parked-' || i)",
  });
  database.exec(`BEGIN; ${runs}; ${waits}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);`);
  database.close();
}

/** How long a slot is empty when one run ends and many wait; and a bare claim with as many of them. @param {string} path */
async function measureQueued(path) {
  const { engine, close } = open(path);
  for (let number = 0; number < QUEUED; number++) await engine.enqueue(`queued-${number}`);
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
  const bare = BackendSqlite.connect(`${path}-bare`, { namespaceId: "metier" });
  for (let number = 0; number < QUEUED; number++) await bare.createWorkflowRun(plainRun(`queued-${number}`));
  await bare.stop();
  return { gaps, claims: await measureClaims(`${path}-bare`, Math.min(SAMPLES, 50)) };
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

/** Runs a second on 20 slots, each with so many steps of one flushed and two plain writes of 1 KB. @param {string} path @param {number} steps */
async function measureThroughput(path, steps) {
  const { engine, journal, close } = open(path);
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
    for (let number = 0; number < count; number++) void engine.enqueue(`run-${number}`);
  });
  const rate = (count / (performance.now() - from)) * 1000;
  await delay(50);
  await close();
  return rate;
}

/** From the kill of a worker's process to the start of its run in this one. */
async function measureTakeovers() {
  /** @type {number[]} */ const times = [];
  for (let number = 0; number < KILLS; number++) {
    const { engine, close } = open(file);
    await engine.enqueue(`killed-${number}`);
    const child = spawn(process.execPath, [import.meta.filename, folder, "hang"], {
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
