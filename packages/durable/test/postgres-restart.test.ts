/** Postgres is stopped and started, in order and in the middle of everything, while runs write: nothing is lost or doubled. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Cluster, makeDatabase, startCluster } from "../../../scripts/postgres/cluster.mjs";
import { describeWithPostgres } from "../../../test/support/postgres.ts";
import { forTenant } from "../src/index.ts";
import { openPostgresStore, type PostgresStore } from "../src/postgres/open-store.ts";
import { newPlace } from "./contract/use-stores.ts";
import { required } from "./support/sqlite.ts";

const WRITERS = ["w1", "w2", "w3", "w4", "w5", "w6"];

/** One that keeps what it has committed when it is killed. */
async function startDurable(folder: string, port?: number): Promise<Cluster> {
  const cluster = await startCluster({ folder, isDurable: true, ...(port !== undefined && { port }) });
  onTestFinished(() => cluster.stop("SIGQUIT").catch(() => undefined));
  return cluster;
}

/** How many steps each writer was told to be written. */
type Counts = Map<string, number>;

/** Until each of them has written some more. */
async function goOn(counts: Counts): Promise<void> {
  const before = new Map(counts);
  while (WRITERS.some((id) => (counts.get(id) ?? 0) < (before.get(id) ?? 0) + 5)) await delay(20);
}

/** Writes step after step, each with its event, and a record with an audit line. */
async function writeUntil(
  isOver: () => boolean,
  { journal, records }: PostgresStore,
  id: string,
  counts: Counts,
): Promise<void> {
  const lease = { rootId: id, holder: `holder of ${id}`, term: 1 };
  await journal.create({ id, tenant: id, order: {} });
  await journal.take(lease);
  for (let seq = 1; !isOver(); seq += 1) {
    const entries = [{ key: `step ${seq}`, value: seq }];
    await journal.write(lease, { runId: id, entries, events: [{ seq, event: { seq } }], status: "running" });
    const line = { tenant: id, actor: id, action: "counted", subject: String(seq) };
    await records.put({ tenant: id, kind: "count", id }, { count: seq }, seq - 1, line);
    counts.set(id, seq);
  }
}

describeWithPostgres("a restart of Postgres", () => {
  test("in order and by a crash costs no write, and none is made twice", async () => {
    const folder = newPlace();
    let cluster = await startDurable(folder);
    const urls = makeDatabase(cluster, "metier");
    const first = required(await openPostgresStore({ ...urls, poolSize: 3 }));
    const second = required(await openPostgresStore({ url: urls.url, poolSize: 2 }));
    onTestFinished(() => Promise.all([first.close(), second.close()]).then(() => undefined));
    let isOver = false;
    const counts: Counts = new Map();
    const writing = WRITERS.map((id, index) =>
      forTenant(id, () => writeUntil(() => isOver, index % 2 === 0 ? first : second, id, counts)),
    );
    for (const signal of ["SIGINT", "SIGQUIT"] as const) {
      await goOn(counts);
      await cluster.stop(signal);
      cluster = await startDurable(folder, cluster.port);
    }
    await goOn(counts);
    isOver = true;
    await Promise.all(writing);
    for (const id of WRITERS) {
      await forTenant(id, async () => {
        const count = counts.get(id) ?? 0;
        const seqs = Array.from({ length: count }, (_, place) => place + 1);
        expect((await first.journal.events(id, 0, 1e6)).map(({ seq }) => seq)).toEqual(seqs);
        expect((await first.journal.entries(id)).map(({ value }) => value)).toEqual(seqs);
        expect(await first.records.get({ tenant: id, kind: "count", id })).toMatchObject({
          revision: count,
          body: { count },
        });
        expect((await first.records.auditLines(id, 0, 1e6)).map(({ subject }) => Number(subject))).toEqual(
          seqs,
        );
      });
    }
  });
});
