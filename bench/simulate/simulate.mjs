/**
 * Simulates a service with many workers on one Postgres, for some seconds at some hour of the day: until it has
 * settled, then measured, then until every started run has ended. The same seed gives the same numbers.
 */
import { createAgenda } from "./agenda.mjs";
import { createPostgres } from "./postgres.mjs";
import { createRandom } from "./random.mjs";
import { liveRun } from "./run-life.mjs";
import { poll, startWorkers } from "./workers.mjs";
import { rateAt, startArrivals } from "./workload.mjs";

/** How many old runs are removed at a time. */
const PURGED_AT_ONCE = 100;
const DAY_S = 86_400;

/**
 * @typedef {object} Plan
 * @property {import("./workload.mjs").Load} load
 * @property {import("./workers.mjs").Fleet} fleet
 * @property {import("./postgres.mjs").Machine} machine
 * @property {Readonly<Record<string, import("./postgres.mjs").Cost>>} costs
 * @property {number} hour
 * @property {number} seed
 * @property {number} settleMs
 * @property {number} windowMs
 *
 * @typedef {object} Seen in the window, unless it says otherwise
 * @property {number} perSecond requested runs
 * @property {number} endedPerSecond
 * @property {number} startP50 milliseconds
 * @property {number} startP99
 * @property {number} cores the mean number of busy Postgres cores
 * @property {Readonly<Record<string, number>>} coresBy operation
 * @property {Readonly<Record<string, number>>} asksPerSecond by operation
 * @property {number} walMegabytes per second
 * @property {number} openConnections
 * @property {number} busyConnections at most
 * @property {number} busySlots mean
 * @property {number} heldMs mean, of claims that ended in the window
 * @property {number} claimsPerSecond that ended
 * @property {number} waiting runs that no worker had taken when the window closed
 * @property {number} started in total
 * @property {number} ended in total, once everything has ended
 * @property {number} events of the simulation
 */

/** @param {Plan} plan @returns {Seen} */
export function simulate(plan) {
  const { load, fleet, hour, settleMs, windowMs } = plan;
  const until = settleMs + windowMs;
  const agenda = createAgenda();
  const random = createRandom(plan.seed);
  const postgres = createPostgres(agenda, random, plan);
  const workers = startWorkers(agenda, random, { fleet, postgres, until });
  const slots = createGauge(agenda);
  const all = { started: 0, ended: 0 };
  const counts = { started: 0, ended: 0, startMs: [], heldMs: [], occupy: slots.change };
  const surroundings = { agenda, random, postgres, load, fleet, workers, counts };
  startArrivals(agenda, random, { load, hour, until, start: (tenant) => liveRun(surroundings, tenant) });
  startReading(agenda, random, { plan, postgres, until });
  agenda.runUntil(settleMs);
  all.started += counts.started;
  all.ended += counts.ended;
  Object.assign(counts, { started: 0, ended: 0 });
  counts.startMs.length = 0;
  counts.heldMs.length = 0;
  slots.reset();
  postgres.reset();
  agenda.runUntil(until);
  const seen = look(plan, { used: postgres.used(), counts, slots, waiting: workers.queue.length });
  agenda.runAll();
  const [started, ended] = [all.started + counts.started, all.ended + counts.ended];
  return { ...seen, started, ended, events: agenda.done };
}

/**
 * @param {import("./agenda.mjs").Agenda} agenda
 * @param {import("./random.mjs").Random} random
 * @param {{ readonly plan: Plan, readonly postgres: import("./postgres.mjs").Postgres, readonly until: number }} options
 */
function startReading(agenda, random, { plan: { load, fleet }, postgres, until }) {
  if (!fleet.replicas && load.listsPerSecond > 0) {
    const everyMs = 1000 / load.listsPerSecond;
    poll(agenda, random.next() * everyMs, {
      everyMs,
      until,
      work: () => postgres.ask("list", () => undefined),
    });
  }
  if (!fleet.partitions) {
    const everyMs = (1000 * PURGED_AT_ONCE * DAY_S) / load.runsPerDay;
    const work = () => postgres.ask("purge", () => undefined, PURGED_AT_ONCE);
    poll(agenda, random.next() * everyMs, { everyMs, until, work });
  }
}

/**
 * @param {Plan} plan
 * @param {object} measured
 * @param {import("./postgres.mjs").Used} measured.used
 * @param {import("./run-life.mjs").Counts} measured.counts
 * @param {ReturnType<typeof createGauge>} measured.slots
 * @param {number} measured.waiting
 * @returns {Omit<Seen, "started" | "ended" | "events">}
 */
function look({ load, fleet, hour, windowMs }, { used, counts, slots, waiting }) {
  const seconds = windowMs / 1000;
  const byOperation = [...used.operations].toSorted(([, one], [, other]) => other.cpuMs - one.cpuMs);
  return {
    perSecond: rateAt(load, hour),
    endedPerSecond: counts.ended / seconds,
    startP50: quantile(counts.startMs, 0.5),
    startP99: quantile(counts.startMs, 0.99),
    cores: used.cpuMs / windowMs,
    coresBy: Object.fromEntries(byOperation.map(([name, { cpuMs }]) => [name, cpuMs / windowMs])),
    asksPerSecond: Object.fromEntries(byOperation.map(([name, { count }]) => [name, count / seconds])),
    walMegabytes: used.walBytes / 1e6 / seconds,
    openConnections: (fleet.workers + fleet.servers) * fleet.connections,
    busyConnections: used.mostBusy,
    busySlots: slots.mean(),
    heldMs: counts.heldMs.reduce((sum, ms) => sum + ms, 0) / Math.max(1, counts.heldMs.length),
    claimsPerSecond: counts.heldMs.length / seconds,
    waiting,
  };
}

/** A mean count over time. @param {import("./agenda.mjs").Agenda} agenda */
function createGauge(agenda) {
  let [value, area, last, from] = [0, 0, 0, 0];
  const settle = () => {
    area += value * (agenda.now - last);
    last = agenda.now;
  };
  return {
    /** @param {number} change */
    change(change) {
      settle();
      value += change;
    },
    reset() {
      settle();
      [area, from] = [0, agenda.now];
    },
    mean() {
      settle();
      return area / (agenda.now - from);
    },
  };
}

/** @param {readonly number[]} numbers @param {number} part */
function quantile(numbers, part) {
  const sorted = Float64Array.from(numbers).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
