/**
 * The engine on openworkflow's `Backend`, whichever store is behind it. Of openworkflow it uses claims, leases, timers and
 * signals; its own worker is not used (one constant lease, output to the console, a stop that waits for whole runs).
 */
import type { Backend } from "openworkflow/internal";
import type { RunEngine } from "../run-engine.ts";
import type { EngineQueue } from "./engine-queue.ts";
import { wakeSignal } from "./wake-up.ts";
import { startWorker, type TickedWorker } from "./worker.ts";

export interface EngineParts {
  readonly backend: Backend;
  readonly queue: EngineQueue;
}

export function createEngine({ backend, queue }: EngineParts): RunEngine {
  const workers = new Set<TickedWorker>();
  const tick = (): void => {
    for (const worker of workers) worker.tick();
  };
  return {
    async enqueue(runId, at) {
      await queue.add(runId, at?.getTime() ?? Date.now());
      tick();
    },
    async wake(runId) {
      await backend.sendSignal({ signal: wakeSignal(runId), data: null, idempotencyKey: null });
      tick();
    },
    work(options) {
      const worker = startWorker({ backend, queue }, options);
      workers.add(worker);
      return {
        get active() {
          return worker.active;
        },
        async stop(graceMs) {
          workers.delete(worker);
          await worker.stop(graceMs);
        },
      };
    },
    purge: (before) => queue.purge(before.getTime()),
    counts: () => queue.counts(Date.now()),
    async close() {
      await Promise.all([...workers].map((worker) => worker.stop(0)));
      await backend.stop();
      await queue.close();
    },
  };
}
