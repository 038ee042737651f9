/**
 * All runs of a tenant, or of one of its users, end and are removed: from the journal last, so that a process that is killed
 * finds again what it had not removed yet.
 */
import { type DurableRun, ENDED } from "@metier/durable";
import type { ServiceContext } from "../service-context.ts";

const PAGE = 200;
/** In one look, which other work waits for. */
const MOST_AT_ONCE = 1_000;
/** So long the worker that ended it may still be putting things away. */
const SETTLING_MS = 500;
/** A run that nobody has taken up to end it within this time is removed as it is. */
const UNTAKEN_MS = 10_000;

interface RunOwner {
  readonly tenant: string;
  readonly userId?: string | undefined;
}

/** Whether none is left. Those under way are cancelled, and removed by a later call. */
export async function forgetRuns(context: ServiceContext, { tenant, userId }: RunOwner): Promise<boolean> {
  let isNoneLeft = true;
  let looked = 0;
  let before: string | undefined;
  while (looked < MOST_AT_ONCE) {
    const page = await context.journal.list({ tenant, userId, isRoot: true, before, limit: PAGE });
    for (const run of page) {
      if (await forgetRun(context, run)) continue;
      before = run.id;
      isNoneLeft = false;
    }
    looked += page.length;
    if (page.length < PAGE) return isNoneLeft;
  }
  return false;
}

async function forgetRun(
  { journal, engine, forget, now }: ServiceContext,
  run: DurableRun,
): Promise<boolean> {
  const quietMs = now() - run.updatedAt;
  const isOver = ENDED.has(run.status) ? quietMs >= SETTLING_MS : isUntaken(run, quietMs);
  if (!isOver) {
    if (!ENDED.has(run.status) && !run.isCancelled) {
      await journal.cancel(run.id);
      await engine.wake(run.id);
    }
    return false;
  }
  await engine.forget(run.id);
  await forget.run(run.id);
  await journal.forget(run.id);
  return true;
}

/** It was cancelled and waits for a worker, which may have a long queue before it. */
function isUntaken({ isCancelled, status }: DurableRun, quietMs: number): boolean {
  return isCancelled && status !== "running" && quietMs >= UNTAKEN_MS;
}
