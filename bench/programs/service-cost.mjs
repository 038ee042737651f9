/**
 * What the service costs on one machine, over HTTP on loopback, with real runs and a model without a network. Prints
 * the measured milliseconds as JSON, and how many five-step runs complete per second, compared with openworkflow
 * alone, our engine and journal alone, and runs that aren't durable.
 */
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openSqliteEngine, openSqliteStore } from "@metier/durable/sqlite";
import { createMetier } from "@metier/runtime";
import { startLocalService } from "@metier/service";
import { askFor, TOOL, TOOL_ABOUT, TOOL_INPUT } from "../run-loop/model.mjs";
import { createHearing, createMeasuring, now } from "../service/measuring.mjs";
import { askForCommand, createServiceModel } from "../service/model.mjs";
import { measureOpenworkflow } from "../service/openworkflow.mjs";
import { BARE, ROUNDS, SLOTS, STEPS, STREAMS, THROUGH } from "../service/sizes.mjs";

/** @typedef {{ readonly rate: number, readonly cpuMs: number }} Rate */

const KEY = "the-admin-key-of-the-bench";
const [folder = ""] = process.argv.slice(2);
const home = join(folder, "home");
const { hear, heard } = createHearing();
const environment = { PATH: process.env.PATH ?? "", METIER_ADMIN_KEY: KEY };

writeSkill("add", "");
writeSkill("run", "allowed-tools: Bash\n");
const started = await startLocalService({
  home,
  environment,
  slots: SLOTS,
  metier: { ...makeOptions(), onEvent: (event) => hear(`${event.runId} ${event.type}`, now()) },
});
if (!started.ok) throw new Error(started.refusal.message);
const { url, stop } = started.value;
const client = fork(join(import.meta.dirname, "service-client.mjs"), [url, KEY]);
const measuring = createMeasuring({ url, key: KEY, client, heard });
const { call, start, pendingOf, measureThroughput } = measuring;

const starts = await measuring.measureStarts();
const throughput = await measureRates();
const wakes = await measuring.measureWakes();
const cancels = await measuring.measureCancels();
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
 * Each several times, in turns, so that other load on the machine affects all of them alike.
 *
 * @returns {Promise<Record<string, Rate | undefined>>} the median of each
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
 * Runs per second, and the processor time of each, which other programs on the machine affect less.
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

/** The bare engine and journal: as many steps, each with one flushed write and two plain writes of 1 KB. */
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

/**
 * Many streams of one run: the time until all are open, and from the answer that ends it until all have seen its last
 * event.
 */
async function measureStreams() {
  const id = await start(askForCommand("true"), "ask");
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
