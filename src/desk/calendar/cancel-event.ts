/** Cancels an event, or one time of a recurring one. Only the lines that say so are changed in its file. */
import { join } from "node:path";
import type { JsonObject } from "../../capabilities/capability.ts";
import { type Answer, done, refuse } from "../../capabilities/capability-fault.ts";
import { withLock } from "../../trust/lock-file.ts";
import type { Desk } from "../desk-operation.ts";
import { calendarFolder, chooseZone, noSuchTime } from "./calendar-answers.ts";
import { type KeptEvent, readEvents, writeCalendarFile } from "./calendar-files.ts";
import { type EventComponent, propertyOf } from "./event-components.ts";
import { type EventTime, keyOf, writeWall } from "./event-time.ts";
import { expandEvents } from "./expand-events.ts";
import { readGivenTime } from "./given-time.ts";
import { instantOf, wallTimeAt } from "./zoned-time.ts";

export interface CancelEventInput {
  readonly uid: string;
  /** The `start` of the one time that is cancelled. */
  readonly occurrence?: string;
  readonly timezone?: string;
}

export async function cancelEvent(input: CancelEventInput, desk: Desk): Promise<Answer<JsonObject>> {
  const zone = chooseZone(input.timezone, desk);
  if (!zone.ok) return zone;
  const { uid, occurrence } = input;
  const time = occurrence === undefined ? undefined : readGivenTime(occurrence, zone.value);
  if (occurrence !== undefined && !time) return noSuchTime("occurrence", occurrence);
  return withLock(join(desk.folder, "calendar"), () => {
    const kept = readEvents(calendarFolder(desk), zone.value).events.filter(({ event }) => event.uid === uid);
    if (kept.length === 0) {
      return refuse("capability_invalid_input", `The calendar has no event \`${uid}\`.`, {
        hint: "Take a `uid` from `list_events`.",
      });
    }
    return time ? cancelOne(kept, time, input, desk) : cancelAll(kept, uid, desk);
  });
}

function cancelAll(kept: readonly KeptEvent[], uid: string, desk: Desk): Answer<JsonObject> {
  const open = kept.filter(({ event }) => event.status !== "cancelled");
  for (const { file } of uniqueFiles(open)) {
    const edits = open.filter((one) => one.file === file).map(({ component }) => markCancelled(component));
    writeCalendarFile(calendarFolder(desk), file.name, applyEdits(file.lines, edits));
  }
  return done({ uid, status: "cancelled", changed: open.length > 0 });
}

function uniqueFiles(kept: readonly KeptEvent[]): readonly KeptEvent[] {
  return kept.filter(({ file }, index) => kept.findIndex((other) => other.file === file) === index);
}

function cancelOne(
  kept: readonly KeptEvent[],
  time: EventTime,
  { uid, occurrence = "" }: CancelEventInput,
  desk: Desk,
): Answer<JsonObject> {
  const key = time.isDay ? time.wall : instantOf(time.wall, time.zone);
  const answer = { uid, occurrence, status: "cancelled" };
  // One that was moved or changed stands in the file by itself; it is known by where it is now.
  const moved = kept.find(({ event }) => event.replaces !== undefined && keyOf(event.start) === key);
  const main = moved ?? kept.find(({ event }) => event.replaces === undefined);
  if (!main) return noSuchOccurrence(uid, occurrence);
  const { event, component, file } = main;
  const isGone = event.excluded.some((one) => keyOf(one) === key) || event.status === "cancelled";
  if (isGone) return done({ ...answer, changed: false });
  if (!moved && !isOccurrence(main, kept, key)) return noSuchOccurrence(uid, occurrence);
  const edit = moved ? markCancelled(component) : exclude(main, key);
  writeCalendarFile(calendarFolder(desk), file.name, applyEdits(file.lines, [edit]));
  return done({ ...answer, changed: true });
}

function isOccurrence({ event }: KeptEvent, kept: readonly KeptEvent[], key: number): boolean {
  const from = event.start.isDay ? instantOf(key, event.start.zone) : key;
  const events = kept.map((one) => one.event);
  const { occurrences } = expandEvents(events, { from, to: from + 1, zone: event.start.zone });
  return occurrences.some(({ start }) => keyOf(start) === key);
}

function noSuchOccurrence(uid: string, occurrence: string): ReturnType<typeof refuse> {
  return refuse("capability_invalid_input", `The event \`${uid}\` is not at \`${occurrence}\`.`, {
    hint: "Give the `start` of one of its times, as `list_events` shows it.",
  });
}

interface Edit {
  /** Lines of the file: from, and up to but without; equal ones insert. */
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

function markCancelled(component: EventComponent): Edit {
  const status = propertyOf(component, "STATUS");
  const at = component.endLine;
  return { from: status?.from ?? at, to: status?.to ?? at, lines: ["STATUS:CANCELLED"] };
}

/** In the form of the event's own start. */
function exclude({ event: { start }, component }: KeptEvent, key: number): Edit {
  const written = propertyOf(component, "DTSTART");
  const tzid = written?.parameters.get("TZID");
  const isUtc = written?.value.trim().endsWith("Z") ?? false;
  const wall = start.isDay ? key : wallTimeAt(key, start.zone);
  const form = start.isDay ? ";VALUE=DATE" : tzid === undefined ? "" : `;TZID="${tzid.replaceAll('"', "")}"`;
  const line = `EXDATE${form}:${writeWall(wall, start.isDay)}${isUtc ? "Z" : ""}`;
  return { from: component.endLine, to: component.endLine, lines: [line] };
}

/** From the end, so that the lines before keep their numbers. */
function applyEdits(lines: readonly string[], edits: readonly Edit[]): readonly string[] {
  const edited = [...lines];
  for (const { from, to, lines: written } of edits.toSorted((a, b) => b.from - a.from))
    edited.splice(from, to - from, ...written);
  return edited;
}
