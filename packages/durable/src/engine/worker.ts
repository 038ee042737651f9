/**
 * A worker: claims runs for its free slots, immediately when notified and otherwise by polling, and advances them under
 * leases. An unreachable store ends nothing: it is asked again. It prints nothing.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkflowRun } from "openworkflow/internal";
import type { EngineWorker, WorkOptions } from "../run-engine.ts";
import { advanceClaimed } from "./advance-run.ts";
import type { EngineParts } from "./create-engine.ts";
import type { ClaimedRun, RunSource } from "./engine-queue.ts";
import { type HeldLease, holdLease } from "./hold-lease.ts";

/** After losing this many runs in a row to others, it waits until it is notified or polls again. */
const MOST_MISSES = 20;
/** Between two of them, so that not all workers ask again at the same time. */
const LONGEST_MISS_MS = 40;

export interface TickedWorker extends EngineWorker {
  /** There may be something to do. */
  tick(): void;
}

interface Claim extends ClaimedRun {
  readonly run: WorkflowRun;
  /** When it was sent, by `performance.now()`. */
  readonly sentAt: number;
}

interface HeldRun extends ClaimedRun {
  readonly lease: HeldLease;
  /** Settled, even if it failed. Never rejects. */
  readonly finished: Promise<void>;
}

export function startEngineWorker(parts: EngineParts, options: WorkOptions): TickedWorker {
  const { slots, leaseMs, onFault } = options;
  const held = new Set<HeldRun>();
  const failures = new Map<string, number>();
  const stopping = new AbortController();
  const claimNext = takeTurns(parts, leaseMs);

  const hold = ({ run, sentAt, ...claim }: Claim): void => {
    const lease = holdLease({ backend: parts.backend, claim, leaseMs, sentAt });
    const work = async (): Promise<void> => {
      await Promise.resolve(); // It is one of those held before it begins.
      await advanceClaimed({ parts, options, claim, run, lease, stopping: stopping.signal, failures });
    };
    const finished = work()
      .catch(onFault)
      .finally(() => {
        lease.end();
        held.delete(entry);
        tick();
      });
    const entry: HeldRun = { ...claim, lease, finished };
    held.add(entry);
  };
  const accept = async (claim: Claim): Promise<void> => {
    // A claim that was answered too late is over already: whoever is next has more of its time.
    const isLate = performance.now() >= claim.sentAt + leaseMs;
    if (isLate || stopping.signal.aborted) await parts.queue.park(claim, new Date());
    else hold(claim);
  };
  const hasRoom = (): boolean => held.size < slots && !stopping.signal.aborted;
  const fillSlots = (): Promise<void> => claimWhile(hasRoom, claimNext, accept);
  const { tick, settled } = tickOneByOne(fillSlots, onFault, stopping.signal);
  const poll = setInterval(tick, parts.pollMs);
  tick();
  return {
    tick,
    get active() {
      return held.size;
    },
    async stop(graceMs) {
      clearInterval(poll);
      stopping.abort();
      const over = new AbortController();
      const grace = delay(graceMs, undefined, { signal: over.signal }).catch(() => undefined);
      await Promise.race([settled(), grace]);
      await Promise.race([Promise.all([...held].map(({ finished }) => finished)), grace]);
      over.abort();
      await Promise.all([...held].map((run) => dropRun(parts, run, onFault)));
    },
  };
}

/** Until nothing is left to claim, or others are always faster. */
async function claimWhile(
  hasRoom: () => boolean,
  claimNext: () => Promise<Claim | "nothing" | "taken">,
  accept: (claim: Claim) => Promise<void>,
): Promise<void> {
  for (let misses = 0; misses < MOST_MISSES && hasRoom(); ) {
    const claim = await claimNext();
    if (claim === "nothing") return;
    if (claim === "taken") {
      misses += 1;
      await delay(Math.random() * Math.min(2 ** misses, LONGEST_MISS_MS));
    } else {
      misses = 0;
      await accept(claim);
    }
  }
}

/** Repeats once for all notifications that arrive during the work, and never runs twice at the same time. */
function tickOneByOne(work: () => Promise<void>, onFault: (fault: unknown) => void, over: AbortSignal) {
  let working: Promise<void> | undefined;
  let isTold = false;
  const workAll = async (): Promise<void> => {
    while (isTold) {
      isTold = false;
      await work();
    }
  };
  const tick = (): void => {
    isTold = true;
    working ??= workAll()
      .catch(onFault)
      .finally(() => {
        working = undefined;
        // Told in the moment in which it ended.
        if (isTold && !over.aborted) tick();
      });
  };
  return { tick, settled: async (): Promise<void> => working };
}

/**
 * One run after another. Runs that were woken, came due or lost their worker alternate with runs waiting for their
 * first one, so that neither a crowd of answers nor a crowd of new runs blocks the other.
 */
function takeTurns(
  { backend, queue }: EngineParts,
  leaseMs: number,
): () => Promise<Claim | "nothing" | "taken"> {
  let first: RunSource = "woken";
  return async () => {
    const source = await queue.offer(first);
    if (source === undefined) return "nothing";
    if (source === "busy") return "taken";
    first = source === "woken" ? "queued" : "woken";
    const holder = randomUUID();
    const sentAt = performance.now();
    const run = await backend.claimWorkflowRun({ workerId: holder, leaseDurationMs: leaseMs });
    return run ? { run, workflowRunId: run.id, holder, sentAt } : "taken";
  };
}

/** Its time is over: another worker may have it, so everything it still does here is ended. */
async function dropRun(
  { queue }: EngineParts,
  run: HeldRun,
  onFault: (fault: unknown) => void,
): Promise<void> {
  run.lease.drop("The worker stops.");
  await queue.park(run, new Date()).catch(onFault);
}
