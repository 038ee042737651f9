/** What the engine costs: runs that are added, claimed and woken, and workers that are idle or hold leases. */
import { setTimeout as delay } from "node:timers/promises";
import { forAllTenants } from "@metier/durable";
import { runSql } from "../../scripts/postgres/cluster.mjs";
import { measure } from "./measure-journal.mjs";
import { readUse } from "./postgres-use.mjs";

/**
 * @typedef {import("./postgres.mjs").Cost} Cost
 * @typedef {import("./measure.mjs").Bed} Bed
 * @typedef {import("@metier/durable").AdvanceOutcome} AdvanceOutcome
 */

const RUNS = 1_000;
const SLOTS = 8;
const LEASE_MS = 10_000;
const IDLE = 20;
const IDLE_MS = 15_000;
const SETTLE_MS = 3_000;
/** Leases that are renewed every half second. */
const HELD = 200;
const SHORT_LEASE_MS = 1_500;
const HELD_MS = 8_000;

/** @param {Bed} bed @returns {Promise<Readonly<Record<"enqueue" | "claim" | "look" | "renew" | "wake" | "purge", Cost>>>} */
export async function measureEngine(bed) {
  const { cluster, openEngine } = bed;
  return forAllTenants(async () => {
    const engine = await openEngine();
    const named = (/** @type {string} */ what) =>
      Array.from({ length: RUNS }, (_, number) => `${what}-${number}`);
    const enqueue = await measure(cluster, named("ends"), (id) => engine.enqueue(id));
    const claim = await measureClaims(bed, engine, { kind: "ended" });
    const purge = await measure(cluster, ["all"], () => engine.purge(new Date(Date.now() + 1)));
    for (const id of named("parks")) await engine.enqueue(id);
    await measureClaims(bed, engine, { kind: "parked" });
    const wake = await measure(cluster, named("parks"), (id) => engine.wake(id));
    await measureClaims(bed, engine, { kind: "ended" });
    const renew = await measureRenewals(bed, engine);
    const look = await measureLooks(bed);
    return {
      enqueue,
      claim: { ...claim, flushes: 0 },
      look,
      renew,
      wake,
      purge: { ...purge, cpuMs: purge.cpuMs / RUNS, walBytes: purge.walBytes / RUNS, flushes: 0 },
    };
  });
}

/** Until the queue is empty. @param {Bed} bed @param {import("@metier/durable").RunEngine} engine @param {AdvanceOutcome} outcome */
async function measureClaims({ cluster }, engine, outcome) {
  let left = RUNS;
  const { promise: all, resolve } = Promise.withResolvers();
  return measure(cluster, ["all"], async () => {
    const worker = engine.work({
      slots: SLOTS,
      leaseMs: LEASE_MS,
      onFault: (fault) => {
        throw fault;
      },
      async advance() {
        left -= 1;
        if (left === 0) resolve(undefined);
        return outcome;
      },
    });
    await all;
    await worker.stop(LEASE_MS);
  }).then((cost) => ({ ...cost, cpuMs: cost.cpuMs / RUNS, walBytes: cost.walBytes / RUNS }));
}

/** Only holds leases for a while. @param {Bed} bed @param {import("@metier/durable").RunEngine} engine @returns {Promise<Cost>} */
async function measureRenewals({ cluster }, engine) {
  for (let number = 0; number < HELD; number++) await engine.enqueue(`held-${number}`);
  const over = new AbortController();
  let begun = 0;
  const { promise: all, resolve } = Promise.withResolvers();
  const worker = engine.work({
    slots: HELD,
    leaseMs: SHORT_LEASE_MS,
    onFault: () => undefined, // On a busy machine a renewal may come too late, but it was made.
    async advance() {
      begun += 1;
      if (begun === HELD) resolve(undefined);
      await new Promise((end) => void over.signal.addEventListener("abort", end, { once: true }));
      return { kind: "ended" };
    },
  });
  await all;
  const before = readUse(cluster);
  await delay(HELD_MS);
  const after = readUse(cluster);
  over.abort();
  await worker.stop(LEASE_MS);
  const renewals = HELD * (HELD_MS / (SHORT_LEASE_MS / 3));
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / renewals,
    walBytes: (after.walBytes - before.walBytes) / renewals,
    flushes: 0,
    trips: 1,
  };
}

/**
 * Idle workers; the transactions show how often they polled. What Postgres does on its own is measured first, without
 * them.
 *
 * @param {Bed} bed
 * @returns {Promise<Cost>}
 */
async function measureLooks({ cluster, url, openEngine }) {
  const engines = await Promise.all(Array.from({ length: IDLE }, () => openEngine()));
  await delay(SETTLE_MS);
  const [idleBefore, otherBefore] = [readUse(cluster), countTransactions(url)];
  await delay(IDLE_MS);
  const [idleAfter, otherAfter] = [readUse(cluster), countTransactions(url)];
  const workers = engines.map((engine) =>
    engine.work({
      slots: SLOTS,
      leaseMs: LEASE_MS,
      onFault: (fault) => {
        throw fault;
      },
      advance: async () => ({ kind: "ended" }),
    }),
  );
  await delay(SETTLE_MS);
  const [before, looksBefore] = [readUse(cluster), countTransactions(url)];
  await delay(IDLE_MS);
  const [after, looksAfter] = [readUse(cluster), countTransactions(url)];
  await Promise.all(workers.map((worker) => worker.stop(0)));
  const looks = looksAfter - looksBefore - (otherAfter - otherBefore);
  const idleMs = idleAfter.cpuMs - idleBefore.cpuMs;
  return { cpuMs: (after.cpuMs - before.cpuMs - idleMs) / looks, walBytes: 0, flushes: 0, trips: 1 };
}

/** @param {string} url */
function countTransactions(url) {
  return Number(runSql(url, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"));
}
