/** The engine on openworkflow's Postgres backend, for any number of processes on any number of machines. */
import { BackendPostgres } from "openworkflow/postgres";
import { createEngine, type EngineTicks } from "../engine/create-engine.ts";
import type { RunEngine } from "../run-engine.ts";
import { NAMESPACE } from "./engine-functions.ts";
import { openEngineQueue } from "./engine-queue.ts";
import { openLivePool } from "./live-pool.ts";
import { openPool } from "./open-pool.ts";

interface EnginePlace {
  /** Of the role that services use, directly to Postgres. Its schema is up to date (`openPostgresStore` sees to that). */
  readonly url: string;
  /** How workers of other processes hear of something to do; without it they find it when they poll. */
  readonly ticks?: EngineTicks | undefined;
  /** Connections at most. Default: 4. */
  readonly poolSize?: number | undefined;
}

const POOL_SIZE = 4;
/** Workers are told of what is new; this is for timers and for runs of dead workers. Not all at the same time. */
const POLL_MS = 400;
const POLL_SPREAD_MS = 200;
/** Longer than anything that the engine asks for takes, also on a busy server. */
const SILENCE_MS = 10_000;

/**
 * Whoever works for all tenants says so; nothing here is lost that is not found again (`engine-functions.ts`). Everything has
 * its index, but a plan that was made when a queue was empty reads all of it, and is kept when the queue has grown.
 */
const SETTINGS = { "metier.tenant": "*", synchronous_commit: "off", enable_seqscan: "off" };

/** Connects with the first call. */
export function openPostgresEngine({ url, ticks, poolSize = POOL_SIZE }: EnginePlace): RunEngine {
  const pool = openLivePool(
    () =>
      openPool(url, {
        most: poolSize,
        hasCamelColumns: true,
        settings: SETTINGS,
      }),
    SILENCE_MS,
  );
  const ask = <Value>(call: (backend: BackendPostgres) => Promise<Value>): Promise<Value> =>
    pool.ask((sql) => call(BackendPostgres.fromPool(sql, { namespaceId: NAMESPACE })));
  return createEngine({
    backend: {
      claimWorkflowRun: (params) => ask((backend) => backend.claimWorkflowRun(params)),
      completeWorkflowRun: (params) => ask((backend) => backend.completeWorkflowRun(params)),
      extendWorkflowRunLease: (params) => ask((backend) => backend.extendWorkflowRunLease(params)),
      getWorkflowRun: (params) => ask((backend) => backend.getWorkflowRun(params)),
    },
    queue: openEngineQueue(pool),
    pollMs: POLL_MS + Math.random() * POLL_SPREAD_MS,
    ticks,
    close: pool.close,
  });
}
