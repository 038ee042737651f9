/**
 * The engine: who advances a run now, when it wakes, who takes over. It knows nothing of what a run is; it calls `advance`
 * under a lease that is renewed every third of its time. One contract suite (`test/contract`) holds every engine to this page.
 */

/** What `advance` holds while it works. */
export interface RunLease {
  /** The run that may be advanced. */
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

/** How an engine advances runs. */
export interface WorkOptions {
  /** How many runs are advanced at the same time. */
  readonly slots: number;
  /** How long a lease lasts without being renewed, in milliseconds. */
  readonly leaseMs: number;
  /** Never rejects for what happens in a run; one that does is tried again after a while. */
  advance(lease: RunLease): Promise<AdvanceOutcome>;
  /** Faults of the store beside any run. */
  onFault(fault: unknown): void;
}

/** Advances runs in this process until it is stopped. */
export interface EngineWorker {
  /** How many runs it advances now. */
  readonly active: number;
  /** Takes no more runs, tells those under way (`stopping`), and waits for them; after `graceMs` their leases are dropped. */
  stop(graceMs: number): Promise<void>;
}

/** How many runs an engine has. */
export interface EngineCounts {
  /** They wait for a worker. */
  readonly queued: number;
  /** They wait to be woken. */
  readonly parked: number;
  /** A worker advances them. */
  readonly running: number;
}

/** Who advances a durable run, and when. */
export interface RunEngine {
  /** The run waits for a worker, from `at` or from now on. The same id again changes nothing. */
  enqueue(runId: string, at?: Date): Promise<void>;
  /** A parked run goes on. One that is worked on is advanced once more when it parks; any other stays as it is. */
  wake(runId: string): Promise<void>;
  /** Takes runs that are due and advances them until it is stopped. */
  work(options: WorkOptions): EngineWorker;
  /** Forgets runs that ended before this time; their ids are free again. Gives how many. */
  purge(before: Date): Promise<number>;
  /** How many wait for a worker, are parked, and are worked on. */
  counts(): Promise<EngineCounts>;
  /** Its workers have to be stopped before. */
  close(): Promise<void>;
}
