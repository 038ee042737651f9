/**
 * A held lease: renewed every third of its time, and lost as soon as the store says so or its time is over. The time is
 * measured by this process's own monotonic clock, from when the last successful renewal was sent: the store counts from
 * later on. An unreachable store is asked again until then.
 */
import type { ClaimedRun, EngineBackend } from "./engine-queue.ts";

interface LeaseToHold {
  readonly backend: EngineBackend;
  readonly claim: ClaimedRun;
  readonly leaseMs: number;
  /** When the claim was sent, by `performance.now()`. */
  readonly sentAt: number;
}

export interface HeldLease {
  /** Aborted when it is lost; the reason says why. */
  readonly lost: AbortSignal;
  /** Given up by its holder: also aborts `lost`. */
  drop(why: string): void;
  /** No longer renewed, because the run is settled. */
  end(): void;
}

/** How many renewals fit into a lease's time, and how many retries follow a failed one. */
const RENEWALS = 3;
const TRIES = 20;

export function holdLease({ backend, claim, leaseMs, sentAt }: LeaseToHold): HeldLease {
  const lost = new AbortController();
  const { workflowRunId, holder } = claim;
  let isHeld = true;
  let goodUntil = sentAt + leaseMs;
  let overdue = setTimeout(expire, Math.max(0, goodUntil - performance.now()));
  // Whether or not the one before was answered: that one may hang on a connection that is dead.
  const renewal = setInterval(() => void renew(), leaseMs / RENEWALS);

  function end(): void {
    isHeld = false;
    clearInterval(renewal);
    clearTimeout(overdue);
  }
  function lose(why: unknown): void {
    if (!isHeld) return;
    end();
    lost.abort(why);
  }
  function expire(): void {
    lose(new Error("The lease was not renewed in time."));
  }
  async function renew(): Promise<void> {
    const sent = performance.now();
    if (sent >= goodUntil) expire(); // This process stood still: nobody may write for a lease that is over.
    if (!isHeld) return;
    try {
      await backend.extendWorkflowRunLease({ workflowRunId, workerId: holder, leaseDurationMs: leaseMs });
      if (!isHeld) return;
      goodUntil = Math.max(goodUntil, sent + leaseMs);
      clearTimeout(overdue);
      overdue = setTimeout(expire, Math.max(0, goodUntil - performance.now()));
    } catch (fault) {
      if (await isOver(backend, claim)) lose(fault);
      else setTimeout(() => void renew(), leaseMs / TRIES).unref();
    }
  }
  return { lost: lost.signal, drop: (why) => lose(new Error(why)), end };
}

/** Whether the store says that the claim is over: the run is settled, or another worker has it. */
export async function isOver(
  backend: EngineBackend,
  { workflowRunId, holder }: ClaimedRun,
): Promise<boolean> {
  try {
    const run = await backend.getWorkflowRun({ workflowRunId });
    return run === null || run.status !== "running" || run.workerId !== holder;
  } catch {
    return false; // It says nothing: the lease's time decides.
  }
}
