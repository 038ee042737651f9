/**
 * Measures a service over HTTP, in one process or several: starts, throughput, wake-ups and cancels. The process that
 * advances runs reports their events (`hear`), by the system's clock.
 */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { askFor } from "../run-loop/model.mjs";
import { askForCommand } from "./model.mjs";
import { CANCELS, STARTS, STEPS, THROUGH, WAKES } from "./sizes.mjs";

/** @typedef {{ readonly id: string, readonly from: number, readonly answered: number }} Started */

/** Milliseconds, the same in all processes. */
export function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Who waits for which events of runs. */
export function createHearing() {
  /** By run and event type. @type {Map<string, (at: number) => void>} */
  const waiting = new Map();
  /** Events that arrived before anyone waited for them. @type {Map<string, number>} */
  const early = new Map();
  return {
    /** @param {string} what run and type @param {number} at */
    hear(what, at) {
      const listener = waiting.get(what);
      if (listener) listener(at);
      else early.set(what, at);
    },
    /**
     * When it happened, even if that was before this call.
     *
     * @param {string} runId
     * @param {string} type
     * @returns {Promise<number>}
     */
    heard(runId, type) {
      const what = `${runId} ${type}`;
      const at = early.get(what);
      return at === undefined
        ? new Promise((resolve) => void waiting.set(what, resolve))
        : Promise.resolve(at);
    },
  };
}

/**
 * @param {object} service
 * @param {string} service.url
 * @param {string} service.key
 * @param {import("node:child_process").ChildProcess} service.client `service-client.mjs`
 * @param {ReturnType<typeof createHearing>["heard"]} service.heard
 */
export function createMeasuring({ url, key, client, heard }) {
  /** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>} */
  const call = async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.json();
  };
  /** @param {string} message @returns {Promise<string>} */
  const start = async (message, approve = "allow") =>
    (await call("POST", "/v1/runs", { skill: "run", message, approve })).id;
  /**
   * From the client's process, all at once.
   *
   * @param {number} count
   * @param {number} steps
   * @returns {Promise<readonly Started[]>}
   */
  const startByClient = async (count, steps) => {
    const answer = once(client, "message");
    client.send({ count, body: { skill: "add", message: askFor(steps), approve: "allow" } });
    return (await answer)[0];
  };
  /** @param {string} runId @returns {Promise<{ readonly id: string }>} once it waits */
  const pendingOf = async (runId) => {
    for (;;) {
      const { status } = await call("GET", `/v1/runs/${runId}`);
      const { data } = await call("GET", "/v1/approvals?status=pending");
      if (status === "waiting" && data.length > 0) return data[0];
      await delay(2);
    }
  };
  return {
    call,
    start,
    pendingOf,
    measureStarts: () => measureStarts(startByClient, heard),
    /** From the first request to the last end. */
    async measureThroughput() {
      const runs = await startByClient(THROUGH, STEPS);
      const ends = await Promise.all(runs.map(({ id }) => heard(id, "run-finished")));
      const from = Math.min(...runs.map((run) => run.from));
      return (THROUGH / (Math.max(...ends) - from)) * 1000;
    },
    /** From the answer to an approval until the run continues with it. */
    async measureWakes() {
      /** @type {number[]} */ const times = [];
      for (let number = 0; number < WAKES; number++) {
        const id = await start(askForCommand("true"), "ask");
        const approval = await pendingOf(id);
        const from = now();
        await call("POST", `/v1/approvals/${approval.id}`, { decision: "approve" });
        times.push((await heard(id, "approval-answered")) - from);
        await heard(id, "run-finished");
      }
      return times;
    },
    /** From the request until no process of the run is left. */
    async measureCancels() {
      /** @type {number[]} */ const times = [];
      for (let number = 0; number < CANCELS; number++) {
        const mark = `sleep ${7_000_000 + number}`;
        const id = await start(askForCommand(mark));
        while (!isRunning(mark)) await delay(5);
        const from = performance.now();
        await call("POST", `/v1/runs/${id}/cancel`);
        while (isRunning(mark)) await delay(5);
        times.push(performance.now() - from);
        await heard(id, "run-finished");
      }
      return times;
    },
  };
}

/**
 * One after the other: until the answer, and until the run has started.
 *
 * @param {(count: number, steps: number) => Promise<readonly Started[]>} startByClient
 * @param {ReturnType<typeof createHearing>["heard"]} heard
 */
async function measureStarts(startByClient, heard) {
  /** @type {number[]} */ const answers = [];
  /** @type {number[]} */ const begins = [];
  for (let number = -20; number < STARTS; number++) {
    const [run] = await startByClient(1, 1);
    if (run === undefined) throw new Error("Nothing was started.");
    const begun = await heard(run.id, "run-started");
    await heard(run.id, "run-finished");
    if (number < 0) continue; // Everything is loaded by now.
    answers.push(run.answered - run.from);
    begins.push(begun - run.from);
  }
  return { answers, begins };
}

/** @param {string} command */
function isRunning(command) {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim() === command;
    } catch {
      return false; // It ended in the meantime.
    }
  });
}
