/** What runs write to the journal, and what is read from it: one operation after the other, some at once. */
import { forAllTenants, forTenant } from "@metier/durable";
import { runSql } from "../../scripts/postgres/cluster.mjs";
import { readUse } from "./postgres-use.mjs";

/** @typedef {import("./postgres.mjs").Cost} Cost */

const TENANT = "bench";
const RUNS = 1_000;
/** As in the simulation: 5 steps with 4 tool calls, half of which record first what they are about to do. */
const WRITES = 12;
const AT_ONCE = 8;
const ENTRY = "x".repeat(1_500);
const EVENT = "x".repeat(500);

/** @param {import("./measure.mjs").Bed} bed */
export async function measureJournal(bed) {
  const { cluster, journal } = bed;
  const before = readSize(bed.url);
  const ids = Array.from({ length: RUNS }, (_, number) => `run-${number}`);
  /** @type {(name: string) => import("@metier/durable").JournalLease} */
  const lease = (id) => ({ rootId: id, holder: `holder-${id}`, term: 1 });
  const all = (/** @type {(id: string) => Promise<unknown>} */ work) =>
    measure(cluster, ids, (id) => forTenant(TENANT, () => work(id)));

  const create = await all((id) => journal.create({ id, tenant: TENANT, order: { message: EVENT } }));
  const take = await all((id) => journal.take(lease(id)));
  const writes = [];
  for (let number = 1; number <= WRITES; number++)
    writes.push(await all((id) => journal.write(lease(id), stepOf(id, number))));
  const events = await all((id) => journal.events(id, WRITES * 2 - 2, 100));
  const list = await all(() => journal.list({ tenant: TENANT, limit: 50 }));
  const question = await all((id) =>
    journal.write(lease(id), {
      runId: id,
      status: "waiting",
      questions: [{ id: `q-${id}`, key: "call-1", kind: "approval", body: { input: EVENT } }],
    }),
  );
  const answer = await all((id) => journal.answer(`q-${id}`, { status: "approved", by: "bench" }));
  const end = await all((id) =>
    journal.write(lease(id), { runId: id, status: "completed", result: { text: EVENT } }),
  );
  const bytesPerRun = (readSize(bed.url) - before) / RUNS;
  const purge = await measure(cluster, ["all"], () => forAllTenants(() => journal.purge(Date.now() + 1)));
  return {
    create,
    take,
    write: mean(writes),
    events: { ...events, flushes: 0 },
    list: { ...list, flushes: 0 },
    question,
    answer,
    end,
    purge: { ...purge, cpuMs: purge.cpuMs / RUNS, walBytes: purge.walBytes / RUNS },
    bytesPerRun,
  };
}

/** @param {string} runId @param {number} number @returns {import("@metier/durable").JournalBatch} */
export function stepOf(runId, number) {
  return {
    runId,
    entries: [{ key: `step ${number}`, value: ENTRY }],
    events: [
      { seq: number * 2 - 1, event: EVENT },
      { seq: number * 2, event: EVENT },
    ],
  };
}

/**
 * The mean cost of one operation.
 *
 * @param {import("./measure.mjs").Cluster} cluster
 * @param {readonly string[]} ids
 * @param {(id: string) => Promise<unknown>} work
 * @returns {Promise<Cost>}
 */
export async function measure(cluster, ids, work) {
  const before = readUse(cluster);
  const left = [...ids];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) await work(id);
    }),
  );
  const after = readUse(cluster);
  return {
    cpuMs: (after.cpuMs - before.cpuMs) / ids.length,
    walBytes: (after.walBytes - before.walBytes) / ids.length,
    flushes: 1,
    trips: 1,
  };
}

/** @param {readonly Cost[]} costs @returns {Cost} */
function mean(costs) {
  const of = (/** @type {"cpuMs" | "walBytes"} */ what) =>
    costs.reduce((sum, cost) => sum + cost[what], 0) / costs.length;
  return { cpuMs: of("cpuMs"), walBytes: of("walBytes"), flushes: 1, trips: 1 };
}

/** @param {string} url */
function readSize(url) {
  return Number(runSql(url, "SELECT pg_database_size(current_database())"));
}
