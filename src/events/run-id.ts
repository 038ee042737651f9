/** Names of runs: sorted by name they are sorted by time, and they are safe as names of folders. */
import { randomInt } from "node:crypto";

const RUN_ID = /^[0-9a-z]{8}-[0-9a-z]{6}$/;
/** Eight digits to the base of 36 hold milliseconds until the year 2059. */
const TIME_DIGITS = 8;
const RANDOM_DIGITS = 6;

export function createRunId(now: number = Date.now()): string {
  const random = randomInt(36 ** RANDOM_DIGITS).toString(36);
  return `${now.toString(36).padStart(TIME_DIGITS, "0")}-${random.padStart(RANDOM_DIGITS, "0")}`;
}

export function isRunId(text: string): boolean {
  return RUN_ID.test(text);
}

/** When the run began, in milliseconds. */
export function runIdTime(id: string): number {
  return Number.parseInt(id.slice(0, TIME_DIGITS), 36);
}
