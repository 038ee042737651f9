/** The simulated requests: who starts runs when, and what a run does. */

/**
 * @typedef {object} Load
 * @property {number} runsPerDay
 * @property {number} peak the busiest hour relative to the mean, from 1 to 2
 * @property {number} tenants a few large, most small: the n-th has a share proportional to 1/n
 * @property {number} batch mean number of runs that every tenth tenant starts at once; all others start one
 * @property {number} steps mean number of model calls in a run
 * @property {number} modelMs
 * @property {number} toolMs
 * @property {number} spread of both times, and of the time that a run waits for a person
 * @property {number} changing share of tool calls that may change something, and first record what they will do
 * @property {number} parking share of runs that wait for a person once
 * @property {number} parkedMs
 * @property {number} watched share of runs that someone follows
 * @property {number} listsPerSecond pages and clients that list runs
 */

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const BUSIEST_HOUR = 14;
const BATCHING = 10;

/** Runs per second at this hour. @param {Load} load @param {number} hour */
export function rateAt({ runsPerDay, peak }, hour) {
  const wave = Math.cos((2 * Math.PI * (hour - BUSIEST_HOUR)) / 24);
  return (runsPerDay / (DAY_MS / 1000)) * (1 + (peak - 1) * wave);
}

/**
 * The mean number of journal writes in a run, by cause: its start, its model's answers, its tool calls.
 *
 * @param {Load} load
 */
export function writesPerRun({ steps, changing }) {
  return 1 + steps + (steps - 1) * (1 + changing);
}

/** The mean time that a run holds a slot, without waiting for Postgres. @param {Load} load */
export function workMs({ steps, modelMs, toolMs }) {
  return steps * modelMs + (steps - 1) * toolMs;
}

/**
 * Calls `start` for each run, until `until`.
 *
 * @param {import("./agenda.mjs").Agenda} agenda
 * @param {import("./random.mjs").Random} random
 * @param {{ readonly load: Load, readonly hour: number, readonly until: number, readonly start: (tenant: number) => void }} options
 */
export function startArrivals(agenda, random, { load, hour, until, start }) {
  const tenants = shareOut(load.tenants);
  const meanBatch = tenants.reduce((sum, { share }, index) => sum + share * batchOf(load, index), 0);
  const arrive = () => {
    if (agenda.now > until) return;
    const tenant = pick(tenants, random.next());
    const count = batchOf(load, tenant) > 1 ? random.count(load.batch) : 1;
    for (let number = 0; number < count; number++) start(tenant);
    next();
  };
  const next = () => {
    const perSecond = rateAt(load, hour + agenda.now / HOUR_MS) / meanBatch;
    agenda.after(random.exponential(1000 / perSecond), arrive);
  };
  next();
}

/** @param {Load} load @param {number} tenant */
function batchOf({ batch }, tenant) {
  return tenant % BATCHING === BATCHING - 1 ? batch : 1;
}

/** @param {number} count @returns {readonly { readonly share: number, readonly upTo: number }[]} */
function shareOut(count) {
  const weights = Array.from({ length: count }, (_, index) => 1 / (index + 1));
  const sum = weights.reduce((one, other) => one + other, 0);
  let upTo = 0;
  return weights.map((weight) => {
    upTo += weight / sum;
    return { share: weight / sum, upTo };
  });
}

/** @param {readonly { readonly upTo: number }[]} tenants @param {number} at */
function pick(tenants, at) {
  let [low, high] = [0, tenants.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Number(tenants[middle]?.upTo) > at) high = middle;
    else low = middle + 1;
  }
  return low;
}
