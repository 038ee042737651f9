/** One run, from its claim to its outcome: the store is told until it has confirmed, or the lease is over. */
import { setTimeout as delay } from "node:timers/promises";
import type { WorkflowRun } from "openworkflow/internal";
import type { AdvanceOutcome, WorkOptions } from "../run-engine.ts";
import type { EngineParts } from "./create-engine.ts";
import type { ClaimedRun } from "./engine-queue.ts";
import { type HeldLease, isOver } from "./hold-lease.ts";

/** After a run's advance failed: doubled each time. */
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
/** Before retrying a store that couldn't be told. */
const SETTLE_AGAIN_MS = 250;

interface Advance {
  readonly parts: EngineParts;
  readonly options: WorkOptions;
  readonly claim: ClaimedRun;
  readonly run: WorkflowRun;
  readonly lease: HeldLease;
  readonly stopping: AbortSignal;
  /** How many times in a row a run's advance has failed. */
  readonly failures: Map<string, number>;
}

export async function advanceClaimed(advance: Advance): Promise<void> {
  const { options, claim, run, lease, stopping, failures } = advance;
  const runId = run.workflowName;
  const { lost } = lease;
  let outcome: AdvanceOutcome;
  try {
    outcome = await options.advance({ runId, holder: claim.holder, term: run.attempts, lost, stopping });
    failures.delete(runId);
  } catch (fault) {
    if (lost.aborted) return; // What fails after that is the loss's doing, and another worker goes on.
    options.onFault(fault);
    const count = failures.get(runId) ?? 0;
    failures.set(runId, count + 1);
    const wait = Math.min(FIRST_RETRY_MS * 2 ** count, LAST_RETRY_MS);
    outcome = { kind: "parked", until: new Date(Date.now() + wait) };
  }
  await settle(advance, outcome);
}

async function settle({ parts, options, claim, lease }: Advance, outcome: AdvanceOutcome): Promise<void> {
  for (let isTold = false; !lease.lost.aborted && !isTold; ) {
    try {
      await tell(parts, claim, outcome);
      isTold = true;
    } catch (fault) {
      // Heard the first time, though nobody answered; or another worker has the run.
      isTold = lease.lost.aborted || (await isOver(parts.backend, claim));
      if (isTold) continue;
      options.onFault(fault);
      await delay(SETTLE_AGAIN_MS, undefined, { signal: lease.lost }).catch(() => undefined);
    }
  }
}

async function tell(
  { backend, queue }: EngineParts,
  claim: ClaimedRun,
  outcome: AdvanceOutcome,
): Promise<void> {
  const { workflowRunId, holder } = claim;
  if (outcome.kind === "ended") {
    await backend.completeWorkflowRun({ workflowRunId, workerId: holder, output: null });
  } else {
    await queue.park(claim, outcome.kind === "released" ? new Date() : outcome.until);
  }
}
