/**
 * Background work, every second or so: due schedules, expired questions, users and tenants being deleted. And once at
 * startup: what a killed process had stored but not passed on to the engine. It covers all tenants; what acts for one
 * only queries that one. Everything here can be repeated without harm.
 */
import { catchUp, forAllTenants } from "@metier/durable";
import { limitEngineForAll } from "./quotas/hold-to-quotas.ts";
import { finishTurns } from "./routes/session-routes.ts";
import { forgetOldOrders } from "./runs/order-run.ts";
import { fireSchedules } from "./schedules/fire-schedules.ts";
import type { ServiceContext } from "./service-context.ts";
import { goOnDeleting } from "./tenants/deletion.ts";

const KEEP_ORDERS_MS = 7 * 86_400_000;
const KEEP_RUNS_MS = 30 * 86_400_000;
const FORGET_EVERY_MS = 3_600_000;

interface Sweep {
  /** Resolves when the sweep in progress has ended. */
  stop(): Promise<void>;
}

export function startSweep(context: ServiceContext): Sweep {
  let isStopped = false;
  let forgetAt = context.now();
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    await expireQuestions(context);
    await fireSchedules(context);
    await goOnDeleting(context);
    if (context.now() < forgetAt) return;
    forgetAt = context.now() + FORGET_EVERY_MS;
    await forgetOldOrders(context, KEEP_ORDERS_MS);
    await context.signIns.forgetIdle(context.now());
    await context.workers.forgetSilent();
    await removeOldRuns(context);
  };
  const run = async (work: () => Promise<void>): Promise<void> => {
    try {
      await forAllTenants(work);
    } catch (fault) {
      context.metrics.count("metier_faults_total");
      context.log.fault("sweep", fault); // The next sweep tries again.
    }
    if (isStopped) return;
    timer = setTimeout(() => {
      current = run(look);
    }, context.times.sweepMs);
  };
  let current = run(async () => {
    await finishTurns(context);
    await catchUp(context.journal, context.engine);
    await limitEngineForAll(context);
    await look();
  });
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}

/**
 * Removes what is left of runs that ended long ago, from the journal, the engine and everywhere else the service stores
 * it.
 */
async function removeOldRuns({ journal, engine, tidy, now }: ServiceContext): Promise<void> {
  const before = now() - KEEP_RUNS_MS;
  await journal.purge(before);
  await engine.purge(new Date(before));
  await tidy();
}

async function expireQuestions({ journal, engine, metrics, now }: ServiceContext): Promise<void> {
  for (const { rootId } of await journal.expireQuestions(now())) {
    metrics.count("metier_questions_expired_total");
    await engine.wake(rootId);
  }
}
