/**
 * What the service costs on one machine, over HTTP on loopback, with real runs and a model without a network. Prints the
 * measured milliseconds as JSON, and how many runs of five steps go through in a second, beside openworkflow alone, our engine
 * and journal alone, and runs that are not durable.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { createMetier } from "@metier/runtime";
import { startLocalService } from "@metier/service";
import { askFor, TOOL, TOOL_ABOUT, TOOL_INPUT } from "../run-loop/model.mjs";
import { askForCommand, createServiceModel } from "../service/model.mjs";
import { measureOpenworkflow } from "../service/openworkflow.mjs";
import { BARE, CANCELS, ROUNDS, SLOTS, STARTS, STEPS, STREAMS, THROUGH, WAKES } from "../service/sizes.mjs";

/** @typedef {{ readonly rate: number, readonly cpuMs: number }} Rate */

const KEY = "the-admin-key-of-the-bench";
const [folder = ""] = process.argv.slice(2);
const home = join(folder, "home");
/** By run and type of event: who waits for it. @type {Map<string, (at: number) => void>} */
const waiting = new Map();
/** What came before anybody waited for it. @type {Map<string, number>} */
const early = new Map();
const environment = { PATH: process.env.PATH ?? "", METIER_ADMIN_KEY: KEY };

writeSkill("add", "");
writeSkill("run", "allowed-tools: Bash\n");
const started = await startLocalService({
  home,
  environment,
  slots: SLOTS,
  metier: { ...makeOptions(), onEvent: (event) => hear(`${event.runId} ${event.type}`) },
});
if (!started.ok) throw new Error(started.refusal.message);
const { url, stop } = started.value;
const client = fork(join(import.meta.dirname, "service-client.mjs"), [url, KEY]);

const starts = await measureStarts();
const throughput = await measureRates();
const wakes = await measureWakes();
const cancels = await measureCancels();
const streams = await measureStreams();
process.stdout.write(JSON.stringify({ ...starts, throughput, wakes, cancels, ...streams }));
client.disconnect();
await stop(2000);
process.exit(0);

/** @returns {import("@metier/runtime").MetierOptions} */
function makeOptions() {
  return {
    models: { default: createServiceModel() },
    tools: [
      {
        name: TOOL,
        description: TOOL_ABOUT,
        inputSchema: { ...TOOL_INPUT },
        effect: "read",
        execute: async ({ a, b }) => ({ text: String(Number(a) + Number(b)), isError: false }),
      },
    ],
  };
}

/**
 * Each of them several times, in turns, so that whatever else the machine does meets all alike.
 *
 * @returns {Promise<Record<string, Rate | undefined>>} of each the median
 */
async function measureRates() {
  /** @type {Readonly<Record<string, () => Promise<Rate>>>} */
  const contestants = {
    openworkflow: () => rateOf(BARE, () => measureOpenworkflow(newFolder(), { count: BARE, waits: true })),
    unflushed: () => rateOf(BARE, () => measureOpenworkflow(newFolder(), { count: BARE, waits: false })),
    bare: () => rateOf(THROUGH, measureBare),
    durable: () => rateOf(THROUGH, measureThroughput),
    plain: () => rateOf(THROUGH, measurePlain),
  };
  /** @type {{ readonly name: string, readonly rate: Rate }[]} */
  const rates = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, measure] of Object.entries(contestants)) rates.push({ name, rate: await measure() });
  }
  const middle = (/** @type {string} */ wanted) => {
    const all = rates.flatMap(({ name, rate }) => (name === wanted ? [rate] : []));
    return all.toSorted((a, b) => a.rate - b.rate)[all.length >> 1];
  };
  return Object.fromEntries(Object.keys(contestants).map((name) => [name, middle(name)]));
}

/**
 * Runs a second, and what each of them costs the processor, which other programs on the machine change less.
 *
 * @param {number} count
 * @param {() => Promise<number>} measure
 * @returns {Promise<Rate>}
 */
async function rateOf(count, measure) {
  const before = process.cpuUsage();
  const rate = await measure();
  const { user, system } = process.cpuUsage(before);
  return { rate, cpuMs: (user + system) / 1000 / count };
}

function newFolder() {
  return mkdtempSync(join(folder, "bare-"));
}

/** @param {string} name @param {string} more */
function writeSkill(name, more) {
  const place = join(home, ".metier", "skills", name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "SKILL.md"), `---\nname: ${name}\ndescription: Does it.\n${more}---\nDo it.\n`);
}

/** @param {string} what */
function hear(what) {
  const at = now();
  const listener = waiting.get(what);
  if (listener) listener(at);
  else early.set(what, at);
}

/** Milliseconds, the same in the process of the client. */
function now() {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** When it happened, also when it has already. @param {string} runId @param {string} type @returns {Promise<number>} */
function heard(runId, type) {
  const what = `${runId} ${type}`;
  const at = early.get(what);
  return at === undefined ? new Promise((resolve) => void waiting.set(what, resolve)) : Promise.resolve(at);
}

/** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>} */
async function call(method, path, body) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
  return response.json();
}

/** @param {string} skill @param {string} message @returns {Promise<string>} */
async function start(skill, message, approve = "allow") {
  return (await call("POST", "/v1/runs", { skill, message, approve })).id;
}

/**
 * By the client's process, all at once.
 *
 * @param {number} count
 * @param {number} steps
 * @returns {Promise<readonly { readonly id: string, readonly from: number, readonly answered: number }[]>}
 */
async function startByClient(count, steps) {
  const answer = once(client, "message");
  client.send({ count, body: { skill: "add", message: askFor(steps), approve: "allow" } });
  return (await answer)[0];
}

/** One after the other: until the answer, and until the run has begun. */
async function measureStarts() {
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

/** The bare engine and journal: as many steps, of one flushed and two plain writes of 1 KB each. */
async function measureBare() {
  const file = join(newFolder(), "bare.db");
  const [store, engine] = [openSqliteStore({ file }), openSqliteEngine({ file })];
  if (!store.ok || !engine.ok) throw new Error("SQLite cannot be opened.");
  const { journal } = store.value;
  const value = "x".repeat(1000);
  for (let number = 0; number < THROUGH; number++) {
    await journal.create({ id: `run-${number}`, tenant: "bench", order: {} });
  }
  const from = performance.now();
  let ended = 0;
  await new Promise((resolve) => {
    engine.value.work({
      slots: SLOTS,
      leaseMs: 10_000,
      onFault: (fault) => {
        throw fault;
      },
      async advance({ runId, holder, term }) {
        const lease = { rootId: runId, holder, term };
        await journal.take(lease);
        for (let step = 1; step <= STEPS; step++) {
          await journal.write(lease, { runId, events: [{ seq: 2 * step - 1, event: value }] });
          await journal.write(lease, { runId, events: [{ seq: 2 * step, event: value }] });
          await journal.write(lease, { runId, entries: [{ key: `step-${step}`, value }] });
        }
        ended += 1;
        if (ended === THROUGH) resolve(undefined);
        return { kind: "ended" };
      },
    });
    for (let number = 0; number < THROUGH; number++) void engine.value.enqueue(`run-${number}`);
  });
  const rate = (THROUGH / (performance.now() - from)) * 1000;
  await delay(50);
  await engine.value.close();
  return rate;
}

/** From the first request to the last end. */
async function measureThroughput() {
  const runs = await startByClient(THROUGH, STEPS);
  const ends = await Promise.all(runs.map(({ id }) => heard(id, "run-finished")));
  const from = Math.min(...runs.map((run) => run.from));
  return (THROUGH / (Math.max(...ends) - from)) * 1000;
}

/** The same runs, as many at once, without a journal. */
async function measurePlain() {
  const metier = await createMetier({ home, ...makeOptions() });
  const from = performance.now();
  let left = THROUGH;
  const work = async () => {
    while (left-- > 0) {
      const { status } = await metier.run({ skill: "add", message: askFor(STEPS) });
      if (status !== "completed") throw new Error(status);
    }
  };
  await Promise.all(Array.from({ length: SLOTS }, work));
  return (THROUGH / (performance.now() - from)) * 1000;
}

/** From the answer to an approval to the run that goes on with it. */
async function measureWakes() {
  /** @type {number[]} */ const times = [];
  for (let number = 0; number < WAKES; number++) {
    const id = await start("run", askForCommand("true"), "ask");
    const approval = await pendingOf(id);
    const from = now();
    await call("POST", `/v1/approvals/${approval.id}`, { decision: "approve" });
    times.push((await heard(id, "approval-answered")) - from);
    await heard(id, "run-finished");
  }
  return times;
}

/** @param {string} runId @returns {Promise<{ readonly id: string }>} once it waits */
async function pendingOf(runId) {
  for (;;) {
    const { status } = await call("GET", `/v1/runs/${runId}`);
    const { data } = await call("GET", "/v1/approvals?status=pending");
    if (status === "waiting" && data.length > 0) return data[0];
    await delay(2);
  }
}

/** From the request to the moment in which no process of the run is there any more. */
async function measureCancels() {
  /** @type {number[]} */ const times = [];
  for (let number = 0; number < CANCELS; number++) {
    const mark = `sleep ${7_000_000 + number}`;
    const id = await start("run", askForCommand(mark));
    while (!isRunning(mark)) await delay(5);
    const from = performance.now();
    await call("POST", `/v1/runs/${id}/cancel`);
    while (isRunning(mark)) await delay(5);
    times.push(performance.now() - from);
    await heard(id, "run-finished");
  }
  return times;
}

/** @param {string} command */
function isRunning(command) {
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim() === command;
    } catch {
      return false; // It ended meanwhile.
    }
  });
}

/** Many streams of one run: until all are open, and from the answer that ends it until all have seen its last event. */
async function measureStreams() {
  const id = await start("run", askForCommand("true"), "ask");
  const approval = await pendingOf(id);
  const cut = new AbortController();
  let isOpen = 0;
  const from = performance.now();
  const ended = Array.from({ length: STREAMS }, async () => {
    const response = await fetch(`${url}/v1/runs/${id}/events`, {
      headers: { authorization: `Bearer ${KEY}` },
      signal: cut.signal,
    });
    let text = "";
    const decoder = new TextDecoder();
    isOpen += 1;
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true });
    return { at: now(), events: text.match(/^id: /gm)?.length ?? 0 };
  });
  while (isOpen < STREAMS) await delay(2);
  const opened = performance.now() - from;
  await call("POST", `/v1/approvals/${approval.id}`, { decision: "approve" });
  const last = await heard(id, "run-finished");
  const seen = await Promise.all(ended);
  const events = new Set(seen.map((one) => one.events));
  if (events.size !== 1 || !events.values().next().value)
    throw new Error(`Streams saw ${[...events]} events.`);
  return { opened, fanned: seen.map(({ at }) => at - last) };
}
