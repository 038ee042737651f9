/**
 * This process's worker: advances runs, reports to the registry that it is alive, and drains on an operator's request.
 */
import { hostname } from "node:os";
import type { EngineWorker, RunEngine, WorkOptions } from "@metier/durable";
import type { ServiceContext } from "../service-context.ts";
import { keepBeating } from "./worker-registry.ts";

interface WorkerParts extends Pick<WorkOptions, "advance" | "slots" | "leaseMs"> {
  readonly engine: RunEngine;
  /** When draining: how long runs in progress may take to reach their next step. */
  readonly drainMs: number;
}

interface StartedWorker {
  /** An operator has drained it, and it no longer advances any run. */
  readonly drained: Promise<void>;
  stop(graceMs: number): Promise<void>;
}

export async function startOwnWorker(
  { engine, drainMs, ...work }: WorkerParts,
  { workers, version, log }: Pick<ServiceContext, "workers" | "version" | "log">,
): Promise<StartedWorker> {
  const onFault = (fault: unknown): void => log.fault("worker", fault);
  const host = hostname();
  const announced = await workers.announce({
    id: `${host}-${process.pid}-${Date.now().toString(36)}`,
    host,
    version,
    slots: work.slots,
  });
  const worker: EngineWorker = engine.work({ ...work, onFault: (fault) => log.fault("engine", fault) });
  const drained = Promise.withResolvers<void>();
  const drain = async (): Promise<void> => {
    log.write("info", "draining");
    await worker.stop(drainMs);
    log.write("info", "drained");
    drained.resolve();
  };
  const beating = keepBeating(announced, {
    active: () => worker.active,
    onDrain: () => void drain().catch(onFault),
    onFault,
  });
  return {
    drained: drained.promise,
    async stop(graceMs) {
      await worker.stop(graceMs);
      await beating.stop().catch(onFault); // If this fails, the record turns silent and is forgotten after a day.
    },
  };
}
