/**
 * `node bench/simulate/measure.mjs`: measures what each operation of the store and the engine costs on a real
 * Postgres, and a small load to check the simulation against. Writes `costs.json`, which `npm run bench -- simulate`
 * uses.
 */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openShared } from "@metier/durable/postgres";
import { makeDatabase, startCluster } from "../../scripts/postgres/cluster.mjs";
import { measureEngine } from "./measure-engine.mjs";
import { measureJournal } from "./measure-journal.mjs";
import { measureLoad } from "./measure-load.mjs";
import { measureNotices } from "./measure-notices.mjs";

/**
 * @typedef {import("../../scripts/postgres/cluster.mjs").Cluster} Cluster
 * @typedef {import("./postgres.mjs").Cost} Cost
 *
 * @typedef {object} Bed where it is measured
 * @property {Cluster} cluster
 * @property {string} url
 * @property {import("@metier/durable").JournalStore} journal
 * @property {() => Promise<import("@metier/durable").RunEngine>} openEngine as another process on the same database would
 */

/** @type {Cost} */
const NOTHING = { cpuMs: 0, walBytes: 0, flushes: 0, trips: 0 };
/** One after the other: finding what is due, its claim, its wait for wake-ups, and taking the journal. */
const CLAIM_TRIPS = 4;
const ENVIRONMENT = { METIER_MASTER_KEY: randomBytes(32).toString("hex") };
/** Closed at the end. @type {{ close(): Promise<void> }[]} */
const states = [];
const FILE = join(import.meta.dirname, "costs.json");

const folder = mkdtempSync(join(tmpdir(), "metier-measure-"));
chmodSync(folder, 0o711);
mkdirSync(join(folder, "objects"));
try {
  const cluster = await startCluster({
    folder: join(folder, "postgres"),
    isDurable: true,
    settings: { max_connections: 300, shared_buffers: "512MB", max_wal_size: "4GB" },
  });
  try {
    writeFileSync(FILE, `${JSON.stringify(await measureAll(cluster), undefined, 2)}\n`);
  } finally {
    await cluster.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @param {Cluster} cluster */
async function measureAll(cluster) {
  const { url, adminUrl } = makeDatabase(cluster, "bench");
  const open = async () => {
    const objectStore = pathToFileURL(join(folder, "objects")).href;
    const opened = await openShared({ databaseUrl: url, adminUrl, objectStore, environment: ENVIRONMENT });
    if (!opened.ok) throw new Error(opened.refusal.message);
    states.push(opened.value);
    return opened.value;
  };
  const { journal } = await open();
  /** @type {Bed} */
  const bed = { cluster, url, journal, openEngine: async () => (await open()).engine };
  const notices = await measureNotices(cluster, url);
  const inJournal = await measureJournal(bed);
  const inEngine = await measureEngine(bed);
  const { renew } = inEngine;
  const operations = {
    start: sum(inJournal.create, inEngine.enqueue),
    look: inEngine.look,
    claim: { ...sum(inEngine.claim, inJournal.take), trips: CLAIM_TRIPS },
    write: inJournal.write,
    renew,
    renewMany: renew,
    renewEach: { ...NOTHING, cpuMs: renew.cpuMs / 5, walBytes: renew.walBytes / 2 },
    park: inJournal.question,
    wake: sum(inJournal.answer, inEngine.wake),
    end: inJournal.end,
    notify: { ...NOTHING, cpuMs: notices.notify, trips: 1 },
    deliver: { ...NOTHING, cpuMs: notices.deliver },
    events: inJournal.events,
    list: inJournal.list,
    purge: sum(inJournal.purge, inEngine.purge),
  };
  const check = await measureLoad(bed);
  for (const state of states) await state.close();
  const date = new Date().toISOString().slice(0, 10);
  return {
    about: `Measured ${date} on ${cpus()[0]?.model.trim()}, with ${cpus().length} cores for Postgres and its client.`,
    operations: Object.fromEntries(Object.entries(operations).map(([name, cost]) => [name, rounded(cost)])),
    bytesPerRun: Math.round(inJournal.bytesPerRun),
    check,
  };
}

/** One after the other. @param {Cost} one @param {Cost} other @returns {Cost} */
function sum(one, other) {
  return {
    cpuMs: one.cpuMs + other.cpuMs,
    walBytes: one.walBytes + other.walBytes,
    flushes: one.flushes + other.flushes,
    trips: one.trips + other.trips,
  };
}

/** @param {Cost} cost @returns {Cost} */
function rounded({ cpuMs, walBytes, flushes, trips }) {
  return { cpuMs: Math.round(cpuMs * 10_000) / 10_000, walBytes: Math.round(walBytes), flushes, trips };
}
