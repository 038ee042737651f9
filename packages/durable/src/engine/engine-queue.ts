/**
 * What the engine needs beside openworkflow's `Backend`, once for each store. Runs that wait for their first worker wait
 * here, and are handed to the backend one by one when a slot is free and nothing else is due: a backend that has thousands of
 * them sorts them all at every claim, and lets each of them go before a run that was woken or whose worker died.
 */
import type { CreateWorkflowRunParams } from "openworkflow/internal";

export interface EngineQueue {
  /** Changes nothing for a run that is here, or that the backend has already. */
  add(runId: string, dueAt: number): Promise<void>;
  /** Whether the backend has one that may be claimed: asking it to claim costs more. */
  hasDue(now: number): Promise<boolean>;
  /**
   * Hands the one that has been due longest to the backend, if there is one. Its id is the workflow's name, and is never there
   * twice: the store sees to that, also when a worker is killed in the middle, or another one does the same.
   */
  release(now: number): Promise<boolean>;
  counts(
    now: number,
  ): Promise<{ readonly queued: number; readonly parked: number; readonly running: number }>;
  /** Removes what the backend still has of runs that ended before this time. */
  purge(before: number): Promise<number>;
  close(): Promise<void>;
}

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
