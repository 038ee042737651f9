/** What every engine does with runs that wait for their first worker: tenants take turns, and nobody has more than the limit. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { AdvanceOutcome, RunEngine, RunLease } from "../../src/index.ts";
import { ENDED, PARKED, startProcess, startWork, until } from "./engine-work.ts";
import type { Stores } from "./opened.ts";
import { newPlace, openIn, openNew } from "./use-stores.ts";

export function describeQueue(stores: Stores): void {
  const open = async (): Promise<RunEngine> => (await openNew(stores)).engine;

  describe(`the queue of an engine on ${stores.name}`, () => {
    test("lets tenants take turns: the first run of one does not wait for thousands of another", async () => {
      const engine = await open();
      const started: string[] = [];
      await enqueueMany(engine, "noisy", 5000);
      startWork(engine, {
        slots: 1,
        async advance({ runId }) {
          started.push(runId);
          if (started.length === 5) {
            await engine.enqueue("quiet-0", { tenant: "quiet" });
            await engine.enqueue("quiet-1", { tenant: "quiet" });
          }
          return ENDED;
        },
      });
      await until(() => started.length >= 9);
      expect(started.slice(4, 9).map(tenantOf)).toEqual(["noisy", "quiet", "noisy", "quiet", "noisy"]);
    });

    test("serves the tenant that was served longest ago, also one that has had nothing for a while", async () => {
      const engine = await open();
      const started: string[] = [];
      for (const tenant of ["a", "b", "c"]) await enqueueMany(engine, tenant, 4);
      await engine.enqueue("late-0", { tenant: "late", at: new Date(Date.now() + 60_000) });
      startWork(engine, {
        slots: 1,
        async advance({ runId }) {
          started.push(tenantOf(runId));
          if (started.length === 6) await engine.enqueue("d-0", { tenant: "d" });
          return ENDED;
        },
      });
      await until(() => started.length === 13);
      expect(started.join("")).toBe("abcabcdabcabc");
    });

    test("lets the highest priority go first, and the oldest of the same, only among those of one tenant", async () => {
      const engine = await open();
      const started: string[] = [];
      const wanted = { low: -1, first: 0, second: 0, high: 7, later: 9 };
      for (const [id, priority] of Object.entries(wanted)) {
        const at = id === "later" ? new Date(Date.now() + 60_000) : undefined;
        await engine.enqueue(id, { tenant: "a", priority, at });
      }
      await engine.enqueue("other", { tenant: "b", priority: -5 });
      startWork(engine, {
        slots: 1,
        advance({ runId }) {
          started.push(runId);
          return ENDED;
        },
      });
      await until(() => started.length === 5);
      expect(started).toEqual(["high", "other", "first", "second", "low"]);
    });

    test("starts no more runs of a tenant and of a user than the limits, whoever has slots", async () => {
      const place = newPlace();
      const { engine } = await openIn(stores, place);
      await engine.limit("a", { perTenant: 3, perUser: 2 });
      await engine.limit("b", { perUser: 1 });
      for (let number = 0; number < 24; number += 1) {
        await engine.enqueue(`a-${number}`, { tenant: "a", userId: number < 16 ? "x" : "y" });
      }
      for (let number = 0; number < 8; number += 1) {
        await engine.enqueue(`b-${number}`, { tenant: "b", userId: number < 5 ? "x" : undefined });
      }
      const workers = [1, 2, 3].map(() => startProcess(stores, "queue-process.ts", place, 6, 30));
      const file = join(place, "log");
      await until(() => workers.every(({ process }) => process.exitCode === null) && countEnds(file) === 32);
      const most = mostAtOnce(file, (id) => [tenantOf(id), `${tenantOf(id)} ${userOf(id)}`]);
      expect(most.get("a")).toBeLessThanOrEqual(3);
      expect(most.get("a x")).toBeLessThanOrEqual(2);
      expect(most.get("a y")).toBeLessThanOrEqual(2);
      expect(most.get("b x")).toBe(1);
    });

    test("passes over many runs of a user who is at the limit, and goes on with them when others have ended", async () => {
      const engine = await open();
      const running = new Map<string, (outcome: AdvanceOutcome) => void>();
      await engine.limit("a", { perUser: 1 });
      for (let number = 0; number < 300; number += 1) {
        await engine.enqueue(`x-${number}`, { tenant: "a", userId: "x", priority: 5 });
      }
      await engine.enqueue("y-0", { tenant: "a", userId: "y" });
      await engine.enqueue("nobody-0", { tenant: "a", priority: -1 });
      const worker = startWork(engine, {
        advance: ({ runId }) => new Promise<AdvanceOutcome>((resolve) => running.set(runId, resolve)),
      });
      await until(() => running.size === 3);
      await delay(100);
      expect([...running.keys()]).toEqual(["x-0", "y-0", "nobody-0"]);
      running.get("x-0")?.(ENDED);
      await until(() => running.has("x-1"));
      expect(worker.active).toBe(3);
      for (const end of running.values()) end({ kind: "released" });
      await worker.stop(1000);
    });

    test("counts a run that goes on after an answer, and never holds it back", async () => {
      const engine = await open();
      const leases: RunLease[] = [];
      const ends: (() => void)[] = [];
      const isSeen = (id: string): boolean => leases.some(({ runId }) => runId === id);
      const worker = startWork(engine, {
        async advance(lease) {
          const isWoken = isSeen(lease.runId);
          leases.push(lease);
          if (!lease.runId.startsWith("holds") && !isWoken) return PARKED;
          await new Promise<void>((resolve) => ends.push(resolve));
          return ENDED;
        },
      });
      for (const id of ["asks-0", "asks-1"]) await engine.enqueue(id, { tenant: "a" });
      await until(() => isSeen("asks-1") && worker.active === 0);
      await engine.limit("a", { perTenant: 1 });
      for (const id of ["asks-0", "asks-1"]) await engine.wake(id);
      await engine.enqueue("holds", { tenant: "a" });
      await until(() => leases.length === 4);
      await delay(700);
      expect(isSeen("holds")).toBe(false);
      for (const end of ends.splice(0)) end();
      await until(() => isSeen("holds"));
      for (const end of ends) end();
    });

    test("lets more go when a limit is raised or lifted", async () => {
      const engine = await open();
      const ends: (() => void)[] = [];
      await engine.limit("a", { perTenant: 1 });
      await enqueueMany(engine, "a", 4);
      const worker = startWork(engine, {
        async advance() {
          await new Promise<void>((resolve) => ends.push(resolve));
          return ENDED;
        },
      });
      for (const [limit, count] of [
        [1, 1],
        [2, 2],
        [undefined, 4],
      ] as const) {
        await engine.limit("a", { perTenant: limit });
        await until(() => worker.active === count);
        await delay(50);
        expect(worker.active).toBe(count);
      }
      for (const end of ends) end();
    });

    test("says what waits and what is worked on for each tenant, and since when", async () => {
      const engine = await open();
      expect(await engine.queues()).toEqual([]);
      const before = Date.now();
      await enqueueMany(engine, "a", 3);
      await engine.enqueue("b-0", { tenant: "b", at: new Date(Date.now() + 60_000) });
      const [first, second] = await engine.queues();
      expect(first).toEqual({ tenant: "a", queued: 3, running: 0, oldestAt: expect.any(Number) });
      expect(Math.abs(Number(first?.oldestAt) - before)).toBeLessThan(60_000);
      expect(second).toEqual({ tenant: "b", queued: 1, running: 0 });
      let end = (): void => undefined;
      const ended = new Promise<void>((resolve) => (end = resolve));
      const worker = startWork(engine, {
        slots: 2,
        async advance() {
          await ended;
          return ENDED;
        },
      });
      await until(() => worker.active === 2);
      expect((await engine.queues())[0]).toMatchObject({ tenant: "a", queued: 1, running: 2 });
      end();
      await until(async () => (await engine.queues()).length === 1);
    });

    test("forgets a run, whether it waits in the queue, is parked or is worked on", async () => {
      const engine = await open();
      const started: string[] = [];
      const lost: string[] = [];
      const worker = startWork(engine, {
        slots: 2,
        leaseMs: 1_500,
        async advance({ runId, lost: signal }) {
          started.push(runId);
          if (runId === "parked") return PARKED;
          await delay(60_000, undefined, { signal }).catch(() => lost.push(runId));
          return ENDED;
        },
      });
      await engine.enqueue("parked");
      await until(() => started.includes("parked") && worker.active === 0);
      for (const id of ["works-0", "works-1", "queued"]) await engine.enqueue(id);
      await until(() => worker.active === 2);
      for (const id of ["parked", "queued", "works-0", "unknown"]) await engine.forget(id);
      await until(() => lost.length === 1);
      expect(lost).toEqual(["works-0"]);
      await engine.wake("parked");
      expect(await engine.counts()).toEqual({ queued: 0, parked: 0, running: 1 });
      await engine.enqueue("queued");
      await until(() => started.includes("queued"));
    });

    test("lets woken runs and those that wait for their first worker take turns", async () => {
      const engine = await open();
      const order: string[] = [];
      let isOpen = false;
      const parked = Array.from({ length: 20 }, (_, number) => `woken-${number}`);
      for (const id of parked) await engine.enqueue(id);
      const worker = startWork(engine, {
        slots: 1,
        async advance({ runId }) {
          if (!isOpen && runId.startsWith("woken")) return PARKED;
          order.push(tenantOf(runId));
          if (runId !== "gate") return ENDED;
          for (const id of parked) await engine.wake(id);
          await enqueueMany(engine, "queued", 20);
          isOpen = true;
          return ENDED;
        },
      });
      await until(async () => (await engine.counts()).parked === 20);
      await engine.enqueue("gate");
      await until(() => order.length === 41);
      const pairs = order.slice(1).join(" ");
      expect([pairsOf("woken", "queued"), pairsOf("queued", "woken")]).toContain(pairs);
      expect(worker.active).toBeLessThanOrEqual(1);
    });

    test("has each of 2,000 runs advanced once by workers of two processes", async () => {
      const place = newPlace();
      const { engine } = await openIn(stores, place);
      const ids = Array.from({ length: 2000 }, (_, number) => `run-${number}`);
      await Promise.all(ids.map((id, number) => engine.enqueue(id, { tenant: `t${number % 7}` })));
      const workers = [1, 2].map(() => startProcess(stores, "queue-process.ts", place, 5, 0));
      const file = join(place, "log");
      await until(() => workers.every(({ process }) => process.exitCode === null) && countEnds(file) >= 2000);
      await until(async () => (await engine.counts()).running === 0);
      const started = readLog(file).filter(([what]) => what === "start");
      expect(started.map(([, id]) => id).toSorted()).toEqual(ids.toSorted());
      expect(await engine.counts()).toEqual({ queued: 0, parked: 0, running: 0 });
    });
  });
}

async function enqueueMany(engine: RunEngine, tenant: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, number) => `${tenant}-${number}`);
  await Promise.all(ids.map((id) => engine.enqueue(id, { tenant })));
}

function tenantOf(runId: string): string {
  return runId.split("-")[0] ?? "";
}

/** As the test with limits has given them. */
function userOf(runId: string): string {
  const number = Number(runId.split("-")[1]);
  if (tenantOf(runId) === "b") return number < 5 ? "x" : "";
  return number < 16 ? "x" : "y";
}

function pairsOf(first: string, second: string): string {
  return Array.from({ length: 20 }, () => `${first} ${second}`).join(" ");
}

function readLog(file: string): readonly (readonly [string, string])[] {
  const lines = existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
  return lines.map((line) => line.split(" ") as [string, string]);
}

function countEnds(file: string): number {
  return readLog(file).filter(([what]) => what === "end").length;
}

/** By each of the names that a run counts under. */
function mostAtOnce(file: string, namesOf: (runId: string) => readonly string[]): Map<string, number> {
  const [now, most] = [new Map<string, number>(), new Map<string, number>()];
  for (const [what, runId] of readLog(file)) {
    for (const name of namesOf(runId)) {
      const count = (now.get(name) ?? 0) + (what === "start" ? 1 : -1);
      now.set(name, count);
      most.set(name, Math.max(most.get(name) ?? 0, count));
    }
  }
  return most;
}
