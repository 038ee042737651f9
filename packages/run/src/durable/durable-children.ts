/**
 * Runs that a durable run starts: also durable, under its lease, and found again through the call that started them. If
 * one of them leaves this process, so does the run that waits for it.
 */
import { createRunId } from "../events/run-log.ts";
import { callName } from "./call-journal.ts";
import { type DurableRunParts, makeDurable } from "./durable-run.ts";
import type { Leave } from "./parking.ts";

/** The id of the run that this call starts, the same in every process. */
export async function nameChild(durable: DurableRunParts, callId: string): Promise<string> {
  const key = `child ${callName(durable, callId)}`;
  const known = durable.steps.find(key);
  if (typeof known === "string") return known;
  const runId = createRunId();
  await durable.steps.record(key, runId);
  return runId;
}

/** Whether it starts for the first time; written together with the event that says so. */
export function noteChild({ steps }: DurableRunParts, runId: string): boolean {
  const key = `started ${runId}`;
  if (steps.find(key) !== undefined) return false;
  queueMicrotask(() => steps.record(key, true).catch(() => undefined)); // A failed write stops the run.
  return true;
}

export function durableChildren({ steps, asking }: DurableRunParts) {
  return async (child: { readonly skill: string; readonly runId: string }): Promise<DurableRunParts> =>
    makeDurable(await steps.child(child.runId, child.skill), asking);
}

/** Returns when the run itself is stopped. */
export async function followChild(
  durable: DurableRunParts | undefined,
  why: Leave,
  callId: string,
  signal: AbortSignal,
): Promise<void> {
  if (why === "parked") await durable?.parking.wait(callId, signal);
  else durable?.parking.go(why);
}
