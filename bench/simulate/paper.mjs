/**
 * The same on paper: the cost of each operation times its frequency. Without queues, so it shows utilization, not
 * waiting times. The simulation must agree with it as long as nothing is full.
 */
import { listenersOf } from "./workers.mjs";
import { rateAt, workMs, writesPerRun } from "./workload.mjs";

const DAY_S = 86_400;

/**
 * @param {import("./simulate.mjs").Plan} plan
 * @returns {{ readonly perSecond: Readonly<Record<string, number>>, readonly cores: number, readonly walMegabytes: number, readonly busySlots: number }}
 */
export function onPaper({ load, fleet, machine, costs, hour }) {
  const runs = rateAt(load, hour);
  const writes = runs * writesPerRun(load);
  const claims = runs * (1 + load.parking);
  const flushed = machine.flushMs + machine.tripMs;
  const heldMs =
    workMs(load) + writesPerRun(load) * (costs.write?.cpuMs ?? 0) + (writesPerRun(load) + 1) * flushed;
  const busySlots = (runs * heldMs) / 1000;
  const busyOfEach = busySlots / fleet.workers;
  const renewing = (1000 * 3) / fleet.leaseMs;
  const isRenewing = 1 - Math.exp(-busyOfEach);
  const polls = (fleet.workers * 1000) / fleet.pollMs;
  const told = fleet.listening ? claims * fleet.workers : 0;
  const notices = writes * (fleet.tellsAll ? 1 : load.watched) + claims;
  const together = fleet.workers * isRenewing * renewing;
  /** @type {Readonly<Record<string, number>>} */
  const perSecond = {
    start: runs,
    claim: claims,
    write: writes,
    end: runs,
    park: runs * load.parking,
    wake: runs * load.parking,
    // A worker that was notified, one that polls, one that has just taken a run, and one that has just ended one.
    look: told + polls + 2 * claims,
    notify: notices,
    deliver: notices * listenersOf(fleet),
    renew: fleet.batchedRenewals ? 0 : busySlots * renewing,
    renewMany: fleet.batchedRenewals ? together : 0,
    renewEach: fleet.batchedRenewals ? busySlots * renewing - together : 0,
    events: fleet.replicas ? 0 : writes * load.watched,
    list: fleet.replicas ? 0 : load.listsPerSecond,
    purge: fleet.partitions ? 0 : load.runsPerDay / DAY_S,
  };
  const sum = (/** @type {"cpuMs" | "walBytes"} */ what) =>
    Object.entries(perSecond).reduce((all, [name, rate]) => all + rate * (costs[name]?.[what] ?? 0), 0);
  return { perSecond, cores: sum("cpuMs") / 1000, walMegabytes: sum("walBytes") / 1e6, busySlots };
}
