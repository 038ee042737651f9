/**
 * What the engine needs besides openworkflow's `Backend`, once per store. Runs waiting for their first worker wait
 * here, and are passed to the backend one at a time when a slot is free: a backend with thousands of them sorts them
 * all at every claim, and knows no tenants, priorities or limits. Parking and waking are here too: openworkflow's own
 * signals lose one that is sent at the moment a run parks. All times use the store's clock.
 */
import type { Backend, CreateWorkflowRunParams } from "openworkflow/internal";
import type { EngineCounts, EngineLimits, EnqueueOptions, TenantQueue } from "../run-engine.ts";

/** The part of openworkflow that is used. */
export type EngineBackend = Pick<
  Backend,
  "claimWorkflowRun" | "completeWorkflowRun" | "extendWorkflowRunLease" | "getWorkflowRun"
>;

/** Where a claimable run comes from: it waits for its first worker, or it was woken, came due or lost its worker. */
export type RunSource = "queued" | "woken";

/** A run that somebody has claimed. */
export interface ClaimedRun {
  readonly workflowRunId: string;
  readonly holder: string;
}

export interface EngineQueue {
  /** Changes nothing for a run that is already here or in the backend. */
  add(runId: string, options: EnqueueOptions): Promise<void>;
  limit(tenant: string, limits: EngineLimits): Promise<void>;
  queues(): Promise<readonly TenantQueue[]>;
  /** What is stored for this run, here and in the backend. */
  forget(runId: string): Promise<void>;
  /**
   * Ensures that the backend has a claimable run, and says where it comes from; `undefined`: nothing is due; `busy`:
   * something is, but others are about to take it. `first` is tried first. A queued run is from the tenant that was
   * served longest ago among those within their limits; of its runs, the one with the highest priority that has been
   * due longest, for a user within the limit. Its id is the workflow's name and is unique: the store ensures that even
   * if a worker is killed halfway, or another does the same.
   */
  offer(first: RunSource): Promise<RunSource | "busy" | undefined>;
  /** Due immediately; if a worker has it, as soon as it parks. */
  wake(runId: string): Promise<void>;
  /** Until then, or until it is woken. `false`: its claim is over, and nothing changes. */
  park(claim: ClaimedRun, until: Date | undefined): Promise<boolean>;
  counts(): Promise<EngineCounts>;
  /** Removes what the backend still has of runs that ended before this time. */
  purge(before: Date): Promise<number>;
}

/** The tenant if none is given. */
export const FALLBACK_TENANT = "default";

/** Later than any lease; as text it still sorts after all other times. */
export const FAR_FUTURE = new Date("9999-12-31T00:00:00.000Z");

/** A run as passed to the backend. */
export function newWorkflowRun(runId: string): CreateWorkflowRunParams {
  return {
    workflowName: runId,
    version: null,
    idempotencyKey: null,
    config: {},
    context: null,
    input: null,
    parentStepAttemptNamespaceId: null,
    parentStepAttemptId: null,
    availableAt: null,
    deadlineAt: null,
  };
}
