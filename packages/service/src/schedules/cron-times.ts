/** Cron lines with a time zone: whether they can be used, and their due times. `croner` is loaded on first use. */
import { done, type Result, refused } from "@metier/base/result";

export interface CronTimes {
  /** The first due time after this one; `undefined`: there is none any more. */
  after(time: number): number | undefined;
}

/** Five fields, minutes first; `@hourly` and the like. Seconds and years are not for schedules. */
export async function readCron(line: string, timeZone: string): Promise<Result<CronTimes>> {
  const hint = "Write five fields, such as `0 7 * * 1-5`, and a time zone such as `Europe/Berlin`.";
  if (!isTimeZone(timeZone))
    return refused({ message: `\`${timeZone.slice(0, 60)}\` is not a time zone.`, hint });
  const { Cron } = await import("croner");
  try {
    const cron = new Cron(line, { timezone: timeZone, paused: true, mode: "5-part" });
    const after = (time: number): number | undefined => cron.nextRun(new Date(time))?.getTime();
    if (after(Date.now()) === undefined) return refused({ message: "This cron line is never due.", hint });
    return done({ after });
  } catch (fault) {
    const message = fault instanceof Error ? fault.message : String(fault);
    return refused({ message: `The cron line cannot be used: ${message.slice(0, 200)}`, hint });
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false; // The one way to ask.
  }
}
