/** A lease while it is held: renewed every third of its time, and lost as soon as that fails or comes too late. */
import type { Backend } from "openworkflow/internal";

interface LeaseToHold {
  readonly backend: Backend;
  readonly workflowRunId: string;
  readonly holder: string;
  readonly leaseMs: number;
}

export interface HeldLease {
  /** Aborted when it is lost; the reason says why. */
  readonly lost: AbortSignal;
  /** Given up by its holder: `lost` is aborted, too. */
  drop(why: string): void;
  /** No longer renewed, because the run is settled. */
  end(): void;
}

export function holdLease({ backend, workflowRunId, holder, leaseMs }: LeaseToHold): HeldLease {
  const lost = new AbortController();
  const renewal = setInterval(() => void renew(), leaseMs / 3);
  let overdue = setTimeout(expire, leaseMs);
  let isHeld = true;

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
    try {
      await backend.extendWorkflowRunLease({ workflowRunId, workerId: holder, leaseDurationMs: leaseMs });
      if (!isHeld) return;
      clearTimeout(overdue);
      overdue = setTimeout(expire, leaseMs);
    } catch (fault) {
      lose(fault);
    }
  }
  return { lost: lost.signal, drop: (why) => lose(new Error(why)), end };
}
