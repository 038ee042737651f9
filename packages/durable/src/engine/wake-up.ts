/**
 * Waking without losing one. From its claim on, a run has an open wait for its own signal; the backend notes a signal that
 * comes while the run is worked on, and a run that parks with one noted is due at once. A signal that finds no wait came
 * before the claim was through: what it tells of is in the journal, and is read by the advance that follows.
 */
import type { Backend, WorkflowRun } from "openworkflow/internal";

interface Claimed {
  readonly run: WorkflowRun;
  readonly holder: string;
}

/** Later than any lease; as text it still sorts after all other times. */
export const FAR_FUTURE = new Date("9999-12-31T00:00:00.000Z");

export function wakeSignal(runId: string): string {
  return `wake:${runId}`;
}

/** Closes the waits of earlier claims, whose signals this claim answers, and opens its own. */
export async function openWait(backend: Backend, { run, holder }: Claimed): Promise<void> {
  const own = { workflowRunId: run.id, workerId: holder };
  if (run.attempts > 1) {
    for (const stepAttemptId of await openWaits(backend, run.id)) {
      await backend.completeStepAttempt({ ...own, stepAttemptId, output: null });
    }
  }
  await backend.createStepAttempt({
    ...own,
    stepName: "wake",
    kind: "signal-wait",
    config: {},
    context: {
      kind: "signal-wait",
      signal: wakeSignal(run.workflowName),
      timeoutAt: FAR_FUTURE.toISOString(),
    },
  });
}

async function openWaits(backend: Backend, workflowRunId: string): Promise<readonly string[]> {
  const open: string[] = [];
  let after: string | null | undefined;
  do {
    const page = await backend.listStepAttempts({ workflowRunId, limit: 100, ...(after && { after }) });
    open.push(...page.data.filter(({ status }) => status === "running").map(({ id }) => id));
    after = page.pagination.next;
  } while (after);
  return open;
}
