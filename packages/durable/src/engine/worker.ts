/**
 * A worker: claims runs for its free slots, at once when it is told that there is something and otherwise by asking every
 * now and then, advances them under leases, and settles what comes of it. It prints nothing.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkflowRun } from "openworkflow/internal";
import type { AdvanceOutcome, EngineWorker, WorkOptions } from "../run-engine.ts";
import type { EngineParts } from "./create-engine.ts";
import { type HeldLease, holdLease } from "./hold-lease.ts";
import { FAR_FUTURE, openWait } from "./wake-up.ts";

/** How long at most until a timer, a dead worker's lease or another process's wake-up is seen. */
const POLL_MS = 250;
/** After a run whose advance failed: doubled each time. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;

export interface TickedWorker extends EngineWorker {
  /** There may be something to do. */
  tick(): void;
}

interface Claim {
  readonly run: WorkflowRun;
  readonly holder: string;
}

interface HeldRun extends Claim {
  readonly lease: HeldLease;
  /** Settled, also when it failed. Never rejects. */
  readonly finished: Promise<void>;
}

export function startWorker(parts: EngineParts, options: WorkOptions): TickedWorker {
  const { slots, leaseMs, onFault } = options;
  const held = new Set<HeldRun>();
  const failures = new Map<string, number>();
  const stopping = new AbortController();
  let filling: Promise<void> | undefined;
  let isTold = false;

  const hold = (claim: Claim): void => {
    const { run, holder } = claim;
    const lease = holdLease({ backend: parts.backend, workflowRunId: run.id, holder, leaseMs });
    const work = advance({ parts, options, claim, lease, stopping: stopping.signal, failures });
    const finished = work.catch(onFault).finally(() => {
      lease.end();
      held.delete(entry);
      tick();
    });
    const entry: HeldRun = { ...claim, lease, finished };
    held.add(entry);
  };
  const fill = async (): Promise<void> => {
    while (isTold) {
      isTold = false;
      while (!stopping.signal.aborted && held.size < slots) {
        const claim = await claimNext(parts, leaseMs);
        if (claim === undefined) break;
        if (stopping.signal.aborted) await giveBack(parts, claim);
        else hold(claim);
      }
    }
  };
  const tick = (): void => {
    isTold = true;
    filling ??= fill()
      .catch(onFault)
      .finally(() => {
        filling = undefined;
        // Told in the moment in which it ended.
        if (isTold && !stopping.signal.aborted) tick();
      });
  };
  const poll = setInterval(tick, POLL_MS);
  tick();
  return {
    tick,
    get active() {
      return held.size;
    },
    async stop(graceMs) {
      clearInterval(poll);
      stopping.abort();
      await filling;
      const over = new AbortController();
      const all = Promise.all([...held].map(({ finished }) => finished));
      await Promise.race([all, delay(graceMs, undefined, { signal: over.signal }).catch(() => undefined)]);
      over.abort();
      await Promise.all([...held].map((run) => dropRun(parts, run, onFault)));
    },
  };
}

/** What was woken, came due or lost its worker goes first; then one that waits for its first worker. */
async function claimNext({ backend, queue }: EngineParts, leaseMs: number): Promise<Claim | undefined> {
  const holder = randomUUID();
  const claim = { workerId: holder, leaseDurationMs: leaseMs };
  const now = Date.now();
  if (!(await queue.hasDue(now)) && !(await queue.release(now))) return undefined;
  const run = await backend.claimWorkflowRun(claim);
  return run ? { run, holder } : undefined;
}

interface Advance {
  readonly parts: EngineParts;
  readonly options: WorkOptions;
  readonly claim: Claim;
  readonly lease: HeldLease;
  readonly stopping: AbortSignal;
  readonly failures: Map<string, number>;
}

async function advance({ parts, options, claim, lease, stopping, failures }: Advance): Promise<void> {
  const { run, holder } = claim;
  const runId = run.workflowName;
  const { lost } = lease;
  try {
    await openWait(parts.backend, claim);
    const outcome = await options.advance({ runId, holder, term: run.attempts, lost, stopping });
    failures.delete(runId);
    if (!lost.aborted) await settle(parts, claim, outcome);
  } catch (fault) {
    if (lost.aborted) return; // What fails after that is the loss's doing, and another worker goes on.
    options.onFault(fault);
    const count = failures.get(runId) ?? 0;
    failures.set(runId, count + 1);
    await park(parts, claim, new Date(Date.now() + Math.min(FIRST_RETRY_MS * 2 ** count, LAST_RETRY_MS)));
  }
}

async function settle(parts: EngineParts, claim: Claim, outcome: AdvanceOutcome): Promise<void> {
  const own = { workflowRunId: claim.run.id, workerId: claim.holder };
  if (outcome.kind === "ended") await parts.backend.completeWorkflowRun({ ...own, output: null });
  else if (outcome.kind === "parked") await park(parts, claim, outcome.until ?? FAR_FUTURE);
  else await giveBack(parts, claim);
}

async function park({ backend }: EngineParts, { run, holder }: Claim, availableAt: Date): Promise<void> {
  await backend.sleepWorkflowRun({ workflowRunId: run.id, workerId: holder, availableAt });
}

function giveBack(parts: EngineParts, claim: Claim): Promise<void> {
  return park(parts, claim, new Date());
}

/** Its time is over: another worker may have it, and whatever it still does here is ended. */
async function dropRun(parts: EngineParts, run: HeldRun, onFault: (fault: unknown) => void): Promise<void> {
  run.lease.drop("The worker stops.");
  await giveBack(parts, run).catch(onFault);
}
