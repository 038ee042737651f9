/**
 * The engine: who advances a run now, when it wakes, who takes over. It knows nothing of what a run is; it calls `advance`
 * under a lease that is renewed every third of its time. One contract suite (`test/contract`) holds every engine to this page.
 */

/** What `advance` holds while it works. */
export interface RunLease {
  readonly runId: string;
  /** New with each lease: the journal tells by it who may write. */
  readonly holder: string;
  /** Counts the leases of this run: whoever has a lower number came before. */
  readonly term: number;
  /** Aborted when the lease is lost: whatever the run has started must be ended at once. */
  readonly lost: AbortSignal;
  /** Aborted when the worker is to stop: the run is given back at its next step. */
  readonly stopping: AbortSignal;
}

/**
 * `ended`: nothing is left to do. `parked`: it waits until it is woken, or until `until`. `released`: another worker is to go
 * on with it at once.
 */
export type AdvanceOutcome =
  | { readonly kind: "ended" }
  | { readonly kind: "parked"; readonly until?: Date | undefined }
  | { readonly kind: "released" };

export interface WorkOptions {
  /** How many runs are advanced at the same time. */
  readonly slots: number;
  readonly leaseMs: number;
  /** Never rejects for what happens in a run; one that does is tried again after a while. */
  advance(lease: RunLease): Promise<AdvanceOutcome>;
  /** Faults of the store beside any run. */
  onFault(fault: unknown): void;
}

export interface EngineWorker {
  /** How many runs it advances now. */
  readonly active: number;
  /** Takes no more runs, tells those under way (`stopping`), and waits for them; after `graceMs` their leases are dropped. */
  stop(graceMs: number): Promise<void>;
}

export interface RunEngine {
  /** The run waits for a worker, from `at` or from now on. The same id again changes nothing. */
  enqueue(runId: string, at?: Date): Promise<void>;
  /** A parked run goes on. One that is worked on is advanced once more when it parks; any other stays as it is. */
  wake(runId: string): Promise<void>;
  work(options: WorkOptions): EngineWorker;
  /** Forgets runs that ended before this time; their ids are free again. Gives how many. */
  purge(before: Date): Promise<number>;
  /** How many wait for a worker, are parked, and are worked on. */
  counts(): Promise<{ readonly queued: number; readonly parked: number; readonly running: number }>;
  close(): Promise<void>;
}
