/** Cron lines with a time zone: whether they are valid, and their due times. `croner` is loaded on first use. */
import { done, type Result, refused } from "@metier/base/result";

interface CronTimes {
  /** The first due time after this one; `undefined`: there are no more. */
  after(time: number): number | undefined;
  /** The last due times up to this one, at most this many, oldest first. */
  upTo(time: number, most: number): readonly number[];
}

const HINT = "Write five fields, such as `0 7 * * 1-5`, and a time zone such as `Europe/Berlin`.";

/** Five fields, minutes first, or names such as `@hourly`. Schedules don't support seconds and years. */
export async function readCron(line: string, timeZone: string): Promise<Result<CronTimes>> {
  if (!isTimeZone(timeZone)) {
    return refused({ message: `\`${timeZone.slice(0, 60)}\` is not a time zone.`, hint: HINT });
  }
  const { Cron } = await import("croner");
  try {
    const cron = new Cron(line, { timezone: timeZone, paused: true, mode: "5-part" });
    const after = (time: number): number | undefined => cron.nextRun(new Date(time))?.getTime();
    const upTo: CronTimes["upTo"] = (time, most) => {
      // The reference time itself doesn't count, and neither do fractions of a second.
      const before = cron.previousRuns(most, new Date(time + 1000)).map((date) => date.getTime());
      return before.filter((due) => due <= time).toReversed();
    };
    if (after(Date.now()) !== undefined) return done({ after, upTo });
  } catch (fault) {
    // It searches for the next due time by recursion, so a line that is never due may end here too.
    if (!(fault instanceof RangeError)) {
      const message = fault instanceof Error ? fault.message : String(fault);
      return refused({ message: `Invalid cron line: ${message.slice(0, 200)}`, hint: HINT });
    }
  }
  return refused({ message: "This cron line is never due.", hint: HINT });
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false; // The only way to check.
  }
}
