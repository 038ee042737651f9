/** The life of one run: started, claimed, step by step, perhaps parked and woken, ended. */
import { listenersOf } from "./workers.mjs";

/**
 * @typedef {import("./workers.mjs").Worker} Worker
 *
 * @typedef {object} Counts
 * @property {number} started
 * @property {number} ended
 * @property {number[]} startMs from the request to its first worker
 * @property {number[]} heldMs how long each ended claim held its slot
 * @property {(change: number) => void} occupy slots
 *
 * @typedef {object} Surroundings
 * @property {import("./agenda.mjs").Agenda} agenda
 * @property {import("./random.mjs").Random} random
 * @property {import("./postgres.mjs").Postgres} postgres
 * @property {import("./workload.mjs").Load} load
 * @property {import("./workers.mjs").Fleet} fleet
 * @property {ReturnType<typeof import("./workers.mjs").startWorkers>} workers
 * @property {Counts} counts
 */

/** @param {Surroundings} surroundings @param {number} tenant */
export function liveRun(surroundings, tenant) {
  const { agenda, random, postgres, load, workers, counts } = surroundings;
  const from = agenda.now;
  const steps = random.count(load.steps);
  const parksAt = random.next() < load.parking ? Math.ceil(random.next() * steps) : 0;
  const isWatched = random.next() < load.watched;
  const write = writer(surroundings, isWatched);
  let parkedAt = 0;

  /** @param {Worker} worker @param {(done: () => void) => void} work */
  const hold = (worker, work) => {
    const stop = renew(surroundings);
    const since = agenda.now;
    counts.occupy(1);
    work(() => {
      stop();
      counts.occupy(-1);
      counts.heldMs.push(agenda.now - since);
      workers.giveBack(worker);
    });
  };
  /** @param {number} step @param {Worker} worker @param {() => void} release */
  const doStep = (step, worker, release) => {
    if (step === parksAt && parkedAt === 0) return park(step, release);
    agenda.after(random.lognormal(load.modelMs, load.spread), () =>
      write(() => {
        if (step === steps) return end(release);
        callTool(surroundings, write, () => doStep(step + 1, worker, release));
      }),
    );
  };
  /** @param {number} step @param {() => void} release */
  const park = (step, release) => {
    parkedAt = step;
    postgres.ask("park", () => {
      release();
      agenda.after(random.lognormal(load.parkedMs, load.spread), () =>
        postgres.ask("wake", () => {
          workers.queue.addWoken({
            begin: (worker) => hold(worker, (done) => doStep(step, worker, done)),
          });
          workers.tell();
        }),
      );
    });
  };
  /** @param {() => void} release */
  const end = (release) => {
    postgres.ask("end", () => {
      counts.ended += 1;
      release();
    });
  };

  counts.started += 1;
  postgres.ask("start", () => {
    workers.queue.add(tenant, {
      begin(worker) {
        counts.startMs.push(agenda.now - from);
        hold(worker, (done) => write(() => doStep(1, worker, done)));
      },
    });
    workers.tell();
  });
}

/**
 * A journal write. Others are notified of it, and whoever follows the run reads it.
 *
 * @param {Surroundings} surroundings
 * @param {boolean} isWatched
 */
function writer({ postgres, fleet }, isWatched) {
  const listeners = listenersOf(fleet);
  /** @param {() => void} done */
  return (done) => {
    postgres.ask("write", () => {
      if (fleet.tellsAll || isWatched) postgres.ask("notify", () => postgres.spend("deliver", listeners));
      if (isWatched && !fleet.replicas) postgres.ask("events", () => undefined);
      done();
    });
  };
}

/** @param {Surroundings} surroundings @param {(done: () => void) => void} write @param {() => void} done */
function callTool({ agenda, random, load }, write, done) {
  const call = () => agenda.after(random.lognormal(load.toolMs, load.spread), () => write(done));
  if (random.next() < load.changing) write(call);
  else call();
}

/** Until it is stopped. @param {Surroundings} surroundings @returns {() => void} */
function renew({ agenda, random, postgres, fleet }) {
  let isHeld = true;
  if (!fleet.batchedRenewals) {
    const everyMs = fleet.leaseMs / 3;
    const again = () => {
      if (!isHeld) return;
      postgres.ask("renew", () => undefined);
      agenda.after(everyMs, again);
    };
    agenda.after(everyMs * (0.9 + 0.1 * random.next()), again);
  }
  return () => {
    isHeld = false;
  };
}
