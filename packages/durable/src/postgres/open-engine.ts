/** The engine on openworkflow's Postgres backend, for any number of processes on any number of machines. */
import { BackendPostgres } from "openworkflow/postgres";
import { createEngine, type EngineTicks } from "../engine/create-engine.ts";
import type { RunEngine } from "../run-engine.ts";
import { NAMESPACE } from "./engine-functions.ts";
import { openEngineQueue } from "./engine-queue.ts";
import { openLivePool } from "./live-pool.ts";
import { openPool } from "./open-pool.ts";

interface EnginePlace {
  /**
   * For the role that services use, directly to Postgres. Its schema is up to date (`openPostgresStore` takes care of
   * that).
   */
  readonly url: string;
  /** Tells workers in other processes about new work; without it they find it when they poll. */
  readonly ticks?: EngineTicks | undefined;
  /** The most connections it opens. Default: 4. */
  readonly poolSize?: number | undefined;
}

const POOL_SIZE = 4;
/**
 * Notices announce new work; polling is for timers and the runs of dead workers. Randomized, so that workers don't poll
 * all at once.
 */
const POLL_MS = 400;
const POLL_SPREAD_MS = 200;
/** Longer than any engine statement takes, even on a busy server. */
const SILENCE_MS = 10_000;

/**
 * Connections that work for all tenants must say so. Nothing lost here stays lost (`engine-functions.ts`). Every query
 * has an index, but a plan made while a queue was empty reads all of it, and is kept when the queue has grown.
 */
const SETTINGS = { "metier.tenant": "*", synchronous_commit: "off", enable_seqscan: "off" };

/** After this many claims there are rows to learn from (`engine_learn`). */
const LEARN_AFTER = 50;

/** Connects on the first call. */
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
  let claims = 0;
  const claimWorkflowRun: BackendPostgres["claimWorkflowRun"] = async (params) => {
    const claimed = await ask((backend) => backend.claimWorkflowRun(params));
    if (claimed && ++claims === LEARN_AFTER) {
      // Nobody waits for it. If it fails, Postgres learns the same within a minute.
      pool.ask((sql) => sql`SELECT metier.engine_learn()`).catch(() => undefined);
    }
    return claimed;
  };
  return createEngine({
    backend: {
      claimWorkflowRun,
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
