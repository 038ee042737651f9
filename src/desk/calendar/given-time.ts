/** Times as callers write them: a day, a time of a place, or a time with an offset. */
import type { EventTime } from "./event-time.ts";
import { readWallTime, wallTimeAt } from "./zoned-time.ts";

const GIVEN = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/i;

/** What the schemas say about it. */
export const TIME_FORMS =
  "`2026-03-01` for a whole day, `2026-03-01T09:00` for a time in `timezone`, or a time with an offset.";

/** A time with an offset is shown as the clocks of `zone` show it. */
export function readGivenTime(text: string, zone: string): EventTime | undefined {
  const match = GIVEN.exec(text.trim());
  if (!match) return undefined;
  const wall = readWallTime(match.slice(1, 7));
  if (wall === undefined) return undefined;
  const offset = match[7];
  const isDay = match[4] === undefined;
  if (offset === undefined) return { wall, isDay, zone };
  return { wall: wallTimeAt(wall - offsetMs(offset), zone), isDay, zone };
}

function offsetMs(offset: string): number {
  if (/^z$/i.test(offset)) return 0;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(-2));
  return (offset.startsWith("-") ? -minutes : minutes) * 60_000;
}
