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

/** Whose run it is, and when it may start. */
export interface EnqueueOptions {
  /** Tenants take turns. Default: `default`. */
  readonly tenant?: string | undefined;
  /** For the limit of this user. */
  readonly userId?: string | undefined;
  /** Higher ones go first among those of one tenant. Default: 0. */
  readonly priority?: number | undefined;
  /** Default: now. */
  readonly at?: Date | undefined;
}

/** How many runs may be worked on at the same time. A run that goes on after an answer counts, and is never held back. */
export interface EngineLimits {
  /** Of the tenant; absent: as many as there are slots. */
  readonly perTenant?: number | undefined;
  /** Of each of its users. */
  readonly perUser?: number | undefined;
}

/** What waits, and what is worked on, for one tenant. */
export interface TenantQueue {
  /** Whose. */
  readonly tenant: string;
  /** They wait for a worker. */
  readonly queued: number;
  /** A worker advances them. */
  readonly running: number;
  /** Since when the oldest has been due, in milliseconds since 1970; absent: none waits. */
  readonly oldestAt?: number | undefined;
}

/** Who advances a durable run, and when. */
export interface RunEngine {
  /** The run waits for a worker. The same id again changes nothing. */
  enqueue(runId: string, options?: EnqueueOptions): Promise<void>;
  /** For all workers, from now on. */
  limit(tenant: string, limits: EngineLimits): Promise<void>;
  /** Tenants that have something queued or worked on. */
  queues(): Promise<readonly TenantQueue[]>;
  /** Forgets this run, whatever it waits for; nobody works on it. */
  forget(runId: string): Promise<void>;
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
