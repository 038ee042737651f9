/**
 * The engine on openworkflow's `Backend`, with any store behind it. It uses openworkflow's claims and leases, but not
 * its worker (one constant lease, output to the console, a stop that waits for whole runs).
 */
import type { RunEngine } from "../run-engine.ts";
import type { EngineBackend, EngineQueue } from "./engine-queue.ts";
import { startEngineWorker, type TickedWorker } from "./worker.ts";

/** Tells other processes on the same store that there may be something to do. */
export interface EngineTicks {
  /** To all others. Never waits and never fails. */
  tell(): void;
  /** Returns a function that ends it. */
  onTick(listener: () => void): () => void;
}

export interface EngineParts {
  readonly backend: EngineBackend;
  readonly queue: EngineQueue;
  /** The longest time until a timer, a dead worker's lease or an unannounced wake-up is noticed. */
  readonly pollMs: number;
  /** Absent: no other process uses the store. */
  readonly ticks?: EngineTicks | undefined;
  close(): Promise<void>;
}

export function createEngine(parts: EngineParts): RunEngine {
  const { queue, ticks } = parts;
  const workers = new Set<TickedWorker>();
  const tickOwn = (): void => {
    for (const worker of workers) worker.tick();
  };
  const tick = (): void => {
    tickOwn();
    ticks?.tell();
  };
  let endTicks: (() => void) | undefined;
  return {
    async enqueue(runId, options = {}) {
      await queue.add(runId, options);
      tick();
    },
    async limit(tenant, limits) {
      await queue.limit(tenant, limits);
      tick(); // Some may start now that had to wait.
    },
    queues: () => queue.queues(),
    forget: (runId) => queue.forget(runId),
    async wake(runId) {
      await queue.wake(runId);
      tick();
    },
    work(options) {
      endTicks ??= ticks?.onTick(tickOwn);
      const worker = startEngineWorker(parts, options);
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
    purge: (before) => queue.purge(before),
    counts: () => queue.counts(),
    async close() {
      endTicks?.();
      await Promise.all([...workers].map((worker) => worker.stop(0)));
      await parts.close();
    },
  };
}
