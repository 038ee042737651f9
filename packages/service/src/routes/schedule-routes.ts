/** Schedules: a cron line with a time zone that starts a run at each due time. */
import { randomBytes } from "node:crypto";
import type { JsonObject } from "@metier/base/json";
import { choiceShape, flagShape, tableShape } from "@metier/base/shape";
import type { StoredRecord } from "@metier/durable";
import { type PageQuery, pageAnswer, pageShape, replyPage } from "../http/page.ts";
import { boundedText, objectOf, TEXT_FIELD, TIME_FIELD } from "../http/query-shapes.ts";
import { refuse, refuseMissing, refuseRequest } from "../http/refusal.ts";
import { defineRoute, replyWith, type ServiceRoute } from "../http/route.ts";
import { tellOf } from "../keys/audit-line.ts";
import { pinApproved, type RunWish } from "../runs/order-run.ts";
import { readCron } from "../schedules/cron-times.ts";
import { toBody } from "../schedules/fire-schedules.ts";
import { CATCH_UP, readSchedule, SCHEDULE_KIND, type Schedule } from "../schedules/schedule.ts";
import { checkApprove, wishFields } from "./run-routes.ts";

const GROUP = "schedules";
const scheduleSchema = objectOf(
  {
    id: TEXT_FIELD,
    name: TEXT_FIELD,
    cron: TEXT_FIELD,
    timeZone: TEXT_FIELD,
    catchUp: { enum: [...CATCH_UP] },
    isPaused: { type: "boolean" },
    nextAt: TIME_FIELD,
    lastAt: TIME_FIELD,
    lastRun: TEXT_FIELD,
  },
  ["id", "name", "cron", "timeZone", "catchUp", "isPaused", "nextAt"],
);

interface ScheduleBody {
  readonly name: string;
  readonly cron: string;
  readonly timeZone?: string;
  readonly catchUp?: Schedule["catchUp"];
  readonly run: RunWish;
}

interface PauseBody {
  readonly isPaused: boolean;
}

function showSchedule(stored: StoredRecord): JsonObject {
  const schedule = readSchedule(stored);
  if (schedule === undefined) return { id: stored.id };
  const { nextAt, lastAt, ...rest } = schedule;
  return {
    id: stored.id,
    ...toBody({ ...rest, nextAt }),
    nextAt: new Date(nextAt).toISOString(),
    ...(lastAt !== undefined && { lastAt: new Date(lastAt).toISOString() }),
  };
}

const createSchedule = defineRoute<Record<never, never>, ScheduleBody>({
  method: "POST",
  path: "/v1/schedules",
  scope: "write",
  group: GROUP,
  summary: "Create a schedule that starts a run at each due time of a cron line.",
  body: tableShape<ScheduleBody>(
    {
      name: boundedText(100, 1),
      cron: boundedText(200, 1),
      timeZone: boundedText(64, 1),
      catchUp: choiceShape(...CATCH_UP),
      run: tableShape<RunWish>(wishFields, ["skill"]),
    },
    ["name", "cron", "run"],
  ),
  answers: { 201: { about: "The schedule.", schema: scheduleSchema } },
  async handle({ body, identity }, context) {
    const { records, now } = context;
    const { timeZone = "UTC", catchUp = "one", name, cron } = body;
    const allowed = checkApprove(identity, body.run.approve);
    if (!allowed.ok) return allowed;
    const pinned = await pinApproved(context, identity, body.run);
    if (!pinned.ok) return pinned;
    const { wish: run, approved } = pinned.value;
    const times = await readCron(cron, timeZone);
    if (!times.ok) return refuseRequest(times.refusal.message, times.refusal.hint ?? "");
    const nextAt = times.value.after(now()) ?? now();
    const { tenant, userId } = identity;
    const id = `sch-${randomBytes(10).toString("hex")}`;
    const schedule: Schedule = {
      name,
      cron,
      timeZone,
      catchUp,
      isPaused: false,
      run,
      approved,
      nextAt,
      userId,
    };
    const detail = { name, cron, timeZone, skill: run.skill, approve: run.approve ?? "ask" };
    const stored = await records.put(
      { tenant, kind: SCHEDULE_KIND, id },
      toBody(schedule),
      0,
      tellOf(identity, "schedule.created", id, detail),
    );
    if (stored === undefined) throw new Error(`A schedule with the id \`${id}\` already exists.`);
    return replyWith(showSchedule(stored), 201);
  },
});

const listSchedules = defineRoute<PageQuery>({
  method: "GET",
  path: "/v1/schedules",
  scope: "read",
  group: GROUP,
  summary: "List schedules.",
  query: pageShape,
  answers: pageAnswer("schedules", scheduleSchema),
  handle: ({ query, identity: { tenant } }, { records }) =>
    replyPage(query, {
      read: (page) => records.list({ tenant, kind: SCHEDULE_KIND, ...page }),
      cursor: ({ id }) => id,
      show: showSchedule,
    }),
});

const readOneSchedule = defineRoute({
  method: "GET",
  path: "/v1/schedules/{id}",
  scope: "read",
  group: GROUP,
  summary: "Get a schedule: what it starts, its next due time, and the outcome of the last one.",
  answers: { 200: { about: "The schedule.", schema: scheduleSchema } },
  async handle({ identity: { tenant }, param }, { records }) {
    const stored = await records.get({ tenant, kind: SCHEDULE_KIND, id: param("id") });
    return stored ? replyWith(showSchedule(stored)) : refuseMissing("schedule", param("id"), "/v1/schedules");
  },
});

const pauseSchedule = defineRoute<Record<never, never>, PauseBody>({
  method: "PUT",
  path: "/v1/schedules/{id}",
  scope: "write",
  group: GROUP,
  summary: "Pause a schedule, or resume it at its next due time.",
  body: tableShape<PauseBody>({ isPaused: flagShape }, ["isPaused"]),
  answers: { 200: { about: "The schedule.", schema: scheduleSchema } },
  async handle({ body: { isPaused }, identity, param }, { records, now }) {
    const stored = await records.get({ tenant: identity.tenant, kind: SCHEDULE_KIND, id: param("id") });
    const schedule = stored && readSchedule(stored);
    if (stored === undefined || schedule === undefined) {
      return refuseMissing("schedule", param("id"), "/v1/schedules");
    }
    const times = await readCron(schedule.cron, schedule.timeZone);
    const nextAt = (times.ok ? times.value.after(now()) : undefined) ?? schedule.nextAt;
    const body = toBody({ ...schedule, isPaused, nextAt });
    const line = tellOf(identity, isPaused ? "schedule.paused" : "schedule.resumed", stored.id);
    const changed = await records.put(stored, body, stored.revision, line);
    if (changed === undefined) {
      return refuse(
        409,
        "schedule_changed",
        "Someone else changed the schedule at the same time.",
        "Read it again, then repeat your change.",
      );
    }
    return replyWith(showSchedule(changed));
  },
});

const deleteSchedule = defineRoute({
  method: "DELETE",
  path: "/v1/schedules/{id}",
  scope: "write",
  group: GROUP,
  summary: "Remove a schedule. Runs it started continue.",
  answers: { 200: { about: "The removed schedule.", schema: objectOf({ id: TEXT_FIELD }) } },
  async handle({ identity, param }, { records }) {
    const id = param("id");
    const key = { tenant: identity.tenant, kind: SCHEDULE_KIND, id };
    const isGone = await records.delete(key, tellOf(identity, "schedule.removed", id));
    return isGone ? replyWith({ id }) : refuseMissing("schedule", id, "/v1/schedules");
  },
});

export const SCHEDULE_ROUTES: readonly ServiceRoute[] = [
  createSchedule,
  listSchedules,
  readOneSchedule,
  pauseSchedule,
  deleteSchedule,
];
