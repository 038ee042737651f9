/** The wall times at which an event recurs, in order. Bounded: a rule that never comes true ends too. */
import { type EventTime, keyOf } from "./event-time.ts";
import type { RecurrenceRule } from "./recurrence-rule.ts";
import { DAY_MS, wallTime } from "./zoned-time.ts";

export interface RecurrenceRange {
  /** Wall times. Those before `from` are left out, those after `to` too. */
  readonly from: number;
  readonly to: number;
  /** Days, weeks, months and years that may still be looked at, by this event and by others. */
  readonly budget: { left: number };
}

/** Nothing is earlier than the change of clocks and the length of a week can explain. */
const MARGIN_MS = 32 * DAY_MS;

/** The start itself always counts. Ends early when the budget is used up. */
export function* recur(
  start: EventTime,
  rule: RecurrenceRule,
  { from, to, budget }: RecurrenceRange,
): Generator<number> {
  let left = (rule.count ?? Number.POSITIVE_INFINITY) - 1;
  if (start.wall >= from) yield start.wall;
  // With a count everything before has to be counted; without one, the periods before can be passed over.
  const first =
    rule.count === undefined ? Math.max(0, periodsBetween(start.wall, from - MARGIN_MS, rule)) : 0;
  for (let period = first; left > 0 && budget.left > 0; period++) {
    budget.left -= 1;
    const begin = periodStart(start.wall, period * rule.interval, rule);
    if (begin > to) return;
    for (const day of daysOf(begin, start.wall, rule)) {
      const wall = day + timeOfDay(start.wall);
      if (wall <= start.wall) continue;
      if (wall > to || left <= 0 || isAfter(wall, start, rule.until)) return;
      left -= 1;
      if (wall >= from) yield wall;
    }
  }
}

function isAfter(wall: number, start: EventTime, until: EventTime | undefined): boolean {
  if (until === undefined) return false;
  // A day as the end includes all of it.
  if (until.isDay || start.isDay) return dayOf(wall) > dayOf(until.wall);
  // Exactly only where it is near: no two clocks are further apart.
  if (Math.abs(wall - until.wall) > DAY_MS) return wall > until.wall;
  return keyOf({ ...start, wall }) > keyOf(until);
}

/** How many whole periods lie between two times. */
function periodsBetween(start: number, end: number, { frequency, interval }: RecurrenceRule): number {
  const lengths = { DAILY: DAY_MS, WEEKLY: 7 * DAY_MS, MONTHLY: 31 * DAY_MS, YEARLY: 366 * DAY_MS };
  return Math.floor((end - start) / (lengths[frequency] * interval));
}

/** The first day of the period that is so many days, weeks, months or years after the one of the start. */
function periodStart(start: number, steps: number, { frequency, weekStart }: RecurrenceRule): number {
  const day = dayOf(start);
  const date = new Date(day);
  if (frequency === "DAILY") return day + steps * DAY_MS;
  if (frequency === "WEEKLY") {
    const intoWeek = (date.getUTCDay() - weekStart + 7) % 7;
    return day + (steps * 7 - intoWeek) * DAY_MS;
  }
  if (frequency === "MONTHLY") return wallTime(date.getUTCFullYear(), date.getUTCMonth() + 1 + steps, 1);
  return wallTime(date.getUTCFullYear() + steps, 1, 1);
}

/** The days of a period on which the event is, in order. */
function daysOf(begin: number, start: number, rule: RecurrenceRule): readonly number[] {
  const { frequency, byMonth } = rule;
  if (frequency === "DAILY") return [begin].filter((day) => inMonths(day, rule) && fitsDay(day, rule));
  if (frequency === "WEEKLY") {
    const wanted = rule.byDay.length > 0 ? rule.byDay.map(({ day }) => day) : [new Date(start).getUTCDay()];
    const week = Array.from({ length: 7 }, (_, index) => begin + index * DAY_MS);
    return week.filter((day) => wanted.includes(new Date(day).getUTCDay()) && inMonths(day, rule));
  }
  if (frequency === "MONTHLY") return inMonths(begin, rule) ? daysOfMonth(begin, start, rule) : [];
  const startMonth = new Date(start).getUTCMonth() + 1;
  const months = byMonth.length > 0 ? [...new Set(byMonth)].sort((a, b) => a - b) : [startMonth];
  const year = new Date(begin).getUTCFullYear();
  return months.flatMap((month) => daysOfMonth(wallTime(year, month, 1), start, rule));
}

function daysOfMonth(begin: number, start: number, rule: RecurrenceRule): readonly number[] {
  const days = Array.from({ length: lengthOfMonth(begin) }, (_, index) => begin + index * DAY_MS);
  if (rule.byDay.length > 0 || rule.byMonthDay.length > 0) return days.filter((day) => fitsDay(day, rule));
  const wanted = new Date(start).getUTCDate();
  return days.filter((day) => new Date(day).getUTCDate() === wanted);
}

function fitsDay(day: number, { byDay, byMonthDay }: RecurrenceRule): boolean {
  const number = new Date(day).getUTCDate();
  const fromEnd = number - lengthOfMonth(day) - 1;
  const fitsNumber = byMonthDay.length === 0 || byMonthDay.includes(number) || byMonthDay.includes(fromEnd);
  return (
    fitsNumber && (byDay.length === 0 || byDay.some((wanted) => isWeekday(wanted, day, number, fromEnd)))
  );
}

function isWeekday(
  wanted: { readonly week: number; readonly day: number },
  day: number,
  number: number,
  fromEnd: number,
): boolean {
  if (new Date(day).getUTCDay() !== wanted.day) return false;
  if (wanted.week === 0) return true;
  return wanted.week === (wanted.week > 0 ? Math.ceil(number / 7) : -Math.ceil(-fromEnd / 7));
}

function inMonths(day: number, { byMonth }: RecurrenceRule): boolean {
  return byMonth.length === 0 || byMonth.includes(new Date(day).getUTCMonth() + 1);
}

function lengthOfMonth(day: number): number {
  const date = new Date(day);
  return new Date(wallTime(date.getUTCFullYear(), date.getUTCMonth() + 2, 0)).getUTCDate();
}

function dayOf(wall: number): number {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

function timeOfDay(wall: number): number {
  return wall - dayOf(wall);
}
