/**
 * The service on many machines, over HTTP: a server and a worker on one Postgres, compared with openworkflow alone on
 * the same.
 */
import { goal, measureIn, quantile, times } from "./measured.mjs";
import { machineLine, table } from "./report.mjs";
import {
  BARE,
  CANCELS,
  NEIGHBOUR_MS,
  NEIGHBOUR_QUEUED,
  NEIGHBOURS,
  ROUNDS,
  SLOTS,
  STARTS,
  STEPS,
  THROUGH,
  WAKES,
} from "./service/sizes.mjs";

/**
 * @typedef {{ readonly rate: number, readonly cpuMs: number, readonly storeMs: number }} Rate
 *
 * @typedef {object} Measured in milliseconds
 * @property {number[]} answers
 * @property {number[]} begins
 * @property {{ readonly durable: Rate, readonly openworkflow: Rate }} throughput
 * @property {number[]} wakes
 * @property {number[]} cancels
 * @property {{ readonly afterFree: number[], readonly before: number[] }} neighbour
 */

const many = (/** @type {number} */ count) => count.toLocaleString("en-US");
const ABOUT = `A server that advances no runs, a worker with ${SLOTS} slots and a client, each in its own process. One Postgres with its own settings, which waits for the disk at every commit, and one object store. All on this machine. Real runs, a model without a network: ${STARTS} starts, ${WAKES} approvals and ${CANCELS} cancels one after the other, ${THROUGH} runs at once.`;
const ABOUT_RATES = `The runs and the contestant are those of the bench on one machine: ${STEPS} steps each. The engine has its own worker with as many slots in one process (${BARE} runs), and each step puts three rows of 1 KB into a table of the same Postgres, one after the other. In turns, ${ROUNDS} times after one that does not count; the median counts.`;
const ABOUT_NEIGHBOUR = `The neighbor: one tenant has ${many(NEIGHBOUR_QUEUED)} queued runs on four slots, simulated ones of ${NEIGHBOUR_MS} ms instead of 30 s; another tenant comes ${NEIGHBOURS} times with one run. The time is from the first free slot after that until the run starts.`;

/** @returns {string} the section for the document */
export function benchServiceOnPostgres() {
  const machine = machineLine();
  const { answers, begins, throughput, wakes, cancels, neighbour } = /** @type {Measured} */ (
    measureIn("service-postgres")
  );
  const { durable, openworkflow } = throughput;
  const ratio = durable.rate / openworkflow.rate;
  return [
    "## The service on Postgres: `npm run bench -- service --postgres`",
    machine,
    ABOUT,
    table(
      ["over HTTP", "p50 ms", "p99 ms"],
      [
        ["`POST /v1/runs`, until it is answered", ...times(answers, 1)],
        ["until the run has started on the worker", ...times(begins, 1)],
        ["wake-up: from `POST /v1/approvals/{id}` until the run continues", ...times(wakes, 1)],
        ["from `POST …/cancel` until the worker has no process of the run", ...times(cancels, 1)],
        ["from a free slot to the first run of another tenant", ...times(neighbour.afterFree, 1)],
      ],
    ),
    ABOUT_RATES,
    table(
      [`${STEPS} steps`, "runs a second", "ms of processor a run", "of Postgres a run"],
      [
        ["durable runs: server and worker", ...rates(durable)],
        ["bare engine: openworkflow alone", ...rates(openworkflow)],
      ],
    ),
    ABOUT_NEIGHBOUR,
    table(
      ["goal", "measured", ""],
      [
        goal("start p50 within 25 ms", quantile(begins, 0.5), 25),
        goal("start p99 within 80 ms", quantile(begins, 0.99), 80),
        goal("wake-up p99 within 500 ms", quantile(wakes, 0.99), 500),
        goal("processes of a cancelled run gone within 2 s", Math.max(...cancels), 2000),
        goal(
          "another tenant's first run p99 within 1 s of a free slot",
          quantile(neighbour.afterFree, 0.99),
          1000,
        ),
        ["half as many runs a second as the bare engine", ratio.toFixed(2), ratio >= 0.5 ? "met" : "missed"],
      ],
    ),
  ].join("\n\n");
}

/** @param {Rate} rate */
function rates({ rate, cpuMs, storeMs }) {
  return [rate.toFixed(0), cpuMs.toFixed(1), storeMs.toFixed(1)];
}
