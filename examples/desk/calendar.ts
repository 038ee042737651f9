/** `desk.calendar`: iCalendar files in one folder. Recurring events are expanded by ical.js, in their own local time. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import ICAL from "ical.js";
import { cleanLine, cleanText } from "./clean-text.ts";
import { listNames, readStart, writeOnce } from "./files.ts";
import { type Call, inputOf, invalidInput, type JsonObject, type Operation } from "./operation.ts";

const MAX_FILE_BYTES = 1_000_000;
const MAX_EVENTS = 200;
/** The limit of recurrences per call. A daily event takes 54 years to reach it. */
const MAX_STEPS = 20_000;

const DAY = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" };
const TIME = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2})?$" };

const listEvents: Operation<{ readonly from: string; readonly to: string }> = {
  description: "Events from one day up to another one, which is not included; recurring ones each time.",
  input: inputOf({ from: DAY, to: DAY }, ["from", "to"]),
  perform({ from, to }, call) {
    const events: JsonObject[] = [];
    const unreadable: string[] = [];
    let steps = MAX_STEPS;
    for (const name of listNames(calendarFolder(call)).filter((one) => /^[^.].*\.ics$/.test(one))) {
      try {
        for (const event of readEvents(join(calendarFolder(call), name)))
          for (const occurrence of expand(event, to, () => steps-- > 0)) {
            const shown = showEvent(event, occurrence);
            if (isWithin(shown, from, to)) events.push(shown);
          }
      } catch {
        unreadable.push(cleanLine(name)); // ical.js throws for a file it can't read; the others count.
      }
    }
    const sorted = events.sort((a, b) => String(a.start).localeCompare(String(b.start)));
    const complete = steps > 0 && unreadable.length === 0 && events.length <= MAX_EVENTS;
    return { events: sorted.slice(0, MAX_EVENTS), complete, unreadable };
  },
};

interface CreateInput {
  readonly title: string;
  readonly start: string;
  readonly end?: string;
  readonly location?: string;
}

const createEvent: Operation<CreateInput> = {
  description: "Adds an event, in the user's time zone.",
  mutating: true,
  input: inputOf(
    {
      title: { type: "string", minLength: 1, maxLength: 300 },
      start: { ...TIME, description: "A day (2026-03-04) or a local time (2026-03-04T12:30)." },
      end: { ...TIME, description: "One hour or one day later by default." },
      location: { type: "string", maxLength: 300 },
    },
    ["title", "start"],
  ),
  perform({ title, start, end, location }, call) {
    const event = new ICAL.Event(new ICAL.Component("vevent"));
    // The key becomes the identity, so a second attempt finds the event of the first one.
    event.uid = createHash("sha256").update(call.key).digest("hex");
    event.summary = title;
    if (location) event.location = location;
    event.startDate = readTime("start", start);
    event.endDate = end === undefined ? defaultEnd(event.startDate) : readTime("end", end);
    if (event.startDate.isDate !== event.endDate.isDate || event.endDate.compare(event.startDate) <= 0)
      throw invalidInput("`end` must be later than `start`, and both must be days or both times.");
    for (const name of event.startDate.isDate ? [] : ["dtstart", "dtend"])
      event.component.getFirstProperty(name)?.setParameter("tzid", call.timezone);
    event.component.addPropertyWithValue("dtstamp", ICAL.Time.now());
    const calendar = new ICAL.Component("vcalendar");
    calendar.addPropertyWithValue("version", "2.0");
    calendar.addPropertyWithValue("prodid", "-//Metier//desk example//EN");
    calendar.addSubcomponent(event.component);
    const created = writeOnce(join(calendarFolder(call), `${event.uid}.ics`), calendar.toString());
    return { uid: event.uid, title, start, end: event.endDate.toString(), created };
  },
};

export const CALENDAR_OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["list_events", listEvents],
  ["create_event", createEvent],
]);

function calendarFolder({ folder }: Call): string {
  return join(folder, "calendar");
}

/** Each with its exceptions: occurrences of a recurring event that were moved or changed. */
function readEvents(path: string): readonly ICAL.Event[] {
  const bytes = readStart(path, MAX_FILE_BYTES);
  if (!bytes || bytes.length === MAX_FILE_BYTES) throw new RangeError("No regular file, or too large.");
  const all = new ICAL.Component(ICAL.parse(bytes.toString())).getAllSubcomponents("vevent");
  const isException = (component: ICAL.Component): boolean => component.hasProperty("recurrence-id");
  return all
    .filter((component) => !isException(component))
    .map((component) => {
      const uid = component.getFirstPropertyValue("uid");
      const own = all.filter((one) => isException(one) && one.getFirstPropertyValue("uid") === uid);
      return new ICAL.Event(component, { exceptions: own });
    });
}

type Occurrence = ReturnType<ICAL.Event["getOccurrenceDetails"]>;

function* expand(event: ICAL.Event, to: string, mayGoOn: () => boolean): Generator<Occurrence> {
  const times = event.iterator();
  for (let time = times.next(); time && time.toString() < to && mayGoOn(); time = times.next()) {
    const occurrence = event.getOccurrenceDetails(time);
    if (occurrence.item.component.getFirstPropertyValue("status") !== "CANCELLED") yield occurrence;
    if (!event.isRecurring()) return;
  }
}

/** Times are shown as the file has them: with the name of their zone, or with `Z` for UTC. */
function showEvent(event: ICAL.Event, { item, startDate, endDate }: Occurrence): JsonObject {
  const timezone = item.component.getFirstProperty("dtstart")?.getParameter("tzid");
  return {
    uid: cleanLine(item.uid ?? ""),
    title: cleanLine(item.summary ?? ""),
    start: startDate.toString(),
    end: endDate.toString(),
    ...(typeof timezone === "string" && { timezone: cleanLine(timezone) }),
    recurring: event.isRecurring(),
    location: cleanLine(item.location ?? ""),
    description: cleanText(item.description ?? "", 2000),
  };
}

/** Days and times in this form can be compared as text. */
function isWithin({ start, end }: JsonObject, from: string, to: string): boolean {
  return String(start) < to && (String(start) >= from || String(end) > `${from}T00:00:00`);
}

function readTime(name: string, text: string): ICAL.Time {
  const written = text.length > 10 ? `${text}:00` : text;
  const time = ICAL.Time.fromString(written, undefined);
  // February 30 would become March 2.
  if (time.toString() !== written) throw invalidInput(`\`${name}\` is \`${text}\`, which does not exist.`);
  return time;
}

function defaultEnd(start: ICAL.Time): ICAL.Time {
  const end = start.clone();
  end.addDuration(ICAL.Duration.fromString(start.isDate ? "P1D" : "PT1H"));
  return end;
}
