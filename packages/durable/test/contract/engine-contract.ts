/** What every engine does: each run is advanced by one worker at a time, and none is forgotten. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { RunEngine, RunLease } from "../../src/index.ts";
import { ENDED, PARKED, startProcess, startWork, until } from "./engine-work.ts";
import type { Opened, Stores } from "./opened.ts";
import { newPlace, openIn, openNew } from "./use-stores.ts";

export function describeEngine(stores: Stores): void {
  const open = async (): Promise<RunEngine> => (await openNew(stores)).engine;

  describe(`an engine on ${stores.name}`, () => {
    test("advances every run exactly once, however many wait for few slots", async () => {
      const engine = await open();
      const ids = Array.from({ length: 1000 }, (_, number) => `run-${number}`);
      const advanced: string[] = [];
      let most = 0;
      for (const id of ids.slice(0, 500)) await engine.enqueue(id);
      const worker = startWork(engine, {
        async advance({ runId }) {
          advanced.push(runId);
          most = Math.max(most, worker.active);
          if (advanced.length <= 4) await until(() => most === 4);
          await delay(1);
          return ENDED;
        },
      });
      for (const id of ids.slice(500)) await engine.enqueue(id);
      for (const id of ids) await engine.enqueue(id);
      await until(() => advanced.length >= ids.length && worker.active === 0);
      await delay(300);
      expect(advanced.toSorted()).toEqual(ids.toSorted());
      expect(most).toBe(4);
      expect(await engine.counts()).toEqual({ queued: 0, parked: 0, running: 0 });
    });

    test("starts runs in the order in which they came, and later ones when their time has come", async () => {
      const engine = await open();
      const started: string[] = [];
      await engine.enqueue("later", { at: new Date(Date.now() + 2000) });
      for (const id of ["a", "b", "c"]) await engine.enqueue(id);
      expect(await engine.counts()).toEqual({ queued: 4, parked: 0, running: 0 });
      startWork(engine, {
        slots: 1,
        advance({ runId }) {
          started.push(runId);
          return ENDED;
        },
      });
      await until(() => started.length === 4);
      expect(started).toEqual(["a", "b", "c", "later"]);
    });

    test("advances a parked run again when it is woken, with a new holder and a higher term", async () => {
      const engine = await open();
      const leases: RunLease[] = [];
      const worker = startWork(engine, {
        advance(lease) {
          leases.push(lease);
          return leases.length < 3 ? PARKED : ENDED;
        },
      });
      await engine.enqueue("r");
      for (const count of [1, 2]) {
        await until(() => leases.length === count && worker.active === 0);
        expect(await engine.counts()).toEqual({ queued: 0, parked: 1, running: 0 });
        await engine.wake("r");
      }
      await until(() => leases.length === 3 && worker.active === 0);
      expect(new Set(leases.map(({ holder }) => holder)).size).toBe(3);
      const terms = leases.map(({ term }) => term);
      expect(terms).toEqual(terms.toSorted((a, b) => a - b));
      expect(new Set(terms).size).toBe(3);
    });

    test("loses no wake-up that comes before the run is claimed, while it is worked on, or as it parks", async () => {
      const engine = await open();
      const ids = Array.from({ length: 60 }, (_, number) => `run-${number}`);
      const answers = new Set<string>();
      const ended: string[] = [];
      const answer = async (id: string): Promise<void> => {
        answers.add(id);
        await engine.wake(id);
      };
      for (const id of ids) await engine.enqueue(id);
      for (const id of ids.slice(0, 10)) await answer(id);
      startWork(engine, {
        slots: 8,
        async advance({ runId }) {
          const isAnswered = answers.has(runId); // What the run knows is what it read at its start.
          if (isAnswered) ended.push(runId);
          else if (!ended.includes(runId)) {
            const moment = Number(runId.slice(4)) % 5;
            if (moment === 0) await answer(runId);
            else setTimeout(() => void answer(runId), moment * 2);
            await delay(moment);
          }
          return isAnswered ? ENDED : PARKED;
        },
      });
      await until(() => ended.length >= ids.length);
      expect(ended.toSorted()).toEqual(ids.toSorted());
    });

    test("lets a woken run go before all that wait for their first worker", async () => {
      const engine = await open();
      const order: string[] = [];
      let isWoken = false;
      const worker = startWork(engine, {
        slots: 1,
        async advance({ runId }) {
          order.push(runId);
          if (runId === "woken" && !isWoken) return PARKED;
          if (runId === "run-3") {
            isWoken = true;
            await engine.wake("woken");
          }
          return ENDED;
        },
      });
      await engine.enqueue("woken");
      await until(() => order.length === 1 && worker.active === 0);
      for (let number = 0; number < 50; number += 1) await engine.enqueue(`run-${number}`);
      await until(() => order.length === 52);
      expect(order.indexOf("woken", 1)).toBe(order.indexOf("run-3") + 1);
    });

    test("wakes a parked run by itself when its time has come", async () => {
      const engine = await open();
      let count = 0;
      startWork(engine, {
        advance() {
          count += 1;
          return count === 1 ? { kind: "parked", until: new Date(Date.now() + 50) } : ENDED;
        },
      });
      await engine.enqueue("r");
      await until(() => count === 2);
    });

    test("leaves an ended run ended, whoever wakes or enqueues it", async () => {
      const engine = await open();
      let count = 0;
      startWork(engine, {
        advance() {
          count += 1;
          return ENDED;
        },
      });
      await engine.enqueue("r");
      await until(() => count === 1);
      await engine.wake("r");
      await engine.wake("unknown");
      await engine.enqueue("r");
      await delay(400);
      expect(count).toBe(1);
      expect(await engine.purge(new Date(Date.now() + 1000))).toBe(1);
      expect(await engine.purge(new Date(Date.now() + 1000))).toBe(0);
    });

    test("tries a run again whose advance failed, and tells of the fault", async () => {
      const engine = await open();
      const faults: unknown[] = [];
      let count = 0;
      startWork(engine, {
        onFault: (fault) => faults.push(fault),
        async advance() {
          count += 1;
          if (count === 1) throw new Error("broken");
          return ENDED;
        },
      });
      await engine.enqueue("r");
      await until(() => count === 2);
      expect(faults.map(String)).toEqual(["Error: broken"]);
    });

    test("renews a lease for as long as a run takes", async () => {
      const engine = await open();
      let count = 0;
      let isLost = false;
      startWork(engine, {
        // On a busy machine, a process may not get a processor for longer than a short one.
        leaseMs: 1_200,
        async advance({ lost }) {
          count += 1;
          await delay(3_000);
          isLost = lost.aborted;
          return ENDED;
        },
      });
      await engine.enqueue("r");
      await until(() => count > 0);
      await delay(3_300);
      expect({ count, isLost }).toEqual({ count: 1, isLost: false });
    });

    test("gives runs back when it stops: those that heed it at once, the others when their grace is over", async () => {
      const engine = await open();
      const lost: string[] = [];
      const worker = startWork(engine, {
        slots: 2,
        async advance({ runId, stopping, lost: signal }) {
          signal.addEventListener("abort", () => lost.push(runId));
          const end = runId === "heeds" ? stopping : signal;
          await delay(60_000, undefined, { signal: end }).catch(() => undefined);
          return { kind: "released" };
        },
      });
      for (const id of ["heeds", "does not", "waits"]) await engine.enqueue(id);
      await until(() => worker.active === 2);
      await worker.stop(100);
      expect(lost).toEqual(["does not"]);
      expect(await engine.counts()).toEqual({ queued: 3, parked: 0, running: 0 });
      const again: string[] = [];
      startWork(engine, {
        advance({ runId }) {
          again.push(runId);
          return ENDED;
        },
      });
      await until(() => again.length === 3);
      expect(again.toSorted()).toEqual(["does not", "heeds", "waits"]);
    });

    test("hands the runs of a killed worker to another one", async () => {
      const place = newPlace();
      const opened = await openIn(stores, place);
      await startRun(opened, "r");
      const worker = startProcess(stores, "engine-process.ts", place, 600);
      await worker.heard("started");
      worker.process.kill("SIGKILL");
      await once(worker.process, "exit");
      const leases: RunLease[] = [];
      startWork(opened.engine, {
        advance(lease) {
          leases.push(lease);
          return ENDED;
        },
      });
      await until(() => leases.length > 0);
      expect(leases).toMatchObject([{ runId: "r", term: 2 }]);
    });

    test("lets a paused worker that lost its lease write nothing more, and tells it", async () => {
      const place = newPlace();
      const opened = await openIn(stores, place);
      const { journal, engine } = opened;
      await startRun(opened, "r");
      const worker = startProcess(stores, "engine-process.ts", place, 600);
      await worker.heard("started");
      await delay(100);
      await stopBetweenWrites(worker.process, () => engine.limit("acme", {}));
      let isTaken = false;
      startWork(engine, {
        async advance({ runId, holder, term, stopping }) {
          await journal.take({ rootId: runId, holder, term });
          isTaken = true;
          await delay(60_000, undefined, { signal: stopping }).catch(() => undefined);
          return ENDED;
        },
      });
      await until(() => isTaken);
      const before = await journal.entries("r");
      worker.process.kill("SIGCONT");
      await worker.heard("lost");
      await worker.heard("LeaseLostError");
      expect(await journal.entries("r")).toEqual(before);
      expect(before.length).toBeGreaterThan(0);
    });
  });
}

/** Stopped within a write, a process keeps its lock of the file, and nobody else gets on: then it is stopped later. */
async function stopBetweenWrites(process: ChildProcess, write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    process.kill("SIGSTOP");
    try {
      await write();
      return;
    } catch {
      process.kill("SIGCONT");
      await delay(20);
    }
  }
}

async function startRun({ journal, engine }: Opened, id: string): Promise<void> {
  await journal.create({ id, tenant: "acme", order: {} });
  await engine.enqueue(id);
}
