/** The times of events that touch a range: recurring ones at each of their times, without those that were taken out. */
import type { CalendarEvent } from "./calendar-event.ts";
import { type EventTime, keyOf } from "./event-time.ts";
import { type RecurrenceRange, recur } from "./recurrence.ts";
import { DAY_MS, instantOf, wallTimeAt } from "./zoned-time.ts";

export interface Occurrence {
  readonly event: CalendarEvent;
  readonly start: EventTime;
  /** Instants; for days, those of the caller's midnight. */
  readonly startsAt: number;
  readonly endsAt: number;
}

export interface TimeRange {
  readonly from: number;
  readonly to: number;
  /** Of the caller: in which days begin. */
  readonly zone: string;
}

/** Of all events together; nobody reads more, and a file can ask for any number. */
const MAX_OCCURRENCES = 5_000;
const MAX_PERIODS = 500_000;

export function expandEvents(
  events: readonly CalendarEvent[],
  range: TimeRange,
): { readonly occurrences: readonly Occurrence[]; readonly isComplete: boolean } {
  const replaced = replacedTimes(events);
  const occurrences: Occurrence[] = [];
  const budget = { left: MAX_PERIODS };
  for (const event of events) {
    const isOut = leftOut(event, event.replaces === undefined ? replaced.get(event.uid) : undefined);
    for (const start of startsOf(event, range, budget)) {
      if (occurrences.length >= MAX_OCCURRENCES) return sorted(occurrences, false);
      const occurrence = isOut(start) ? undefined : placeIn(range, event, start);
      if (occurrence) occurrences.push(occurrence);
    }
  }
  return sorted(occurrences, budget.left > 0);
}

/** By the identity of the event: the times for which another component stands. */
function replacedTimes(events: readonly CalendarEvent[]): ReadonlyMap<string, ReadonlySet<number>> {
  const replaced = new Map<string, Set<number>>();
  for (const { uid, replaces } of events) {
    if (replaces === undefined) continue;
    const keys = replaced.get(uid) ?? new Set();
    replaced.set(uid, keys.add(replaces));
  }
  return replaced;
}

/** A day that is taken out takes whatever is on it. */
function leftOut(
  event: CalendarEvent,
  replaced: ReadonlySet<number> = new Set(),
): (start: EventTime) => boolean {
  const keys = new Set([...replaced, ...event.excluded.map(keyOf)]);
  const days = new Set(event.excluded.filter(({ isDay }) => isDay).map(({ wall }) => wall));
  if (keys.size === 0) return () => false;
  return (start) => keys.has(keyOf(start)) || days.has(Math.floor(start.wall / DAY_MS) * DAY_MS);
}

/** `undefined`: it does not touch the range. */
function placeIn(range: TimeRange, event: CalendarEvent, start: EventTime): Occurrence | undefined {
  const startsAt = instantOf(start.wall, start.isDay ? range.zone : start.zone);
  const endsAt = start.isDay
    ? instantOf(start.wall + event.durationMs, range.zone)
    : startsAt + event.durationMs;
  const touches = startsAt < range.to && (endsAt > range.from || startsAt >= range.from);
  return touches ? { event, start, startsAt, endsAt } : undefined;
}

function sorted(
  occurrences: Occurrence[],
  isComplete: boolean,
): { readonly occurrences: readonly Occurrence[]; readonly isComplete: boolean } {
  occurrences.sort((a, b) => a.startsAt - b.startsAt || (a.event.uid < b.event.uid ? -1 : 1));
  return { occurrences, isComplete };
}

function* startsOf(
  event: CalendarEvent,
  range: TimeRange,
  budget: RecurrenceRange["budget"],
): Generator<EventTime> {
  const { start, rule, added, durationMs } = event;
  if (!rule) yield start;
  else {
    // Two days more on each side: what a day is differs around the world.
    const from = wallTimeAt(range.from, start.zone) - durationMs - 2 * DAY_MS;
    const to = wallTimeAt(range.to, start.zone) + 2 * DAY_MS;
    for (const wall of recur(start, rule, { from, to, budget })) yield { ...start, wall };
  }
  yield* added.filter(({ isDay }) => isDay === start.isDay);
}
