/**
 * A Postgres as a queueing model: connections, processors, and one log that is flushed. The cost of each operation is
 * measured (`costs.json`); this file simulates many at once.
 */

/**
 * @typedef {object} Cost of one operation
 * @property {number} cpuMs processor time of all of Postgres's processes
 * @property {number} walBytes
 * @property {number} flushes how often it waits until the log is on the disk
 * @property {number} trips how often the client waits for the network while it holds a connection
 *
 * @typedef {object} Machine
 * @property {number} cores
 * @property {number} flushMs how long the disk takes to confirm
 * @property {number} walMegabytes per second, at most
 * @property {number} tripMs round trip
 * @property {number} connections that work at the same time
 *
 * @typedef {object} Used since the last reset
 * @property {Map<string, { count: number, cpuMs: number, walBytes: number }>} operations
 * @property {number} cpuMs
 * @property {number} walBytes
 * @property {number} flushes
 * @property {number} mostBusy connections
 *
 * @typedef {object} Postgres
 * @property {(operation: string, done: () => void, times?: number) => void} ask `times`: so many at the price of so many, in one
 * @property {(operation: string, count: number) => void} spend processor time that nobody waits for
 * @property {() => Used} used
 * @property {() => void} reset
 */

/**
 * @param {import("./agenda.mjs").Agenda} agenda
 * @param {import("./random.mjs").Random} random
 * @param {{ readonly machine: Machine, readonly costs: Readonly<Record<string, Cost>> }} options
 * @returns {Postgres}
 */
export function createPostgres(agenda, random, { machine, costs }) {
  let used = nothingUsed();
  const processors = createServers(agenda, machine.cores);
  const log = createLog(agenda, machine);
  const connections = createConnections(machine.connections);

  /** @param {string} operation @param {number} times */
  const charge = (operation, times) => {
    const cost = costs[operation];
    if (cost === undefined) throw new Error(`There is no measured cost of \`${operation}\`.`);
    // Half of it is fixed, half random: pages may be in memory or not, locks free or not.
    const cpuMs = times * cost.cpuMs * (0.5 + 0.5 * random.exponential(1));
    const walBytes = times * cost.walBytes;
    const sum = used.operations.get(operation) ?? { count: 0, cpuMs: 0, walBytes: 0 };
    used.operations.set(operation, sum);
    sum.count += times;
    sum.cpuMs += cpuMs;
    sum.walBytes += walBytes;
    used.cpuMs += cpuMs;
    used.walBytes += walBytes;
    return { ...cost, cpuMs, walBytes };
  };
  return {
    ask(operation, done, times = 1) {
      const { cpuMs, walBytes, flushes, trips } = charge(operation, times);
      connections.take(() => {
        used.mostBusy = Math.max(used.mostBusy, connections.busy());
        const end = () => {
          connections.giveBack();
          done();
        };
        /** @param {number} left */
        const flush = (left) => {
          if (left === 0) agenda.after(trips * machine.tripMs, end);
          else if (log.flush(walBytes / flushes, () => flush(left - 1))) used.flushes += 1;
        };
        processors.serve(cpuMs, () => flush(flushes));
      });
    },
    spend(operation, count) {
      const { cpuMs } = charge(operation, count);
      const parts = Math.min(machine.cores, count);
      for (let part = 0; part < parts; part++) processors.serve(cpuMs / parts, () => undefined);
    },
    used: () => used,
    reset() {
      used = nothingUsed();
    },
  };
}

/** @returns {Used} */
function nothingUsed() {
  return { operations: new Map(), cpuMs: 0, walBytes: 0, flushes: 0, mostBusy: 0 };
}

/** Several servers with one queue. @param {import("./agenda.mjs").Agenda} agenda @param {number} count */
function createServers(agenda, count) {
  /** @type {{ readonly ms: number, readonly done: () => void }[]} */
  let line = [];
  let head = 0;
  let free = count;
  /** @param {number} ms @param {() => void} done */
  const begin = (ms, done) => {
    free -= 1;
    agenda.after(ms, () => {
      free += 1;
      const next = line[head];
      if (next !== undefined) {
        head += 1;
        if (head > 10_000 && head * 2 > line.length) {
          line = line.slice(head);
          head = 0;
        }
        begin(next.ms, next.done);
      }
      done();
    });
  };
  return {
    /** @param {number} ms @param {() => void} done */
    serve(ms, done) {
      if (free > 0) begin(ms, done);
      else line.push({ ms, done });
    },
  };
}

/**
 * One flush at a time; commits made in the meantime are in the next one.
 *
 * @param {import("./agenda.mjs").Agenda} agenda
 * @param {Machine} machine
 */
function createLog(agenda, { flushMs, walMegabytes }) {
  /** @type {(() => void)[]} */
  let waiting = [];
  let bytes = 0;
  let isFlushing = false;
  const flushNext = () => {
    const [group, size] = [waiting, bytes];
    [waiting, bytes, isFlushing] = [[], 0, true];
    agenda.after(flushMs + size / (walMegabytes * 1000), () => {
      isFlushing = false;
      if (waiting.length > 0) flushNext();
      for (const done of group) done();
    });
  };
  return {
    /** @param {number} size @param {() => void} done @returns {boolean} whether it is the first of its flush */
    flush(size, done) {
      waiting.push(done);
      bytes += size;
      const isFirst = waiting.length === 1;
      if (!isFlushing) flushNext();
      return isFirst;
    },
  };
}

/** @param {number} count */
function createConnections(count) {
  /** @type {(() => void)[]} */
  let line = [];
  let head = 0;
  let busy = 0;
  return {
    busy: () => busy,
    /** @param {() => void} work */
    take(work) {
      if (busy >= count) {
        line.push(work);
        return;
      }
      busy += 1;
      work();
    },
    giveBack() {
      const next = line[head];
      if (next === undefined) {
        busy -= 1;
        [line, head] = [[], 0];
        return;
      }
      head += 1;
      next();
    },
  };
}
