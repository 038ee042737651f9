/**
 * What the engine needs beside openworkflow's `Backend`, once for each store. Runs that wait for their first worker wait
 * here, and are handed to the backend one by one when a slot is free: a backend that has thousands of them sorts them all at
 * every claim, and knows neither tenants nor priorities nor limits. Parking and waking are here, too: openworkflow's own
 * signals lose one that is sent in the moment in which a run parks. All times are those of the store's clock.
 */
import type { Backend, CreateWorkflowRunParams } from "openworkflow/internal";
import type { EngineCounts, EngineLimits, EnqueueOptions, TenantQueue } from "../run-engine.ts";

/** What is used of openworkflow. */
export type EngineBackend = Pick<
  Backend,
  "claimWorkflowRun" | "completeWorkflowRun" | "extendWorkflowRunLease" | "getWorkflowRun"
>;

/** Where a run comes from that can be claimed: it waits for its first worker, or it was woken, came due or lost its worker. */
export type RunSource = "queued" | "woken";

/** A run that somebody has claimed. */
export interface ClaimedRun {
  readonly workflowRunId: string;
  readonly holder: string;
}

export interface EngineQueue {
  /** Changes nothing for a run that is here, or that the backend has already. */
  add(runId: string, options: EnqueueOptions): Promise<void>;
  limit(tenant: string, limits: EngineLimits): Promise<void>;
  queues(): Promise<readonly TenantQueue[]>;
  /** What is here of this run, and what the backend has of it. */
  forget(runId: string): Promise<void>;
  /**
   * Sees to it that the backend has a run that may be claimed, and says where that one comes from; `undefined`: nothing is
   * due; `busy`: something is, and others are about to take it. Of both, `first` is tried first. A queued one is of the tenant that was served longest ago among those within their
   * limits; of its runs the one with the highest priority that has been due longest, of a user within the limit. Its
   * id is the workflow's name, and is never there twice: the store sees to that, also when a worker is killed in the
   * middle, or another one does the same.
   */
  offer(first: RunSource): Promise<RunSource | "busy" | undefined>;
  /** Due at once; when it is worked on, as soon as it parks. */
  wake(runId: string): Promise<void>;
  /** Until then, or until it is woken. `false`: its claim is over, and nothing is changed. */
  park(claim: ClaimedRun, until: Date | undefined): Promise<boolean>;
  counts(): Promise<EngineCounts>;
  /** Removes what the backend still has of runs that ended before this time. */
  purge(before: Date): Promise<number>;
}

/** Whose run it is when nobody says. */
export const FALLBACK_TENANT = "default";

/** Later than any lease; as text it still sorts after all other times. */
export const FAR_FUTURE = new Date("9999-12-31T00:00:00.000Z");

/** A run as the backend is told of it. */
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
