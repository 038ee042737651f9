/** `desk.calendar`: its operations with their schemas. */
import { type DeskOperation, defineOperation } from "../desk-operation.ts";
import { listOf, objectOf, textOf, wholeNumber, yesOrNo } from "../schemas.ts";
import { cancelEvent } from "./cancel-event.ts";
import { createEvent } from "./create-event.ts";
import { TIME_FORMS } from "./given-time.ts";
import { listEvents } from "./list-events.ts";
import { WEEKDAYS } from "./recurrence-rule.ts";

const TIME = textOf(40, `A time: ${TIME_FORMS}`);
const ZONE = textOf(60, "A time zone such as `Europe/Berlin`. Default: the caller's, or `UTC`.");
const UID = textOf(500, "Of an event, as `list_events` gives it.", { minLength: 1 });

const EVENT = {
  uid: { type: "string" },
  title: { type: "string" },
  start: textOf(40, "A day for events of whole days, otherwise a time with its offset."),
  end: textOf(40, "For whole days: the day after the last one."),
  all_day: { type: "boolean" },
  status: { enum: ["confirmed", "tentative", "cancelled"] },
  recurring: { type: "boolean" },
  "recurrence_unclear?": yesOrNo("It recurs in a way that is not understood; only its first time is known."),
  "location?": { type: "string" },
  "description?": { type: "string" },
};

const REPEAT = objectOf({
  every: { enum: ["day", "week", "month", "year"] },
  "interval?": wholeNumber(1, 1_000, "Every so many days, weeks, months or years."),
  "count?": wholeNumber(1, 1_000, "How many times, the first one included."),
  "until?": textOf(10, "The last day, such as `2026-12-31`."),
  "on?": listOf({ enum: [...WEEKDAYS] }, 7, { minItems: 1 }),
});

export const CALENDAR_OPERATIONS: readonly DeskOperation[] = [
  defineOperation({
    name: "list_events",
    description:
      "What is in the calendar between two times, in order; recurring events at each of their times.",
    inputSchema: objectOf({
      "from?": { ...TIME, description: `Default: now. ${TIME_FORMS}` },
      "to?": { ...TIME, description: `Default: 7 days after \`from\`. ${TIME_FORMS}` },
      "timezone?": ZONE,
      "limit?": wholeNumber(1, 500, "The most that is answered.", { default: 50 }),
      "include_cancelled?": yesOrNo("Show cancelled events too."),
    }),
    outputSchema: objectOf({
      from: { type: "string" },
      to: { type: "string" },
      timezone: { type: "string" },
      events: listOf(objectOf(EVENT), 500),
      total: { type: "integer", minimum: 0 },
      complete: yesOrNo("Nothing was left out."),
    }),
    perform: listEvents,
  }),
  defineOperation({
    name: "create_event",
    description: "Puts an event into the calendar; it may recur.",
    mutating: true,
    inputSchema: objectOf({
      title: textOf(300, "What it is.", { minLength: 1 }),
      start: TIME,
      "end?": {
        ...TIME,
        description: "Default: an hour, or the day. For whole days: the day after the last one.",
      },
      "timezone?": ZONE,
      "location?": textOf(300, "Where it is."),
      "description?": textOf(2_000, "More about it."),
      "repeat?": REPEAT,
    }),
    outputSchema: objectOf({ ...EVENT, created: yesOrNo("`false`: an earlier call with this key did.") }),
    perform: createEvent,
  }),
  defineOperation({
    name: "cancel_event",
    description: "Cancels an event, or one time of a recurring one. It stays in the calendar as cancelled.",
    mutating: true,
    inputSchema: objectOf({
      uid: UID,
      "occurrence?": textOf(40, "The `start` of the one time that is cancelled."),
      "timezone?": ZONE,
    }),
    outputSchema: objectOf({
      uid: { type: "string" },
      "occurrence?": { type: "string" },
      status: { enum: ["cancelled"] },
      changed: yesOrNo("`false`: it was cancelled already."),
    }),
    perform: cancelEvent,
  }),
];
