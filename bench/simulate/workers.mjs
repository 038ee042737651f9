/**
 * Simulated workers: each has slots, looks for runs when notified and otherwise now and then, one look at a time, and
 * renews the leases of its runs every third of their time.
 */
import { FairQueue } from "./fair-queue.mjs";

/**
 * @typedef {object} Fleet
 * @property {number} workers
 * @property {number} slots of each
 * @property {number} servers processes of `metier serve`
 * @property {number} connections that each process keeps
 * @property {number} leaseMs
 * @property {number} pollMs how often a worker with a free slot polls
 * @property {boolean} listening workers get notices and look when a run was added; otherwise only servers do
 * @property {boolean} tellsAll notices for each write of every run, not only of runs that someone follows
 * @property {boolean} batchedRenewals one statement for all runs of a worker
 * @property {boolean} replicas events and lists are read from replicas
 * @property {boolean} partitions old runs are dropped with their partition, not one by one
 *
 * @typedef {object} Worker
 * @property {number} free
 * @property {number} active
 * @property {boolean} isLooking
 * @property {boolean} isTold
 *
 * @typedef {object} Claimable
 * @property {(worker: Worker) => void} begin what a worker does once it has it
 */

/**
 * @param {import("./agenda.mjs").Agenda} agenda
 * @param {import("./random.mjs").Random} random
 * @param {{ readonly fleet: Fleet, readonly postgres: import("./postgres.mjs").Postgres, readonly until: number }} options
 *     `until`: nobody polls after it after that; what was added is still taken
 */
export function startWorkers(agenda, random, { fleet, postgres, until }) {
  /** @type {FairQueue<Claimable>} */
  const queue = new FairQueue();
  /** @type {Worker[]} */
  const workers = Array.from({ length: fleet.workers }, () => ({
    free: fleet.slots,
    active: 0,
    isLooking: false,
    isTold: false,
  }));

  /** @param {Worker} worker */
  const tick = (worker) => {
    worker.isTold = true;
    if (!worker.isLooking && worker.free > 0) look(worker);
  };
  /** @param {Worker} worker */
  const look = (worker) => {
    worker.isLooking = true;
    worker.isTold = false;
    postgres.ask("look", () => {
      const run = worker.free > 0 ? queue.take() : undefined;
      if (run === undefined) stopLooking(worker);
      else claim(worker, run);
    });
  };
  /** @param {Worker} worker */
  const stopLooking = (worker) => {
    worker.isLooking = false;
    if (worker.isTold && worker.free > 0) look(worker);
  };
  /** @param {Worker} worker @param {Claimable} run */
  const claim = (worker, run) => {
    worker.free -= 1;
    postgres.ask("claim", () => {
      worker.active += 1;
      run.begin(worker);
      if (worker.free > 0) look(worker);
      else stopLooking(worker);
    });
  };
  const tellAll = () => {
    postgres.spend("deliver", listenersOf(fleet));
    if (fleet.listening) for (const worker of workers) tick(worker);
  };
  for (const worker of workers) {
    poll(agenda, random.next() * fleet.pollMs, { everyMs: fleet.pollMs, until, work: () => tick(worker) });
    if (fleet.batchedRenewals) renewTogether(agenda, random, { worker, fleet, postgres, until });
  }
  return {
    queue,
    tell: () => postgres.ask("notify", tellAll),
    /** @param {Worker} worker */
    giveBack(worker) {
      worker.free += 1;
      worker.active -= 1;
      tick(worker);
    },
  };
}

/** Postgres wakes every listener for each notice, no matter what it is about. @param {Fleet} fleet */
export function listenersOf({ servers, workers, listening }) {
  return servers + (listening ? workers : 0);
}

/**
 * @param {import("./agenda.mjs").Agenda} agenda
 * @param {import("./random.mjs").Random} random
 * @param {{ worker: Worker, fleet: Fleet, postgres: import("./postgres.mjs").Postgres, until: number }} options
 */
function renewTogether(agenda, random, { worker, fleet, postgres, until }) {
  const everyMs = fleet.leaseMs / 3;
  const work = () => {
    if (worker.active === 0) return;
    postgres.ask("renewMany", () => undefined);
    if (worker.active > 1) postgres.spend("renewEach", worker.active - 1);
  };
  poll(agenda, random.next() * everyMs, { everyMs, until, work });
}

/**
 * @param {import("./agenda.mjs").Agenda} agenda
 * @param {number} first
 * @param {{ readonly everyMs: number, readonly until: number, readonly work: () => void }} options
 */
export function poll(agenda, first, { everyMs, until, work }) {
  const again = () => {
    if (agenda.now > until) return;
    work();
    agenda.after(everyMs, again);
  };
  agenda.after(first, again);
}
