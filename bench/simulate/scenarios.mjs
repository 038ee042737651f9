/** The simulated load, the assumed machine, and the remedies if it isn't enough. */

/** @typedef {import("./simulate.mjs").Plan} Plan */
/** @typedef {Omit<Plan, "costs">} Scenario */

/** A day of ten million runs: mostly short conversations with a model and a few tools. @type {import("./workload.mjs").Load} */
export const LOAD = {
  runsPerDay: 10_000_000,
  peak: 1.8,
  tenants: 1_000,
  batch: 20,
  steps: 5,
  modelMs: 3_000,
  toolMs: 800,
  spread: 0.8,
  changing: 0.5,
  parking: 0.1,
  parkedMs: 20_000,
  watched: 0.2,
  listsPerSecond: 50,
};

/** Every process with its default settings. @type {import("./workers.mjs").Fleet} */
export const FLEET = {
  workers: 1_000,
  slots: 8,
  servers: 20,
  connections: 16,
  leaseMs: 10_000,
  pollMs: 500,
  listening: true,
  tellsAll: true,
  batchedRenewals: false,
  replicas: false,
  partitions: false,
};

/** A large database server with cores as fast as the measured ones. @type {import("./postgres.mjs").Machine} */
export const MACHINE = { cores: 64, flushMs: 1, walMegabytes: 400, tripMs: 0.5, connections: 2_000 };

/**
 * How much of it may be used continuously: shares of the machine, connections, and the disk space for 30 days of runs.
 */
export const BOUNDS = { cores: 0.7, wal: 0.5, connections: 1_500, slots: 0.85, terabytes: 16, days: 30 };

/** @type {Scenario} */
export const BASE = {
  load: LOAD,
  fleet: FLEET,
  machine: MACHINE,
  hour: 14,
  seed: 19,
  settleMs: 40_000,
  windowMs: 20_000,
};

/** @param {Scenario} plan @param {Partial<import("./workers.mjs").Fleet>} fleet @returns {Scenario} */
export function withFleet(plan, fleet) {
  return { ...plan, fleet: { ...plan.fleet, ...fleet } };
}

/** @typedef {{ readonly name: string, readonly plan: Scenario, readonly databases: number }} Remedy */

/** Each includes all the ones before it. @returns {readonly Remedy[]} */
export function remedies() {
  const followed = withFleet(BASE, { tellsAll: false });
  const silent = withFleet(followed, { listening: false });
  const larger = withFleet(silent, { workers: FLEET.workers / 4, slots: FLEET.slots * 4, connections: 5 });
  const renewals = withFleet(larger, { batchedRenewals: true });
  const replicas = withFleet(renewals, { replicas: true });
  const partitions = withFleet(replicas, { partitions: true });
  return [
    { name: "as it comes", plan: BASE, databases: 1 },
    { name: "writes are told only for runs that somebody follows", plan: followed, databases: 1 },
    { name: "workers do not listen, and look twice a second", plan: silent, databases: 1 },
    { name: "250 workers of 32 slots, 5 connections each", plan: larger, databases: 1 },
    { name: "one renewal for all runs of a worker", plan: renewals, databases: 1 },
    { name: "events and lists from replicas", plan: replicas, databases: 1 },
    { name: "partitions by day", plan: partitions, databases: 1 },
    { name: "two databases, by tenant", plan: scaled(partitions, 0.5), databases: 2 },
  ];
}

/** A share of the load on the same share of the processes. @param {Scenario} plan @param {number} part @returns {Scenario} */
export function scaled(plan, part) {
  const { load, fleet } = plan;
  const count = (/** @type {number} */ whole) => Math.max(1, Math.round(whole * part));
  return {
    ...plan,
    load: {
      ...load,
      runsPerDay: load.runsPerDay * part,
      tenants: count(load.tenants),
      listsPerSecond: load.listsPerSecond * part,
    },
    fleet: { ...fleet, workers: count(fleet.workers), servers: count(fleet.servers) },
  };
}
