/** What is in the calendar between two times, recurring events at each of their times. */
import type { JsonObject } from "../../capabilities/capability.ts";
import { type Answer, done, refuse } from "../../capabilities/capability-fault.ts";
import type { Desk } from "../desk-operation.ts";
import { calendarFolder, chooseZone, noSuchTime, showOccurrence } from "./calendar-answers.ts";
import { readEvents } from "./calendar-files.ts";
import { expandEvents } from "./expand-events.ts";
import { readGivenTime } from "./given-time.ts";
import { DAY_MS, instantOf, showInstant } from "./zoned-time.ts";

export interface ListEventsInput {
  readonly from?: string;
  readonly to?: string;
  readonly timezone?: string;
  readonly limit?: number;
  readonly include_cancelled?: boolean;
}

const DEFAULT_DAYS = 7;
const MOST_DAYS = 366;

export async function listEvents(input: ListEventsInput, desk: Desk): Promise<Answer<JsonObject>> {
  const zone = chooseZone(input.timezone, desk);
  if (!zone.ok) return zone;
  const range = readRange(input, zone.value, desk.now);
  if (!range.ok) return range;
  const kept = readEvents(calendarFolder(desk), zone.value);
  const { occurrences, isComplete } = expandEvents(
    kept.events.map(({ event }) => event),
    { ...range.value, zone: zone.value },
  );
  const wanted = occurrences.filter(({ event }) => input.include_cancelled || event.status !== "cancelled");
  const shown = wanted.slice(0, input.limit ?? 50);
  return done({
    from: showInstant(range.value.from, zone.value),
    to: showInstant(range.value.to, zone.value),
    timezone: zone.value,
    events: shown.map((occurrence) => showOccurrence(occurrence, zone.value)),
    total: wanted.length,
    complete: kept.isComplete && isComplete && shown.length === wanted.length,
  });
}

function readRange(
  input: ListEventsInput,
  zone: string,
  now: Date,
): Answer<{ readonly from: number; readonly to: number }> {
  const from = readBound(input.from, zone, now.getTime());
  if (from === undefined) return noSuchTime("from", input.from ?? "");
  const to = readBound(input.to, zone, from + DEFAULT_DAYS * DAY_MS);
  if (to === undefined) return noSuchTime("to", input.to ?? "");
  if (to > from && to - from <= MOST_DAYS * DAY_MS) return done({ from, to });
  const range = `from \`${showInstant(from, zone)}\` to \`${showInstant(to, zone)}\``;
  return refuse(
    "capability_invalid_input",
    `The range goes ${range}: \`to\` is later, by at most ${MOST_DAYS} days.`,
  );
}

/** A day begins at its midnight. */
function readBound(text: string | undefined, zone: string, otherwise: number): number | undefined {
  if (text === undefined) return otherwise;
  const time = readGivenTime(text, zone);
  return time && instantOf(time.wall, zone);
}
