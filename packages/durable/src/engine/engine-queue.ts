/**
 * What the engine needs beside openworkflow's `Backend`, once for each store. Runs that wait for their first worker wait
 * here, and are handed to the backend one by one when a slot is free and nothing else is due: a backend that has thousands of
 * them sorts them all at every claim, and lets each of them go before a run that was woken or whose worker died.
 */
export interface EngineQueue {
  /** Changes nothing for a run that is here, or that the backend has already. */
  add(runId: string, dueAt: number): Promise<void>;
  /** The one that has been due longest; it stays until it is removed. */
  next(now: number): Promise<string | undefined>;
  remove(runId: string): Promise<void>;
  /** Whether the backend has it. One run is never there twice: the store sees to that. */
  isReleased(runId: string): Promise<boolean>;
  counts(
    now: number,
  ): Promise<{ readonly queued: number; readonly parked: number; readonly running: number }>;
  /** Removes what the backend still has of runs that ended before this time. */
  purge(before: number): Promise<number>;
  close(): Promise<void>;
}
