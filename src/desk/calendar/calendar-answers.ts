/** Events as the operations answer with them, and what they share about zones and folders. */
import { join } from "node:path";
import type { JsonObject } from "../../capabilities/capability.ts";
import { type Answer, done, refuse } from "../../capabilities/capability-fault.ts";
import type { Desk } from "../desk-operation.ts";
import type { Occurrence } from "./expand-events.ts";
import { TIME_FORMS } from "./given-time.ts";
import { isZone, showDay, showInstant } from "./zoned-time.ts";

export function calendarFolder({ folder }: Desk): string {
  return join(folder, "calendar");
}

/** The one that was asked for, or the caller's. */
export function chooseZone(wanted: string | undefined, desk: Desk): Answer<string> {
  if (wanted === undefined) return done(desk.timezone);
  if (isZone(wanted)) return done(wanted);
  return refuse(
    "capability_invalid_input",
    `\`${wanted}\` is no time zone: write one such as \`Europe/Berlin\`.`,
  );
}

export function showOccurrence({ event, start, startsAt, endsAt }: Occurrence, zone: string): JsonObject {
  const when = start.isDay
    ? { start: showDay(start.wall), end: showDay(start.wall + event.durationMs) }
    : { start: showInstant(startsAt, zone), end: showInstant(endsAt, zone) };
  return {
    uid: event.uid,
    title: event.title,
    ...when,
    all_day: start.isDay,
    status: event.status,
    recurring: event.rule !== undefined || event.isRuleUnclear || event.replaces !== undefined,
    ...(event.isRuleUnclear && { recurrence_unclear: true }),
    ...(event.location !== "" && { location: event.location }),
    ...(event.description !== "" && { description: event.description }),
  };
}

export function noSuchTime(name: string, value: string): ReturnType<typeof refuse> {
  return refuse(
    "capability_invalid_input",
    `\`${name}\` is \`${value}\`, which is no time: write ${TIME_FORMS}`,
  );
}
