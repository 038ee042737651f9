/** A schedule as it is stored: a cron line, what to start, and the next due time. */
import {
  choiceShape,
  countShape,
  fitShape,
  flagShape,
  jsonShape,
  listShape,
  recordShape,
  testedShape,
  textOrShape,
  textShape,
} from "@metier/base/shape";
import type { StoredRecord } from "@metier/durable";
import type { RunWish } from "../runs/order-run.ts";

export const SCHEDULE_KIND = "schedule";

/** What to do about due times that the server missed: one run for all of them, one for each, or none. */
export const CATCH_UP = ["one", "all", "skip"] as const;

export interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly catchUp: (typeof CATCH_UP)[number];
  readonly isPaused: boolean;
  readonly run: RunWish;
  /** For a run that is approved in advance: what was approved of its skill (see `pinApproved`). */
  readonly approved?: string | undefined;
  /** Milliseconds since 1970. */
  readonly nextAt: number;
  readonly lastAt?: number | undefined;
  readonly lastRun?: string | undefined;
  /** Why the last due time started nothing. */
  readonly lastFault?: string | undefined;
  readonly userId?: string | undefined;
}

const wholeShape = testedShape((value): value is number => Number.isInteger(value), "a whole number");

const wishShape = recordShape<RunWish>(
  {
    skill: textShape,
    message: textShape,
    arguments: textOrShape(textShape, listShape(textShape), "a string, or a list of strings"),
    input: jsonShape,
    agent: textShape,
    approve: choiceShape("ask", "allow"),
    priority: wholeShape,
  },
  ["message", "arguments", "input", "agent", "approve", "priority"],
);

const scheduleShape = recordShape<Schedule>(
  {
    name: textShape,
    cron: textShape,
    timeZone: textShape,
    catchUp: choiceShape(...CATCH_UP),
    isPaused: flagShape,
    run: wishShape,
    approved: textShape,
    nextAt: countShape,
    lastAt: countShape,
    lastRun: textShape,
    lastFault: textShape,
    userId: textShape,
  },
  ["approved", "lastAt", "lastRun", "lastFault", "userId"],
);

/** `undefined`: the record is damaged. */
export function readSchedule({ body }: StoredRecord): Schedule | undefined {
  return fitShape(scheduleShape, body);
}
