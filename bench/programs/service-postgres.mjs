/**
 * What the service costs on many machines: a server, a worker and a client in separate processes, one Postgres with
 * default disk flushing, one object store. Prints the measured milliseconds as JSON.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openShared } from "@metier/durable/postgres";
import { makeDatabase, startCluster } from "../../scripts/postgres/cluster.mjs";
import { startObjectStore } from "../../scripts/postgres/object-store.mjs";
import { createHearing, createMeasuring } from "../service/measuring.mjs";
import { measureNeighbour } from "../service/neighbour.mjs";
import { measureOpenworkflowOnPostgres } from "../service/openworkflow-postgres.mjs";
import { processorTime } from "../service/processor-time.mjs";
import { BARE, ROUNDS, SLOTS, THROUGH } from "../service/sizes.mjs";

/** @typedef {{ readonly rate: number, readonly cpuMs: number, readonly storeMs: number }} Rate */
/** @typedef {import("node:child_process").ChildProcess} Child */

const KEY = "the-admin-key-of-the-bench";
const [folder = ""] = process.argv.slice(2);
const { hear, heard } = createHearing();

const cluster = await startCluster({
  folder: join(folder, "postgres"),
  isDurable: true,
  settings: { max_connections: 200 },
});
const objects = await startObjectStore({ folder: join(folder, "objects") });
const { url: database, adminUrl } = makeDatabase(cluster, "service");
const environment = {
  PATH: process.env.PATH ?? "",
  ...objects.environment,
  METIER_ADMIN_KEY: KEY,
  METIER_MASTER_KEY: "5eed".repeat(16),
  METIER_DATABASE_URL: database,
  METIER_DATABASE_ADMIN_URL: adminUrl,
  METIER_OBJECT_STORE: objects.url,
};
writeSkill("add", "");
writeSkill("run", "allowed-tools: Bash\n");
const server = await startMachine("server", 0);
const worker = await startMachine("worker", SLOTS);
const client = fork(join(import.meta.dirname, "service-client.mjs"), [server.url, KEY]);
const measuring = createMeasuring({ url: server.url, key: KEY, client, heard });

const starts = await measuring.measureStarts();
const throughput = await measureRates();
const wakes = await measuring.measureWakes();
const cancels = await measuring.measureCancels();
for (const { child } of [server, worker]) child.kill("SIGKILL");
client.disconnect();
const neighbour = await measureQueue();
process.stdout.write(JSON.stringify({ ...starts, throughput, wakes, cancels, neighbour }));
await objects.stop();
await cluster.stop("SIGQUIT");
process.exit(0);

/** @param {string} name @param {string} more */
function writeSkill(name, more) {
  const place = join(folder, "server", ".metier", "skills", name);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "SKILL.md"), `---\nname: ${name}\ndescription: Does it.\n${more}---\nDo it.\n`);
}

/**
 * @param {"server" | "worker"} role
 * @param {number} slots
 * @returns {Promise<{ readonly child: Child, readonly url: string }>}
 */
async function startMachine(role, slots) {
  const home = join(folder, role);
  mkdirSync(home, { recursive: true });
  const program = join(import.meta.dirname, "service-machine.mjs");
  const child = fork(program, [role, home, String(slots)], { env: { ...environment, HOME: home } });
  const [{ url }] = await once(child, "message");
  child.on("message", (/** @type {{ readonly what?: string, readonly at: number }} */ { what, at }) => {
    if (what !== undefined) hear(what, at);
  });
  return { child, url };
}

/**
 * Both several times, in turns, so that other load on the machine affects both alike. The first turns do not count: a service
 * runs for days, and its code is compiled in the first seconds.
 */
async function measureRates() {
  const { adminUrl: bareUrl } = makeDatabase(cluster, "bare");
  /** @type {Readonly<Record<"durable" | "openworkflow", Rate[]>>} */
  const rates = { durable: [], openworkflow: [] };
  for (let round = -1; round < ROUNDS; round++) {
    const bare = await rateOf(BARE, ownTime, () => measureOpenworkflowOnPostgres(bareUrl, BARE));
    const durable = await rateOf(THROUGH, machinesTime, measuring.measureThroughput);
    if (round < 0) continue;
    rates.openworkflow.push(bare);
    rates.durable.push(durable);
  }
  const middle = (/** @type {readonly Rate[]} */ all) =>
    all.toSorted((a, b) => a.rate - b.rate)[all.length >> 1];
  return { durable: middle(rates.durable), openworkflow: middle(rates.openworkflow) };
}

/**
 * @param {number} count
 * @param {() => Promise<number>} ownCpu
 * @param {() => Promise<number>} measure
 * @returns {Promise<Rate>}
 */
async function rateOf(count, ownCpu, measure) {
  const [own, store] = [await ownCpu(), processorTime(cluster.pid)];
  const rate = await measure();
  return {
    rate,
    cpuMs: ((await ownCpu()) - own) / count,
    storeMs: (processorTime(cluster.pid) - store) / count,
  };
}

async function ownTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Server and worker together. */
async function machinesTime() {
  const times = [server, worker].map(
    ({ child }) =>
      new Promise((/** @type {(cpuMs: number) => void} */ resolve) => {
        const listen = (/** @type {{ readonly cpuMs?: number }} */ { cpuMs }) => {
          if (cpuMs === undefined) return;
          child.off("message", listen);
          resolve(cpuMs);
        };
        child.on("message", listen);
        child.send("cpu");
      }),
  );
  const [one = 0, other = 0] = await Promise.all(times);
  return one + other;
}

async function measureQueue() {
  const { url: databaseUrl, adminUrl: owner } = makeDatabase(cluster, "neighbour");
  const opened = await openShared({
    databaseUrl,
    adminUrl: owner,
    objectStore: objects.url,
    environment,
  });
  if (!opened.ok) throw new Error(opened.refusal.message);
  return measureNeighbour(opened.value.engine);
}
