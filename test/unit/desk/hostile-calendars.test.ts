/** Calendar files that are damaged, or meant to keep the reader busy. */
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readContentLines, splitLines } from "../../../src/desk/calendar/content-lines.ts";
import { listEvents } from "../../../src/desk/calendar/list-events.ts";
import { createDesk } from "../../support/desk.ts";

async function listAll(files: Readonly<Record<string, string | Buffer>>) {
  const desk = createDesk();
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(desk.folder, "calendar", name), content);
  const answer = await listEvents({ from: "2026-01-01", to: "2026-12-31", limit: 500 }, desk);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  return answer.ok ? (answer.value as any) : answer.fault;
}

const event = (...lines: readonly string[]): string => ["BEGIN:VEVENT", ...lines, "END:VEVENT"].join("\r\n");

test("rules that never end, or never come true, are bounded", async () => {
  const rules = [
    "FREQ=DAILY",
    "FREQ=DAILY;COUNT=50000",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=DAILY;INTERVAL=1000",
  ];
  const many = Array.from({ length: 40 }, (_, index) =>
    event(`UID:${index}`, "DTSTART:19000101T000000Z", `RRULE:${rules[index % rules.length]}`),
  );
  const { events, complete } = await listAll({ "a.ics": `BEGIN:VCALENDAR\r\n${many.join("\r\n")}\r\n` });
  expect(events.length).toBe(500);
  expect(complete).toBe(false);
});

test("thousands of exceptions cost no more than reading them", async () => {
  const days = Array.from(
    { length: 20_000 },
    (_, index) => `2026${String(1 + (index % 12)).padStart(2, "0")}10T090000Z`,
  );
  const text = event("UID:1", "DTSTART:20260101T090000Z", "RRULE:FREQ=DAILY", `EXDATE:${days.join(",")}`);
  expect((await listAll({ "a.ics": text })).total).toBe(364 - 12);
});

test("what is no event is passed over, and what is one beside it is shown", async () => {
  const { events } = await listAll({
    "empty.ics": "",
    "binary.ics": Buffer.from([0, 255, 254, 10, 13, 58, 59]),
    "unclosed.ics": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20260301T090000",
    "strange.ics": [
      event("UID:no-start", "SUMMARY:x"),
      event("DTSTART:20260301T090000", "SUMMARY:no uid"),
      event("UID:bad", "DTSTART:20261345T990000"),
      "END:VEVENT",
      event("UID:good", "DTSTART:20260301T090000", "DTEND:20250101T000000", "SUMMARY:good\u202e\u0000"),
    ].join("\n"),
  });
  expect(events).toHaveLength(1);
  expect(events[0]).toMatchObject({ uid: "good", title: "good" });
  expect(events[0].start).toBe(events[0].end);
});

test("a link among the files is not followed, and a file that is too large is told", async () => {
  const desk = createDesk();
  writeFileSync(join(desk.folder, "other"), event("UID:1", "DTSTART:20260301T090000"));
  symlinkSync(join(desk.folder, "other"), join(desk.folder, "calendar", "link.ics"));
  writeFileSync(join(desk.folder, "calendar", "large.ics"), Buffer.alloc(6_000_000, "x"));
  expect(await listEvents({}, desk)).toMatchObject({ ok: true, value: { events: [], complete: false } });
});

test("no bytes make it throw", async () => {
  const line = fc.oneof(
    fc.constantFrom(
      "BEGIN:VEVENT",
      "END:VEVENT",
      "UID:1",
      "DTSTART:20260301T090000",
      'DTSTART;TZID="',
      "BEGIN:",
    ),
    fc.constantFrom(
      "RRULE:FREQ=WEEKLY;BYDAY=",
      "RRULE:FREQ=MONTHLY;BYMONTHDAY=-31",
      "EXDATE:,,,",
      "DURATION:-P1D",
      " ;:",
    ),
    fc.string({ unit: "binary" }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line), async (lines) => {
      expect(await listAll({ "a.ics": lines.join("\n") })).toMatchObject({ timezone: "Europe/Berlin" });
    }),
    { numRuns: 100 },
  );
});

test("a line with endless parameters takes no longer than reading it", () => {
  const [line] = readContentLines(splitLines(Buffer.from(`A${';b="c'.repeat(100_000)}`)));
  expect(line).toBeUndefined();
  const [long] = readContentLines(splitLines(Buffer.from(`A${";b=c,d".repeat(50_000)}:value`)));
  expect(long).toMatchObject({ name: "A", value: "value" });
});
