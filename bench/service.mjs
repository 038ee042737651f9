/**
 * The service on one machine, over HTTP: starts, throughput compared with the bare engine, wake-ups, cancels, event
 * streams.
 */
import { goal, measureIn, quantile, times } from "./measured.mjs";
import { machineLine, table } from "./report.mjs";
import { CANCELS, ROUNDS, SLOTS, STARTS, STEPS, STREAMS, THROUGH, WAKES } from "./service/sizes.mjs";

/**
 * @typedef {{ readonly rate: number, readonly cpuMs: number }} Rate
 *
 * @typedef {object} Measured in milliseconds
 * @property {number[]} answers
 * @property {number[]} begins
 * @property {Readonly<Record<"openworkflow" | "unflushed" | "bare" | "durable" | "plain", Rate>>} throughput
 * @property {number[]} wakes
 * @property {number[]} cancels
 * @property {number} opened
 * @property {number[]} fanned
 */

const ABOUT = `API and worker in one process, clients in another, real runs, a model without a network: ${STARTS} starts, ${WAKES} approvals and ${CANCELS} cancels one after the other, ${THROUGH} runs at once on ${SLOTS} slots. Claims and wake-ups beside 100,000 parked runs are in the bench of the engine.`;
const ABOUT_RATES = `A run of the service makes ${STEPS} calls of the model and ${STEPS - 1} of a tool that only reads, each one on the disk before the next. The bare engine is openworkflow with its own worker, on as many slots: ${STEPS} of its steps, which put three rows of 1 KB each into a table and do nothing else. As it comes, it waits for the disk at every commit; the goal is held against one that never does, which is harder. Ours alone writes as many rows by our engine and journal, one of three on the disk before the next. All in turns, ${ROUNDS} times; the median counts.`;

/** @returns {string} the section for the document */
export function benchService() {
  const machine = machineLine();
  const { answers, begins, throughput, wakes, cancels, opened, fanned } = /** @type {Measured} */ (
    measureIn("service-cost")
  );
  const { openworkflow, unflushed, bare, durable, plain } = throughput;
  return [
    "## The service on one machine: `npm run bench -- service`",
    machine,
    ABOUT,
    table(
      ["over HTTP", "p50 ms", "p99 ms"],
      [
        ["`POST /v1/runs`, until it is answered", ...times(answers, 1)],
        ["until the run has started", ...times(begins, 1)],
        ["wake-up: from `POST /v1/approvals/{id}` until the run continues", ...times(wakes, 1)],
        ["from `POST …/cancel` until no process of the run is left", ...times(cancels, 1)],
        [`from the last event until each of ${STREAMS} streams has ended`, ...times(fanned, 1)],
      ],
    ),
    `Opening ${STREAMS} streams took ${opened.toFixed(0)} ms.`,
    ABOUT_RATES,
    table(
      [`${STEPS} steps`, "runs a second", "ms of processor a run", "durable runs to these"],
      [
        ["durable runs of the service", ...rates(durable), ""],
        ["the same runs, not durable", ...rates(plain), ratio(durable, plain)],
        [
          "bare engine: openworkflow that never waits for the disk",
          ...rates(unflushed),
          ratio(durable, unflushed),
        ],
        ["openworkflow as it comes", ...rates(openworkflow), ratio(durable, openworkflow)],
        ["our engine and journal alone", ...rates(bare), ratio(durable, bare)],
      ],
    ),
    table(
      ["goal", "measured", ""],
      [
        goal("start p50 within 10 ms", quantile(begins, 0.5), 10),
        goal("start p99 within 30 ms", quantile(begins, 0.99), 30),
        goal("wake-up p99 within 500 ms", quantile(wakes, 0.99), 500),
        goal("processes of a cancelled run gone within 2 s", Math.max(...cancels), 2000),
        half("half as many runs a second as the bare engine", durable, unflushed),
      ],
    ),
  ].join("\n\n");
}

/** @param {Rate} rate */
function rates({ rate, cpuMs }) {
  return [rate.toFixed(0), cpuMs.toFixed(1)];
}

/** @param {string} name @param {Rate} one @param {Rate} other */
function half(name, one, other) {
  return [name, ratio(one, other), one.rate >= other.rate / 2 ? "met" : "missed"];
}

/** @param {Rate} one @param {Rate} other */
function ratio(one, other) {
  return (one.rate / other.rate).toFixed(2);
}
