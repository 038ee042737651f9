/** `desk.calendar` over real iCalendar files. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CALENDAR_OPERATIONS } from "../calendar.ts";
import type { Call, JsonObject } from "../operation.ts";
import { makeCall, perform } from "./world.ts";

function putCalendar(call: Call, name: string, ...events: readonly (readonly string[])[]): void {
  mkdirSync(join(call.folder, "calendar"), { recursive: true });
  const lines = events.flatMap((event) => ["BEGIN:VEVENT", ...event, "END:VEVENT"]);
  const text = ["BEGIN:VCALENDAR", "VERSION:2.0", ...lines, "END:VCALENDAR"].join("\r\n");
  writeFileSync(join(call.folder, "calendar", name), text);
}

function ask(call: Call, name: string, input: JsonObject) {
  return perform(CALENDAR_OPERATIONS, name, input, call);
}

async function list(call: Call, from = "2026-03-01", to = "2026-04-01"): Promise<readonly string[]> {
  const { events } = await ask(call, "list_events", { from, to });
  return events.map(({ title, start }: { title: string; start: string }) => `${title} ${start}`);
}

const AT_9 = "DTSTART;TZID=Europe/Berlin:20260302T090000";

test("shows what touches the days, in order, and nothing that was cancelled", async () => {
  const call = makeCall();
  expect(await list(call)).toEqual([]);
  putCalendar(
    call,
    "a.ics",
    ["UID:1", "SUMMARY:before", "DTSTART:20260309T220000", "DTEND:20260310T000000"],
    ["UID:2", "SUMMARY:into", "DTSTART:20260309T230000", "DTEND:20260310T010000"],
    ["UID:3", "SUMMARY:day", "DTSTART;VALUE=DATE:20260310"],
    ["UID:4", "SUMMARY:utc", "DTSTART:20260310T080000Z"],
    ["UID:5", "SUMMARY:after", "DTSTART:20260311T000000"],
    ["UID:6", "SUMMARY:off", "DTSTART:20260310T120000", "STATUS:CANCELLED"],
  );
  expect(await list(call, "2026-03-10", "2026-03-11")).toEqual([
    "into 2026-03-09T23:00:00",
    "day 2026-03-10",
    "utc 2026-03-10T08:00:00Z",
  ]);
});

test("expands recurring events, without exceptions and with what was moved", async () => {
  const call = makeCall();
  putCalendar(
    call,
    "a.ics",
    [
      "UID:1",
      "SUMMARY:weekly",
      AT_9,
      "RRULE:FREQ=WEEKLY;COUNT=4",
      "EXDATE;TZID=Europe/Berlin:20260323T090000",
    ],
    ["UID:1", "SUMMARY:moved", "RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000", "DTSTART:20260310T110000"],
  );
  expect(await list(call)).toEqual([
    "weekly 2026-03-02T09:00:00",
    "moved 2026-03-10T11:00:00",
    "weekly 2026-03-16T09:00:00",
  ]);
  const { events } = await ask(call, "list_events", { from: "2026-03-02", to: "2026-03-03" });
  expect(events).toMatchObject([{ uid: "1", recurring: true, timezone: "Europe/Berlin" }]);
});

test("bounds endless rules, and names the files that it cannot read", async () => {
  const call = makeCall();
  putCalendar(
    call,
    "a.ics",
    ["UID:1", "SUMMARY:ok", AT_9],
    ["UID:2", "DTSTART:10000101T000000Z", "RRULE:FREQ=DAILY"],
  );
  putCalendar(call, "b.ics", ["UID:3", AT_9, "RRULE:nonsense"]);
  const folder = join(call.folder, "calendar");
  writeFileSync(join(folder, "c.ics"), Buffer.alloc(2_000_000, "x"));
  symlinkSync(join(folder, "a.ics"), join(folder, "d.ics"));
  const listed = await ask(call, "list_events", { from: "2026-03-01", to: "2026-04-01" });
  expect(listed).toMatchObject({
    events: [{ title: "ok" }],
    complete: false,
    unreadable: ["b.ics", "c.ics", "d.ics"],
  });
});

test("adds an event once for each key, in the user's zone, and shows it", async () => {
  const call = makeCall();
  const input = { title: "Déjeuner, avec; Bob\r\nATTACH:file:///etc/passwd", start: "2026-03-04T12:30" };
  const first = await ask(call, "create_event", input);
  expect(first).toMatchObject({ start: "2026-03-04T12:30", end: "2026-03-04T13:30:00", created: true });
  expect(await ask(call, "create_event", input)).toEqual({ ...first, created: false });
  const names = readdirSync(join(call.folder, "calendar"));
  expect(names).toEqual([`${first.uid}.ics`]);
  const text = readFileSync(join(call.folder, "calendar", names[0] ?? ""), "utf8");
  expect(text).toContain("DTSTART;TZID=Europe/Berlin:20260304T123000\r\n");
  expect(text).not.toMatch(/^ATTACH/m);
  await ask({ ...call, key: "k2" }, "create_event", {
    title: "Fair",
    start: "2026-03-05",
    end: "2026-03-07",
  });
  expect(await list(call, "2026-03-06", "2026-03-07")).toEqual(["Fair 2026-03-05"]);
});

test.each([
  [{ start: "2026-02-30" }, "`start` is `2026-02-30`"],
  [{ start: "2026-03-04T25:00" }, "which does not exist"],
  [{ start: "2026-03-04", end: "2026-03-04T10:00" }, "both times"],
  [{ start: "2026-03-04T10:00", end: "2026-03-04T09:00" }, "later than `start`"],
])("does not add %j", async (input, message) => {
  await expect(ask(makeCall(), "create_event", { title: "x", ...input })).rejects.toThrow(message);
});
