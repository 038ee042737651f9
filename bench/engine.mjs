/** The engine of durable runs on each store: starts, wake-ups, claims and takeovers, also next to many waiting runs. */
import { findPostgres, INSTALL_POSTGRES } from "../scripts/postgres/cluster.mjs";
import { KILLS, LEASE_MS, PARKED, QUEUED, SAMPLES, TENANTS } from "./engine/sizes.mjs";
import { goal, measureIn, quantile, times } from "./measured.mjs";
import { machineLine, table } from "./report.mjs";

/**
 * @typedef {{ readonly starts: number[], readonly wakes: number[], readonly claims: number[] }} Starts in milliseconds
 *
 * @typedef {object} Measured
 * @property {Starts} alone
 * @property {Starts} parked
 * @property {{ readonly gaps: number[], readonly claims: number[] }} queued
 * @property {Readonly<Record<"oneTenant" | "heldUser" | "manyTenants", number[]>>} [releases]
 * @property {{ readonly engine: number, readonly journal: number }} throughput runs per second
 * @property {number[]} takeovers
 * @property {number} bytesPerParked
 *
 * @typedef {object} Store
 * @property {string} name
 * @property {import("./engine/beds.mjs").Store} store
 * @property {readonly [number, number]} starts the goals for p50 and p99, in milliseconds
 */

const many = (/** @type {number} */ count) => count.toLocaleString("en-US");
const ABOUT = `${many(SAMPLES)} of each, one after the other, in one process. A start is from \`enqueue\` to the call of \`advance\`, a wake-up from \`wake\` to it. A bare claim is openworkflow's own, in the same place, with nothing due. A release is the way of a run from the queue to openworkflow, before it is claimed. Takeovers are ${KILLS} kills of a process that holds a run, at a lease of ${LEASE_MS / 1000} s. Postgres is on this machine, with its own settings: it waits for the disk where a commit asks for it. It knows how many rows there are; that takes it up to a minute.`;

const parkedName = `beside ${many(PARKED)} parked runs`;
const queuedName = `${many(QUEUED)} queued runs`;

/** @returns {string} the section for the document */
export function benchEngine() {
  const machine = machineLine();
  const sqlite = benchStore({ name: "SQLite", store: "sqlite", starts: [10, 30] });
  const on = findPostgres()
    ? benchStore({ name: "Postgres", store: "postgres", starts: [25, 80] })
    : [`Postgres was not measured: there is none here. To have one: \`${INSTALL_POSTGRES}\`.`];
  return ["## The engine of durable runs: `npm run bench -- engine`", machine, ABOUT, ...sqlite, ...on].join(
    "\n\n",
  );
}

/** @param {Store} given @returns {readonly string[]} */
function benchStore({ name, store, starts: [most50, most99] }) {
  const measured = /** @type {Measured} */ (measureIn("engine-cost", store));
  const { alone, parked, queued, releases, throughput, takeovers, bytesPerParked } = measured;
  return [
    table(
      [name, "p50 ms", "p99 ms"],
      [
        ["start, nothing else there", ...times(alone.starts, 2)],
        [`start, ${parkedName}`, ...times(parked.starts, 2)],
        ["wake-up, nothing else there", ...times(alone.wakes, 2)],
        [`wake-up, ${parkedName}`, ...times(parked.wakes, 2)],
        ["bare claim, nothing else there", ...times(alone.claims, 2)],
        [`bare claim, ${parkedName}`, ...times(parked.claims, 2)],
        [`from one run's end to the next one's start, ${queuedName}`, ...times(queued.gaps, 2)],
        ...(releases ? tellReleases(releases) : []),
        [`bare claim with ${queuedName} in openworkflow, as we do not`, ...times(queued.claims, 2)],
        ["takeover", ...times(takeovers, 2)],
      ],
    ),
    table(
      [`throughput on ${name}, 20 slots`, "runs a second"],
      [
        ["engine alone", throughput.engine.toFixed(0)],
        [
          "with 5 steps, each one flushed and two plain journal writes of 1 KB",
          throughput.journal.toFixed(0),
        ],
      ],
    ),
    table(
      [`goal on ${name}`, "measured", ""],
      [
        goal(`claim within 2 ms ${parkedName}, by the median`, quantile(parked.claims, 0.5), 2),
        ...(releases
          ? [
              goal(
                `release within 2 ms with ${queuedName}, by the median`,
                quantile(releases.oneTenant, 0.5),
                2,
              ),
            ]
          : []),
        goal(`wake-up p99 within 500 ms ${parkedName}`, quantile(parked.wakes, 0.99), 500),
        goal(`start p50 within ${most50} ms`, quantile(parked.starts, 0.5), most50),
        goal(`start p99 within ${most99} ms`, quantile(parked.starts, 0.99), most99),
        goal("takeover within the lease and 1 s", Math.max(...takeovers), LEASE_MS + 1000),
        [
          "a parked run within 10 KB",
          `${(bytesPerParked / 1024).toFixed(1)} KB`,
          bytesPerParked <= 10_240 ? "met" : "missed",
        ],
      ],
    ),
  ];
}

/** @param {NonNullable<Measured["releases"]>} releases */
function tellReleases({ oneTenant, heldUser, manyTenants }) {
  return [
    [`release, ${queuedName} of one tenant`, ...times(oneTenant, 2)],
    [`release, nearly all of them of a user at the limit`, ...times(heldUser, 2)],
    [`release, ${many(TENANTS)} tenants with limits`, ...times(manyTenants, 2)],
  ];
}
