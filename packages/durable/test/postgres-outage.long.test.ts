/** The engine on Postgres while Postgres cannot be reached: no run is lost, and no lease is held past its time. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type Cluster, makeDatabase, startCluster } from "../../../scripts/postgres/cluster.mjs";
import { describeWithPostgres, newCluster, newDatabase } from "../../../test/support/postgres.ts";
import type { RunEngine, RunLease } from "../src/index.ts";
import { migrate } from "../src/postgres/migrate.ts";
import { openPostgresNotices } from "../src/postgres/notices.ts";
import { openPostgresEngine } from "../src/postgres/open-engine.ts";
import { ENDED, PARKED, startWork, until } from "./contract/engine-work.ts";
import { newPlace } from "./contract/use-stores.ts";
import { startLosingProxy } from "./support/losing-proxy.ts";
import { required } from "./support/sqlite.ts";

interface Bed {
  readonly engine: RunEngine;
  /** Each that was begun, with how it went. */
  readonly leases: RunLease[];
  readonly ended: string[];
  readonly faults: unknown[];
}

function openEngine(url: string): RunEngine {
  const notices = openPostgresNotices({ url });
  const engine = openPostgresEngine({ url, ticks: notices.ticks });
  onTestFinished(async () => {
    await engine.close();
    await notices.close();
  });
  return engine;
}

/** Every run parks once, is woken, and then works for a while. */
function startBed(engine: RunEngine, leaseMs: number, workMs: number): Bed {
  const bed: Bed = { engine, leases: [], ended: [], faults: [] };
  startWork(engine, {
    slots: 6,
    leaseMs,
    onFault: (fault) => bed.faults.push(fault),
    async advance(lease) {
      bed.leases.push(lease);
      if (lease.term === 1) {
        setTimeout(() => void engine.wake(lease.runId), 20);
        return PARKED;
      }
      await delay(workMs, undefined, { signal: lease.lost }).catch(() => undefined);
      if (!lease.lost.aborted) bed.ended.push(lease.runId);
      return ENDED;
    },
  });
  return bed;
}

function names(count: number): readonly string[] {
  return Array.from({ length: count }, (_, number) => `run-${number}`);
}

async function isIdle(engine: RunEngine): Promise<boolean> {
  const { queued, parked, running } = await engine.counts();
  return queued + parked + running === 0;
}

async function newOwnCluster(): Promise<{ cluster: Cluster; folder: string; url: string }> {
  const place = newPlace();
  chmodSync(place, 0o755); // The server is another user's where the tests are root's.
  const folder = join(place, "cluster");
  const cluster = await newCluster(folder);
  const urls = makeDatabase(cluster, "engine");
  required(await migrate(urls));
  return { cluster, folder, url: urls.url };
}

describeWithPostgres("an engine whose Postgres cannot be reached", () => {
  for (const [how, signal] of [
    ["is restarted", "SIGINT"],
    ["crashes and is started again", "SIGQUIT"],
  ] as const) {
    test(`loses no run when it ${how} with runs under way`, async () => {
      const { cluster, folder, url } = await newOwnCluster();
      const bed = startBed(openEngine(url), 60_000, 300);
      const ids = names(40);
      for (const id of ids.slice(0, 20)) await bed.engine.enqueue(id);
      await until(() => bed.ended.length >= 3);
      await cluster.stop(signal);
      // Whoever orders a run meanwhile waits until it is there again.
      const late = Promise.all(ids.slice(20).map((id) => bed.engine.enqueue(id)));
      await delay(1500);
      const again = await startCluster({ folder, port: cluster.port });
      onTestFinished(() => again.stop("SIGQUIT").catch(() => undefined));
      await late;
      await until(async () => bed.ended.length >= ids.length && (await isIdle(bed.engine)));
      expect([...new Set(bed.ended)].toSorted()).toEqual(ids.toSorted());
      // After a crash, what was not on the disk yet may be done once more.
      if (signal === "SIGINT") expect(bed.ended).toHaveLength(ids.length);
    });
  }

  test("goes on after it was cut off for ten seconds, within the leases", async () => {
    const database = await newDatabase();
    required(await migrate(database));
    const proxy = await startLosingProxy(database.url);
    const bed = startBed(openEngine(proxy.through(database.url)), 60_000, 2000);
    const ids = names(12);
    for (const id of ids) await bed.engine.enqueue(id);
    await until(() => bed.leases.filter(({ term }) => term === 2).length === 6);
    proxy.hold();
    await delay(10_000);
    proxy.mend();
    await until(async () => bed.ended.length >= ids.length && (await isIdle(bed.engine)));
    expect(bed.ended.toSorted()).toEqual(ids.toSorted());
    expect(bed.leases.filter(({ lost }) => lost.aborted)).toEqual([]);
  });

  test("tells runs that their lease is lost when it is over, though nobody answers, and they are advanced anew", async () => {
    const database = await newDatabase();
    required(await migrate(database));
    const proxy = await startLosingProxy(database.url);
    const bed = startBed(openEngine(proxy.through(database.url)), 2000, 3500);
    const ids = names(4);
    for (const id of ids) await bed.engine.enqueue(id);
    await until(() => bed.leases.filter(({ term }) => term >= 2).length === 4);
    proxy.hold();
    await until(() => bed.leases.filter(({ lost }) => lost.aborted).length === 4);
    expect(bed.ended).toEqual([]);
    await delay(8000);
    proxy.mend();
    await until(async () => bed.ended.length >= ids.length && (await isIdle(bed.engine)));
    expect(bed.ended.toSorted()).toEqual(ids.toSorted());
  });

  test("gives up connections that say nothing, and works on new ones", async () => {
    const database = await newDatabase();
    required(await migrate(database));
    const proxy = await startLosingProxy(database.url);
    const bed = startBed(openEngine(proxy.through(database.url)), 30_000, 50);
    await bed.engine.enqueue("before");
    await until(() => bed.ended.length === 1);
    proxy.silence();
    await bed.engine.enqueue("after");
    await until(() => bed.ended.includes("after"));
    expect(bed.ended).toEqual(["before", "after"]);
  });
});
