/** Many machines, simulated with the costs measured by `bench/simulate/measure.mjs`: `npm run bench -- simulate`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "./report.mjs";
import { onPaper } from "./simulate/paper.mjs";
import { BASE, BOUNDS, LOAD, MACHINE, remedies, scaled } from "./simulate/scenarios.mjs";
import { simulate } from "./simulate/simulate.mjs";
import { workMs, writesPerRun } from "./simulate/workload.mjs";

/**
 * @typedef {import("./simulate/simulate.mjs").Plan} Plan
 * @typedef {import("./simulate/simulate.mjs").Seen} Seen
 * @typedef {import("./simulate/scenarios.mjs").Scenario} Scenario
 *
 * @typedef {object} Measured
 * @property {string} about when, and on what machine
 * @property {Readonly<Record<string, import("./simulate/postgres.mjs").Cost>>} operations
 * @property {number} bytesPerRun of tables and indexes
 * @property {{ readonly plan: Scenario, readonly cores: number, readonly walMegabytes: number, readonly busySlots: number }} check
 *     a small load that was really there
 */

const COSTS = join(import.meta.dirname, "simulate", "costs.json");
const HOURS = { "02:00, the quietest": 2, "08:00, the mean": 8, "14:00, the busiest": 14 };
/** Shares of the load, each with the same share of the workers. */
const PARTS = [0.01, 0.1, 0.3, 1];

const REMEDIES =
  "Connections are full first, then the processors, by notices: Postgres wakes every connection that listens for each of them. With that many workers nobody has to be told, since somebody looks within a millisecond. Fewer and larger workers, and more than one installation, can be had today. The other remedies are changes of Metier that nobody has made: quiet workers, smaller pools, renewals together, reads from replicas, tables by day. The last three are for disks and for the time of removals more than for processors: a table of 300 million runs is vacuumed for hours, and a partition is dropped at once.";

/** @returns {string} the section for the document */
export function benchSimulate() {
  /** @type {Measured} */
  const measured = JSON.parse(readFileSync(COSTS, "utf8"));
  const last = remedies().findLast(({ databases }) => databases === 1);
  if (last === undefined) throw new Error("There is nothing to simulate.");
  return [
    "## Many machines, simulated: `npm run bench -- simulate`",
    aboutCosts(measured),
    costTable(measured),
    "### On paper",
    onPaperText(measured),
    "### Checked against a real load",
    checkText(measured),
    "### A thousand workers and ten million runs a day",
    aboutLoad(),
    remedyTable(measured),
    REMEDIES,
    "Where it is full first, if workers and load grow together and nothing else is done:",
    growthTable(measured, BASE),
    `The same with everything in the table above but the second database (${last.name} and all before it), over the day:`,
    hourTable(measured, last.plan),
  ].join("\n\n");
}

/** @param {Measured} measured */
function aboutCosts({ about, bytesPerRun }) {
  return `${about} Processor time is that of all processes of Postgres, from \`/proc\`; log is what \`pg_current_wal_insert_lsn\` moved by. A run takes ${kilobytes(bytesPerRun)} in tables and indexes. Measure again with \`node bench/simulate/measure.mjs\`.`;
}

/** @param {Measured} measured */
function costTable({ operations }) {
  const rows = Object.entries(operations).map(([name, { cpuMs, walBytes, flushes, trips }]) => [
    `\`${name}\`: ${ABOUT_OPERATIONS[name] ?? ""}`,
    cpuMs.toFixed(3),
    walBytes === 0 ? "0" : (walBytes / 1000).toFixed(1),
    flushes === 0 ? "no" : "yes",
    String(trips),
  ]);
  return table(["operation", "ms of processor", "KB of log", "waits for the disk", "round trips"], rows);
}

/** @type {Readonly<Record<string, string>>} */
const ABOUT_OPERATIONS = {
  start: "a run is written and queued",
  look: "a worker asks whether anything is due, and nothing is",
  claim: "a worker takes a run",
  write: "one entry of 1.5 KB and two events of 0.5 KB",
  renew: "a lease of one run",
  renewMany: "the first lease of a worker that renews all at once (assumed: as `renew`)",
  renewEach: "each further one (assumed: a fifth)",
  park: "a question, and the run waits",
  wake: "the answer, and the run is due",
  end: "result and end",
  notify: "a notice, for the sender",
  deliver: "a notice, by each connection that listens, to this channel or another",
  events: "the newest events of a run",
  list: "a page of 50 runs",
  purge: "an old run is removed",
};

/** @param {Measured} measured */
function onPaperText({ operations, bytesPerRun }) {
  const plan = { ...BASE, costs: operations };
  const { perSecond, cores, walMegabytes, busySlots } = onPaper(plan);
  const rate = (/** @type {string} */ name) => Math.round(perSecond[name] ?? 0).toLocaleString("en");
  const used = (/** @type {string} */ name) =>
    (((perSecond[name] ?? 0) * (operations[name]?.cpuMs ?? 0)) / 1000).toFixed(1);
  return [
    `Runs a second at the busiest hour: λ = ${LOAD.runsPerDay.toLocaleString("en")} ÷ 86,400 × ${LOAD.peak} = ${rate("start")}. Slots in use: λ × ${(workMs(LOAD) / 1000).toFixed(1)} s (${LOAD.steps} calls of the model of ${LOAD.modelMs / 1000} s, ${LOAD.steps - 1} of tools of ${LOAD.toolMs / 1000} s) and what Postgres takes = ${Math.round(busySlots).toLocaleString("en")}.`,
    `Writes: λ × (1 + steps + (steps − 1) × 1.5) = λ × ${writesPerRun(LOAD)} = ${rate("write")} a second. Renewals: slots in use × 3 ÷ lease = ${rate("renew")} a second. Looks: workers × (1 ÷ poll + claims) = ${rate("look")} a second, fewer when a worker is told again while it looks. Deliveries: (writes + claims) × all who listen = ${rate("deliver")} a second.`,
    `Processors: each rate × its cost, in all ${cores.toFixed(0)} cores: deliveries ${used("deliver")}, looks ${used("look")}, writes ${used("write")}, renewals ${used("renew")}. Log: ${walMegabytes.toFixed(1)} MB a second. Disk: ${kilobytes(bytesPerRun)} × ${LOAD.runsPerDay.toLocaleString("en")} = ${gigabytesPerDay(bytesPerRun).toFixed(0)} GB a day.`,
  ].join("\n\n");
}

/** @param {Measured} measured */
function checkText({ check, operations }) {
  const plan = { ...check.plan, costs: operations };
  const [paper, seen] = [onPaper(plan), simulate(plan)];
  const { load, fleet } = check.plan;
  const row = (
    /** @type {string} */ name,
    /** @type {readonly number[]} */ numbers,
    /** @type {number} */ digits,
  ) => [name, ...numbers.map((number) => number.toFixed(digits))];
  return [
    `${fleet.workers} workers with ${fleet.slots} slots each, ${(load.runsPerDay / 86_400).toFixed(0)} runs a second of ${load.steps} steps, with the real store and engine, on the machine on which the costs were measured, which did much else at the time. The measured numbers include Postgres's own work: vacuum and checkpoints.`,
    table(
      ["", "on paper", "simulated", "measured"],
      [
        row("cores of Postgres", [paper.cores, seen.cores, check.cores], 3),
        row("log, MB a second", [paper.walMegabytes, seen.walMegabytes, check.walMegabytes], 2),
        row("slots in use", [paper.busySlots, seen.busySlots, check.busySlots], 1),
      ],
    ),
  ].join("\n\n");
}

function aboutLoad() {
  return `We assume a server with ${MACHINE.cores} cores like the measured ones; ${BOUNDS.cores * 100} % of them may be used for long. Its disk confirms in ${MACHINE.flushMs} ms and takes ${MACHINE.walMegabytes * BOUNDS.wal} MB of log a second. It has ${BOUNDS.connections.toLocaleString("en")} connections and ${BOUNDS.terabytes} TB for ${BOUNDS.days} days of runs. ${BASE.fleet.workers.toLocaleString("en")} workers of ${BASE.fleet.slots} slots, ${BASE.fleet.servers} servers, ${LOAD.tenants.toLocaleString("en")} tenants; every tenth starts about ${LOAD.batch} runs at once. Numbers are those of the busiest hour. Each remedy adds to those before it. "Full" is the use of the scarcest resource, as a share of its limit.`;
}

/** @param {Measured} measured */
function remedyTable(measured) {
  const rows = remedies().map(({ name, plan, databases }) => {
    const seen = simulate({ ...plan, costs: measured.operations });
    return [name, ...numbers(seen), fullest(measured, plan, seen, databases)];
  });
  const head = ["", "cores", "most of them for", "log, MB/s", "connections", "start p50/p99 ms", "full"];
  return table(head, rows);
}

/** @param {Seen} seen */
function numbers(seen) {
  const [first, second] = Object.entries(seen.coresBy);
  return [
    seen.cores.toFixed(1),
    [first, second].map((entry) => (entry ? `${entry[0]} ${entry[1].toFixed(1)}` : "")).join(", "),
    seen.walMegabytes.toFixed(1),
    seen.openConnections.toLocaleString("en"),
    `${seen.startP50.toFixed(0)}/${seen.startP99.toFixed(0)}`,
  ];
}

/** @param {Measured} measured @param {Scenario} base */
function growthTable(measured, base) {
  const rows = PARTS.map((part) => {
    const plan = scaled(base, part);
    const seen = simulate({ ...plan, costs: measured.operations });
    const { workers } = plan.fleet;
    const load = `${plan.load.runsPerDay.toLocaleString("en")} runs a day, ${workers.toLocaleString("en")} workers`;
    return [load, ...numbers(seen), fullest(measured, plan, seen, 1)];
  });
  return table(
    ["", "cores", "most of them for", "log, MB/s", "connections", "start p50/p99 ms", "full"],
    rows,
  );
}

/** @param {Measured} measured @param {Scenario} plan */
function hourTable(measured, plan) {
  const rows = Object.entries(HOURS).map(([name, hour]) => {
    const seen = simulate({ ...plan, hour, costs: measured.operations });
    return [
      name,
      seen.perSecond.toFixed(0),
      Math.round(seen.busySlots).toLocaleString("en"),
      ...numbers(seen),
    ];
  });
  const head = ["", "runs/s", "slots in use", "cores", "most of them for", "log, MB/s", "connections"];
  return table([...head, "start p50/p99 ms"], rows);
}

/**
 * @param {Measured} measured
 * @param {Scenario} plan
 * @param {Seen} seen
 * @param {number} databases
 */
function fullest({ bytesPerRun }, { load, fleet, machine }, seen, databases) {
  const stored = (bytesPerRun * load.runsPerDay * BOUNDS.days) / 1e12;
  const shares = {
    processors: seen.cores / (machine.cores * BOUNDS.cores),
    log: seen.walMegabytes / (machine.walMegabytes * BOUNDS.wal),
    connections: seen.openConnections / BOUNDS.connections,
    slots: seen.busySlots / (fleet.workers * fleet.slots * BOUNDS.slots),
    disk: stored / BOUNDS.terabytes,
  };
  const full = Object.entries(shares).filter(([, share]) => share > 1);
  const [most] = Object.entries(shares).toSorted(([, one], [, other]) => other - one);
  const named = full.length > 0 ? full.toSorted(([, one], [, other]) => other - one) : most ? [most] : [];
  const each = databases > 1 ? "each: " : "";
  return `${each}${named.map(([name, share]) => `${name} ${(share * 100).toFixed(0)} %`).join(", ")}`;
}

/** @param {number} bytesPerRun */
function gigabytesPerDay(bytesPerRun) {
  return (bytesPerRun * LOAD.runsPerDay) / 1e9;
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} KB`;
}
