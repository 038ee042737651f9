/**
 * Ends and removes all runs of a tenant or one of its users: from the journal last, so that a killed process finds
 * again what it hadn't removed.
 */
import { type DurableRun, ENDED } from "@metier/durable";
import type { ServiceContext } from "../service-context.ts";

const PAGE = 200;
/** Per sweep, because other work waits for it. */
const MOST_AT_ONCE = 1_000;
/** For this long, the worker that ended a run may still be cleaning up. */
const SETTLING_MS = 500;
/** If no worker takes up a run to end it within this time, the run is removed as it is. */
const UNTAKEN_MS = 10_000;

interface RunOwner {
  readonly tenant: string;
  readonly userId?: string | undefined;
}

/** Returns whether none is left. Runs in progress are cancelled, and a later call removes them. */
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

/** Cancelled, but still waiting for a worker, which may have a long queue. */
function isUntaken({ isCancelled, status }: DurableRun, quietMs: number): boolean {
  return isCancelled && status !== "running" && quietMs >= UNTAKEN_MS;
}
