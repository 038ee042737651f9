/** The worker of this process: advances runs, tells the registry that it lives, and drains when an operator wants it. */
import { hostname } from "node:os";
import type { EngineWorker, RunEngine, WorkOptions } from "@metier/durable";
import type { ServiceContext } from "../service-context.ts";
import { keepBeating } from "./worker-registry.ts";

interface WorkerParts extends Pick<WorkOptions, "advance" | "slots" | "leaseMs"> {
  readonly engine: RunEngine;
  /** How long runs that are under way may take to come to their next step when it drains. */
  readonly drainMs: number;
}

interface StartedWorker {
  /** An operator has let it drain, and no run is advanced here any more. */
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
      await beating.stop().catch(onFault); // What could not be told is silent, and forgotten after a day.
    },
  };
}
