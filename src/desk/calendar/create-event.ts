/** Puts an event into the calendar, as a file of its own. A second call with the same key finds that file. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { JsonObject } from "../../capabilities/capability.ts";
import { type Answer, done, refuse } from "../../capabilities/capability-fault.ts";
import { withLock } from "../../trust/lock-file.ts";
import type { Desk } from "../desk-operation.ts";
import { markOf } from "../operation-mark.ts";
import { calendarFolder, chooseZone, noSuchTime, showOccurrence } from "./calendar-answers.ts";
import { type CalendarEvent, readEvent } from "./calendar-event.ts";
import { listCalendarNames, writeCalendarFile } from "./calendar-files.ts";
import { foldLine, writeText } from "./content-lines.ts";
import { readEventComponents } from "./event-components.ts";
import { type EventTime, keyOf, writeWall } from "./event-time.ts";
import { readGivenTime } from "./given-time.ts";
import { DAY_MS, instantOf } from "./zoned-time.ts";

export interface CreateEventInput {
  readonly title: string;
  readonly start: string;
  readonly end?: string;
  readonly timezone?: string;
  readonly location?: string;
  readonly description?: string;
  readonly repeat?: Repeat;
}

export interface Repeat {
  readonly every: "day" | "week" | "month" | "year";
  readonly interval?: number;
  readonly count?: number;
  /** A day, which is included. */
  readonly until?: string;
  readonly on?: readonly string[];
}

const FREQUENCIES = { day: "DAILY", week: "WEEKLY", month: "MONTHLY", year: "YEARLY" } as const;
const HOUR_MS = 3_600_000;

export async function createEvent(input: CreateEventInput, desk: Desk): Promise<Answer<JsonObject>> {
  const zone = chooseZone(input.timezone, desk);
  if (!zone.ok) return zone;
  const times = readTimes(input, zone.value);
  if (!times.ok) return times;
  const rule = writeRule(input.repeat, times.value.start);
  if (!rule.ok) return rule;
  const mark = markOf(desk.idempotencyKey ?? randomBytes(16).toString("hex"), {
    ...input,
  } as unknown as JsonObject);
  const uid = `${mark.whole.toLowerCase()}@desk.invalid`;
  const lines = writeEvent(uid, input, times.value, rule.value, desk.now);
  const [event] = readEventComponents(lines).map((component) => readEvent(component, zone.value));
  if (!event) throw new Error("An event that was just written cannot be read."); // A fault of this program.
  const folder = calendarFolder(desk);
  // One at a time: of two calls with one key, the second finds the file of the first.
  return withLock(join(desk.folder, "calendar"), () => {
    const earlier = listCalendarNames(folder).find((name) => name.startsWith(mark.key));
    if (earlier !== undefined && !earlier.startsWith(mark.whole)) return keyIsTaken();
    if (earlier === undefined) writeCalendarFile(folder, `${mark.whole}.ics`, lines);
    return done({ ...showCreated(event, zone.value), created: earlier === undefined });
  });
}

function keyIsTaken(): ReturnType<typeof refuse> {
  return refuse("capability_invalid_input", "Another event was created with this idempotency key.", {
    hint: "Use a new key for a new event.",
  });
}

interface Times {
  readonly start: EventTime;
  readonly end: EventTime;
}

function readTimes(input: CreateEventInput, zone: string): Answer<Times> {
  const start = readGivenTime(input.start, zone);
  if (!start) return noSuchTime("start", input.start);
  const length = start.isDay ? DAY_MS : HOUR_MS;
  const end =
    input.end === undefined ? { ...start, wall: start.wall + length } : readGivenTime(input.end, zone);
  if (!end) return noSuchTime("end", input.end ?? "");
  if (start.isDay !== end.isDay)
    return refuse("capability_invalid_input", "`start` and `end` must both be days, or both be times.");
  if (keyOf(end) > keyOf(start)) return done({ start, end });
  const hint = start.isDay ? "For whole days, `end` is the day after the last one." : "";
  return refuse("capability_invalid_input", "`end` must be later than `start`.", hint ? { hint } : {});
}

function writeRule(repeat: Repeat | undefined, start: EventTime): Answer<string | undefined> {
  if (!repeat) return done(undefined);
  if (repeat.on && repeat.every !== "week" && repeat.every !== "day")
    return refuse("capability_invalid_input", "`repeat.on` is for events of every `day` or `week`.");
  if (repeat.count !== undefined && repeat.until !== undefined)
    return refuse("capability_invalid_input", "Give `repeat.count` or `repeat.until`, not both.");
  const until = repeat.until === undefined ? undefined : readGivenTime(repeat.until, start.zone);
  if (repeat.until !== undefined && !until?.isDay) return noSuchTime("repeat.until", repeat.until);
  const parts = [
    `FREQ=${FREQUENCIES[repeat.every]}`,
    ...(repeat.interval === undefined ? [] : [`INTERVAL=${repeat.interval}`]),
    ...(repeat.count === undefined ? [] : [`COUNT=${repeat.count}`]),
    ...(until ? [`UNTIL=${writeUntil(until, start)}`] : []),
    ...(repeat.on ? [`BYDAY=${repeat.on.join(",")}`] : []),
  ];
  return done(parts.join(";"));
}

/** With a time in the same form as the start's, which the standard asks for: the last second of the day. */
function writeUntil(until: EventTime, start: EventTime): string {
  if (start.isDay) return writeWall(until.wall, true);
  return `${writeWall(instantOf(until.wall + DAY_MS - 1000, start.zone), false)}Z`;
}

function writeEvent(
  uid: string,
  input: CreateEventInput,
  { start, end }: Times,
  rule: string | undefined,
  now: Date,
): readonly string[] {
  const { location, description } = input;
  const lines = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//Metier//desk//EN",
    "BEGIN:VEVENT",
    `UID:${uid}`,
    `DTSTAMP:${writeWall(now.getTime(), false)}Z`,
    `DTSTART${writeTime(start)}`,
    `DTEND${writeTime(end)}`,
    ...(rule === undefined ? [] : [`RRULE:${rule}`]),
    `SUMMARY:${writeText(input.title)}`,
    ...(location ? [`LOCATION:${writeText(location)}`] : []),
    ...(description ? [`DESCRIPTION:${writeText(description)}`] : []),
    "STATUS:CONFIRMED",
    "END:VEVENT",
    "END:VCALENDAR",
    "",
  ];
  return lines.flatMap(foldLine);
}

/** A zone by its name alone, as RFC 7809 allows for the names that everyone knows. */
function writeTime({ wall, isDay, zone }: EventTime): string {
  if (isDay) return `;VALUE=DATE:${writeWall(wall, true)}`;
  return zone === "UTC" ? `:${writeWall(wall, false)}Z` : `;TZID=${zone}:${writeWall(wall, false)}`;
}

function showCreated(event: CalendarEvent, zone: string): JsonObject {
  const startsAt = keyOf(event.start);
  return showOccurrence({ event, start: event.start, startsAt, endsAt: startsAt + event.durationMs }, zone);
}
