/**
 * The engine: who advances a run now, when it wakes, who takes over. It knows nothing about what a run is; it calls
 * `advance` under a lease that is renewed every third of its time. One contract suite (`test/contract`) tests every
 * engine against this port.
 */

/** What `advance` holds while it works. */
export interface RunLease {
  /** The run to advance. */
  readonly runId: string;
  /** New for each lease: the journal uses it to decide who may write. */
  readonly holder: string;
  /** Counts this run's leases: a lower number is older. */
  readonly term: number;
  /** Aborted when the lease is lost: everything the run started must be ended immediately. */
  readonly lost: AbortSignal;
  /** Aborted when the worker is stopping: the run goes back at its next step. */
  readonly stopping: AbortSignal;
}

/**
 * `ended`: nothing is left to do. `parked`: it waits until it is woken, or until `until`. `released`: another worker
 * should continue immediately.
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
  /** Never rejects for what happens in a run; if it does, the run is retried after a while. */
  advance(lease: RunLease): Promise<AdvanceOutcome>;
  /** Receives store errors that concern no run. */
  onFault(fault: unknown): void;
}

/** Advances runs in this process until it is stopped. */
export interface EngineWorker {
  /** How many runs it is advancing now. */
  readonly active: number;
  /**
   * Takes no more runs, tells those in progress (`stopping`), and waits for them; after `graceMs`, their leases are
   * dropped.
   */
  stop(graceMs: number): Promise<void>;
}

/** How many runs an engine has. */
export interface EngineCounts {
  /** Waiting for a worker. */
  readonly queued: number;
  /** Waiting to be woken. */
  readonly parked: number;
  /** Advanced by a worker. */
  readonly running: number;
}

/** A run's tenant and user, and when it may start. */
export interface EnqueueOptions {
  /** Tenants take turns. Default: `default`. */
  readonly tenant?: string | undefined;
  /** For this user's limit. */
  readonly userId?: string | undefined;
  /** Higher ones go first within a tenant. Default: 0. */
  readonly priority?: number | undefined;
  /** Default: now. */
  readonly at?: Date | undefined;
}

/**
 * How many runs may be in progress at the same time. A run that continues after an answer counts, but is never held
 * back.
 */
export interface EngineLimits {
  /** For the tenant; absent: as many as there are slots. */
  readonly perTenant?: number | undefined;
  /** For each of its users. */
  readonly perUser?: number | undefined;
}

/** A tenant's waiting and running runs. */
export interface TenantQueue {
  /** Whose. */
  readonly tenant: string;
  /** Waiting for a worker. */
  readonly queued: number;
  /** Advanced by a worker. */
  readonly running: number;
  /** Since when the oldest has been due, in milliseconds since 1970; absent: none is waiting. */
  readonly oldestAt?: number | undefined;
}

/** Who advances a durable run, and when. */
export interface RunEngine {
  /** Queues the run for a worker. The same id again changes nothing. */
  enqueue(runId: string, options?: EnqueueOptions): Promise<void>;
  /** For all workers, from now on. */
  limit(tenant: string, limits: EngineLimits): Promise<void>;
  /** Tenants with queued or running runs. */
  queues(): Promise<readonly TenantQueue[]>;
  /** Forgets this run, whatever it waits for; nobody may be working on it. */
  forget(runId: string): Promise<void>;
  /** Continues a parked run. A run in progress is advanced once more when it parks; any other stays unchanged. */
  wake(runId: string): Promise<void>;
  /** Takes due runs and advances them until it is stopped. */
  work(options: WorkOptions): EngineWorker;
  /** Forgets runs that ended before this time; their ids are free again. Returns how many. */
  purge(before: Date): Promise<number>;
  /** How many are waiting for a worker, parked, and in progress. */
  counts(): Promise<EngineCounts>;
  /** Stop its workers first. */
  close(): Promise<void>;
}
