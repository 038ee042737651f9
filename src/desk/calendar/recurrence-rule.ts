/** `RRULE`: days, weeks, months and years, with the parts that calendars of people have. Others are told, not guessed. */
import { type EventTime, readEventTime } from "./event-time.ts";

export const WEEKDAYS = ["SU", "MO", "TU", "WE", "TH", "FR", "SA"] as const;

export interface RecurrenceRule {
  readonly frequency: "DAILY" | "WEEKLY" | "MONTHLY" | "YEARLY";
  readonly interval: number;
  readonly count?: number;
  readonly until?: EventTime;
  /** `week`: the how-manieth of the month, from the end if below 0; 0 for every one. Days from 0, Sunday. */
  readonly byDay: readonly { readonly week: number; readonly day: number }[];
  /** From the end of the month if below 0. */
  readonly byMonthDay: readonly number[];
  readonly byMonth: readonly number[];
  readonly weekStart: number;
}

const FREQUENCY = /^(?:DAILY|WEEKLY|MONTHLY|YEARLY)$/;
const KNOWN = /^(?:FREQ|INTERVAL|COUNT|UNTIL|BYDAY|BYMONTHDAY|BYMONTH|WKST)$/;
const MAX_COUNT = 50_000;
const MAX_INTERVAL = 1_000;

/** `undefined`: it cannot be followed. `zone`: of the event. */
export function readRule(value: string, zone: string): RecurrenceRule | undefined {
  const parts = new Map<string, string>();
  for (const part of value.slice(0, 2_000).toUpperCase().split(";")) {
    const [name = "", text = ""] = part.trim().split("=");
    if (name === "") continue;
    if (!KNOWN.test(name)) return undefined;
    parts.set(name, text);
  }
  const frequency = parts.get("FREQ") ?? "";
  const interval = numberOf(parts.get("INTERVAL") ?? "1", 1, MAX_INTERVAL);
  const count = parts.has("COUNT") ? numberOf(parts.get("COUNT") ?? "", 1, MAX_COUNT) : undefined;
  const until = parts.has("UNTIL") ? readEventTime(parts.get("UNTIL") ?? "", undefined, zone) : undefined;
  const byDay = listOf(parts.get("BYDAY"), readWeekday);
  const byMonthDay = listOf(parts.get("BYMONTHDAY"), (text) => nonZero(numberOf(text, -31, 31)));
  const byMonth = listOf(parts.get("BYMONTH"), (text) => numberOf(text, 1, 12));
  const weekStart = (WEEKDAYS as readonly string[]).indexOf(parts.get("WKST") ?? "MO");
  const isRead =
    FREQUENCY.test(frequency) &&
    interval !== undefined &&
    parts.has("COUNT") === (count !== undefined) &&
    parts.has("UNTIL") === (until !== undefined) &&
    weekStart !== -1;
  if (!isRead || !byDay || !byMonthDay || !byMonth) return undefined;
  const rule = { frequency: frequency as RecurrenceRule["frequency"], interval, byDay, byMonthDay, byMonth };
  if (!isClear(rule)) return undefined;
  return { ...rule, weekStart, ...(count && { count }), ...(until && { until }) };
}

/** What the how-manieth weekday of a day, a week or a whole year is, is left to others. */
function isClear({ frequency, byDay, byMonth, byMonthDay }: Omit<RecurrenceRule, "weekStart">): boolean {
  const hasWeeks = byDay.some(({ week }) => week !== 0);
  if (frequency === "DAILY") return !hasWeeks;
  if (frequency === "WEEKLY") return !hasWeeks && byMonthDay.length === 0;
  if (frequency === "MONTHLY") return true;
  return byDay.length === 0 || byMonth.length > 0;
}

function readWeekday(text: string): { week: number; day: number } | undefined {
  const [, week = "", name = ""] = /^([+-]?[1-5])?(SU|MO|TU|WE|TH|FR|SA)$/.exec(text) ?? [];
  const day = (WEEKDAYS as readonly string[]).indexOf(name);
  return day === -1 ? undefined : { week: Number(week), day };
}

/** `undefined` when one of them cannot be read; empty when there is no such part. */
function listOf<Item>(
  text: string | undefined,
  read: (part: string) => Item | undefined,
): readonly Item[] | undefined {
  if (text === undefined) return [];
  const items = text.split(",").map((part) => read(part.trim()));
  const known = items.filter((item) => item !== undefined);
  return known.length === items.length ? known : undefined;
}

function numberOf(text: string, least: number, most: number): number | undefined {
  const number = /^[+-]?\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : undefined;
}

function nonZero(number: number | undefined): number | undefined {
  return number === 0 ? undefined : number;
}
