/** Times and durations as iCalendar writes them: a day, a time of a place, a time in UTC, or one of wherever you are. */
import type { ContentLine } from "./content-lines.ts";
import { findZone } from "./zone-names.ts";
import { DAY_MS, instantOf, readWallTime } from "./zoned-time.ts";

export interface EventTime {
  readonly wall: number;
  /** A day, not a time. */
  readonly isDay: boolean;
  readonly zone: string;
}

const TIME = /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?$/;
const DURATION =
  /^([+-]?)P(?:(\d{1,4})W|(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:(\d{1,7})S)?)?)$/;

/** `defaultZone`: for times without a zone, and for zones that nobody knows. */
export function readEventTime(
  value: string,
  tzid: string | undefined,
  defaultZone: string,
): EventTime | undefined {
  const match = TIME.exec(value.trim());
  if (!match) return undefined;
  const wall = readWallTime(match.slice(1, 7));
  if (wall === undefined) return undefined;
  const named = match[7] === "Z" ? "UTC" : tzid && findZone(tzid);
  return { wall, isDay: match[4] === undefined, zone: named || defaultZone };
}

/** The times of a line, which may be several with commas between them. */
export function readTimes(line: ContentLine, defaultZone: string): readonly EventTime[] {
  const tzid = line.parameters.get("TZID");
  return line.value
    .split(",")
    .map((value) => readEventTime(value, tzid, defaultZone))
    .filter((time) => time !== undefined);
}

/** Milliseconds; one that runs backwards is none. */
export function readDuration(value: string): number | undefined {
  const match = DURATION.exec(value.trim());
  if (!match || match[1] === "-") return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(2)
    .map((part) => Number(part ?? 0));
  return (weeks * 7 + days) * DAY_MS + ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

/** What times are compared by: an instant, and for a day its own number. */
export function keyOf({ wall, isDay, zone }: EventTime): number {
  return isDay ? wall : instantOf(wall, zone);
}

/** As iCalendar writes it, without its zone. */
export function writeWall(wall: number, isDay: boolean): string {
  const text = new Date(wall).toISOString().replace(/[-:]/g, "");
  return isDay ? text.slice(0, 8) : text.slice(0, 15);
}
