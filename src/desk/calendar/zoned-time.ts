/**
 * Times of a place. A wall time is what a clock there shows, as the milliseconds since 1970 that the same fields would
 * have in UTC; arithmetic on it never meets a change of the clock. `Intl` knows when clocks change.
 */
export const DAY_MS = 86_400_000;

const FORMATS = new Map<string, Intl.DateTimeFormat>();
const PARTS = ["year", "month", "day", "hour", "minute", "second"] as const;

export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false; // `Intl` throws for a name that it does not know.
  }
}

export function wallTimeAt(instant: number, zone: string): number {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = PARTS.map((part) =>
    Number(parts.get(part)),
  );
  return wallTime(year, month, day, hour, minute, second);
}

/** A time that the clock skips counts by the offset before; of one that comes twice, the first is meant (RFC 5545). */
export function instantOf(wall: number, zone: string): number {
  const before = wall - offsetAt(wall - DAY_MS, zone);
  const after = wall - offsetAt(wall + DAY_MS, zone);
  if (before === after) return before;
  const fitting = [before, after].filter((instant) => wallTimeAt(instant, zone) === wall);
  return fitting.length === 0 ? before : Math.min(...fitting);
}

function offsetAt(instant: number, zone: string): number {
  return wallTimeAt(instant, zone) - instant;
}

/** `2026-03-01T09:00:00+01:00` */
export function showInstant(instant: number, zone: string): string {
  const wall = wallTimeAt(instant, zone);
  const minutes = Math.round((wall - instant) / 60_000);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const offset = `${minutes < 0 ? "-" : "+"}${pad(hours)}:${pad(rest)}`;
  return `${new Date(wall).toISOString().slice(0, 19)}${minutes === 0 ? "Z" : offset}`;
}

/** `2026-03-01` */
export function showDay(wall: number): string {
  return new Date(wall).toISOString().slice(0, 10);
}

/** `Date.UTC` takes the years below 100 for others. */
export function wallTime(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): number {
  return new Date(0).setUTCFullYear(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000;
}

/** Year, month, day, hour, minute and second as digits; `undefined` where there is no such day or time. */
export function readWallTime(digits: readonly (string | undefined)[]): number | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = digits.map((part) =>
    Number(part ?? 0),
  );
  // A clock that adds a second shows 60; here the minute has one less.
  const wall = wallTime(year, month, day, hour, minute, Math.min(second, 59));
  const date = new Date(wall);
  // The 31st of February is the 3rd of March for `Date`.
  const isDay = year > 0 && date.getUTCMonth() + 1 === month && date.getUTCDate() === day;
  return isDay && hour < 24 && minute < 60 && second <= 60 ? wall : undefined;
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "gregory",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  FORMATS.set(zone, format);
  return format;
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
