/**
 * Starts runs of due schedules. A due time is its run's idempotency key, and the next due time is stored only
 * afterwards: if killed in between, the next check finds the same due time and the run it made.
 */
import { type JsonObject, presentFields } from "@metier/base/json";
import { forTenant, type StoredRecord } from "@metier/durable";
import { orderRun } from "../runs/order-run.ts";
import type { ServiceContext } from "../service-context.ts";
import { readCron } from "./cron-times.ts";
import { readSchedule, SCHEDULE_KIND, type Schedule } from "./schedule.ts";

/** Per schedule and sweep: a server that was off for a year doesn't start ten thousand runs. */
const MOST_CAUGHT_UP = 100;
/** Anything later than this counts as missed. */
const ON_TIME_MS = 60_000;

export async function fireSchedules(context: ServiceContext): Promise<void> {
  for (const stored of await context.records.listAll(SCHEDULE_KIND)) {
    const schedule = readSchedule(stored);
    if (schedule === undefined || schedule.isPaused || schedule.nextAt > context.now()) continue;
    try {
      if (!(await context.tenants.isActive(stored.tenant))) continue; // It is deleted with its tenant.
      await forTenant(stored.tenant, () => fire(context, stored, schedule));
    } catch (fault) {
      context.log.fault("schedule", fault); // A failing schedule doesn't delay the others.
    }
  }
}

async function fire(context: ServiceContext, stored: StoredRecord, schedule: Schedule): Promise<void> {
  const now = context.now();
  const times = await readCron(schedule.cron, schedule.timeZone);
  if (!times.ok) return pause(context, stored, schedule, times.refusal.message);
  const next = times.value.after(now);
  const missed = times.value.upTo(now, schedule.catchUp === "all" ? MOST_CAUGHT_UP : 1);
  const due = missed.filter((time) => time >= schedule.nextAt);
  let last: Pick<Schedule, "lastAt" | "lastRun" | "lastFault"> = { lastAt: due.at(-1) };
  for (const time of due) {
    if (schedule.catchUp === "skip" && now - time > ON_TIME_MS) continue;
    const key = `schedule/${stored.id}/${new Date(time).toISOString()}`;
    const owner = { tenant: stored.tenant, userId: schedule.userId, keyId: stored.id };
    const wish = { ...schedule.run, ...presentFields({ approved: schedule.approved }) };
    const ordered = await orderRun(context, owner, wish, { idempotencyKey: key });
    last = ordered.ok
      ? { lastAt: time, lastRun: ordered.value.id }
      : { lastAt: time, lastFault: ordered.refusal.message };
    if (ordered.ok && ordered.value.isNew) context.metrics.count("metier_schedules_fired_total");
  }
  if (next === undefined) return pause(context, stored, { ...schedule, ...last }, "It is never due again.");
  const { lastFault: _, ...before } = schedule;
  await context.records.put(stored, toBody({ ...before, ...last, nextAt: next }), stored.revision);
}

async function pause(
  { records }: ServiceContext,
  stored: StoredRecord,
  schedule: Schedule,
  lastFault: string,
): Promise<void> {
  await records.put(stored, toBody({ ...schedule, isPaused: true, lastFault }), stored.revision);
}

export function toBody(schedule: Schedule): JsonObject {
  return presentFields({ ...schedule, run: presentFields({ ...schedule.run }) }) as unknown as JsonObject;
}
