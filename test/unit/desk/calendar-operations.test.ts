/** `desk.calendar` over real iCalendar files. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/capabilities/capability.ts";
import { CALENDAR_OPERATIONS } from "../../../src/desk/calendar/calendar-capability.ts";
import type { Desk } from "../../../src/desk/desk-operation.ts";
import { checkJson } from "../../../src/validate/json-schema.ts";
import { createDesk } from "../../support/desk.ts";

/** As the broker does it: both ways through the schemas. */
async function perform(desk: Desk, name: string, input: JsonObject = {}) {
  const operation = CALENDAR_OPERATIONS.find((one) => one.name === name);
  if (!operation) throw new Error(name);
  const checked = await checkJson(operation.inputSchema, input);
  if (!checked.ok) return { code: "schema", message: checked.message };
  const answer = await operation.perform(checked.value as JsonObject, desk);
  if (!answer.ok) return answer.fault;
  expect(await checkJson(operation.outputSchema, answer.value)).toMatchObject({ ok: true });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  return answer.value as any;
}

/** A file with one event for each list of lines. */
function putCalendar(desk: Desk, name: string, ...events: readonly (readonly string[])[]): void {
  const text = events.flatMap((lines) => ["BEGIN:VEVENT", ...lines, "END:VEVENT"]);
  const whole = ["BEGIN:VCALENDAR", "VERSION:2.0", ...text, "END:VCALENDAR", ""].join("\r\n");
  writeFileSync(join(desk.folder, "calendar", name), whole);
}

async function list(desk: Desk, from: string, to: string, more: JsonObject = {}): Promise<readonly string[]> {
  const { events } = await perform(desk, "list_events", { from, to, ...more });
  return events.map(({ title, start }: { title: string; start: string }) => `${title} ${start}`);
}

/** The starts of one event, in a month of 2026 and in Berlin. */
async function recurs(lines: readonly string[], month = "03", year = 2026): Promise<readonly string[]> {
  const desk = createDesk();
  putCalendar(desk, "a.ics", ["UID:1", "SUMMARY:x", ...lines]);
  const next = String((Number(month) % 12) + 1).padStart(2, "0");
  const to = `${next === "01" ? year + 1 : year}-${next}-01`;
  return (await list(desk, `${year}-${month}-01`, to)).map((text) => text.slice(2));
}

describe("reading", () => {
  test("folded lines, escapes, zones and whole days", async () => {
    const desk = createDesk();
    putCalendar(
      desk,
      "a.ics",
      [
        "UID:1@example.org",
        "DTSTART;TZID=America/New_York:20260310T090000",
        "DTEND;TZID=America/New_York:20260310T100000",
        "SUMMARY:A long su",
        " mmary\\, with \\;",
        "\t escapes\\nand lines",
        "LOCATION:Café",
        'DESCRIPTION;ALTREP="cid:a;b:c":One\\nTwo',
        "BEGIN:VALARM",
        "SUMMARY:not this",
        "END:VALARM",
      ],
      ["UID:2", "DTSTART;VALUE=DATE:20260312", "SUMMARY:Holiday"],
      ["UID:3", "DTSTART:20260311T230000Z", "DURATION:PT90M", "SUMMARY:Late", "STATUS:TENTATIVE"],
    );
    const answer = await perform(desk, "list_events", { from: "2026-03-10", to: "2026-03-14" });
    expect(answer).toMatchObject({
      from: "2026-03-10T00:00:00+01:00",
      timezone: "Europe/Berlin",
      total: 3,
      complete: true,
    });
    expect(answer.events).toEqual([
      {
        uid: "1@example.org",
        title: "A long summary, with ; escapes and lines",
        start: "2026-03-10T14:00:00+01:00",
        end: "2026-03-10T15:00:00+01:00",
        all_day: false,
        status: "confirmed",
        recurring: false,
        location: "Café",
        description: "One\nTwo",
      },
      expect.objectContaining({ title: "Holiday", start: "2026-03-12", end: "2026-03-13", all_day: true }),
      expect.objectContaining({
        title: "Late",
        start: "2026-03-12T00:00:00+01:00",
        end: "2026-03-12T01:30:00+01:00",
        status: "tentative",
      }),
    ]);
  });

  test("a character that a fold cuts in two is whole again", async () => {
    const desk = createDesk();
    const text = Buffer.from(
      "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nDTSTART:20260310T090000\nSUMMARY:Café\nEND:VEVENT\n",
    );
    const cut = text.indexOf(Buffer.from("é")) + 1;
    const folded = Buffer.concat([text.subarray(0, cut), Buffer.from("\r\n "), text.subarray(cut)]);
    writeFileSync(join(desk.folder, "calendar", "a.ics"), folded);
    expect(await list(desk, "2026-03-10", "2026-03-11")).toEqual(["Café 2026-03-10T09:00:00+01:00"]);
  });

  test.each([
    ["/example.org/20260101_1/Europe/Lisbon", "2026-03-10T10:00:00+01:00"],
    ["Eastern Standard Time", "2026-03-10T14:00:00+01:00"],
    ["Nowhere/At_All", "2026-03-10T09:00:00+01:00"],
  ])("the zone %s is understood, or the caller's is taken", async (zone, start) => {
    expect(await recurs([`DTSTART;TZID=${zone}:20260310T090000`])).toEqual([start]);
  });

  test("what touches the range is in it, and cancelled events only when asked for", async () => {
    const desk = createDesk();
    putCalendar(
      desk,
      "a.ics",
      ["UID:1", "SUMMARY:before", "DTSTART:20260309T220000", "DTEND:20260310T000000"],
      ["UID:2", "SUMMARY:into", "DTSTART:20260309T230000", "DTEND:20260310T010000"],
      ["UID:3", "SUMMARY:instant", "DTSTART:20260310T000000"],
      ["UID:4", "SUMMARY:after", "DTSTART:20260311T000000"],
      ["UID:5", "SUMMARY:off", "DTSTART:20260310T120000", "STATUS:CANCELLED"],
    );
    const names = async (more: JsonObject) =>
      (await list(desk, "2026-03-10", "2026-03-11", more)).map((text) => text.split(" ")[0]);
    expect(await names({})).toEqual(["into", "instant"]);
    expect(await names({ include_cancelled: true })).toEqual(["into", "instant", "off"]);
  });

  test.each([
    [{ from: "soon" }, "`from` is `soon`"],
    [{ from: "2026-02-30" }, "`from` is `2026-02-30`"],
    [{ from: "2026-03-02", to: "2026-03-01" }, "`to` is later"],
    [{ from: "2026-01-01", to: "2028-01-01" }, "at most 366 days"],
    [{ timezone: "Mars/Olympus" }, "`Mars/Olympus` is no time zone"],
  ])("%j is refused with a reason", async (input, message) => {
    const fault = await perform(createDesk(), "list_events", input);
    expect(fault).toMatchObject({ code: "capability_invalid_input" });
    expect(fault.message).toContain(message);
  });
});

describe("recurrence", () => {
  const at9 = "DTSTART;TZID=Europe/Berlin:20260302T090000";

  test("by day keeps its hour when clocks change", async () => {
    const starts = await recurs([at9, "RRULE:FREQ=DAILY;INTERVAL=13"]);
    expect(starts).toEqual([
      "2026-03-02T09:00:00+01:00",
      "2026-03-15T09:00:00+01:00",
      "2026-03-28T09:00:00+01:00",
    ]);
    const spring = await recurs(["DTSTART;TZID=Europe/Berlin:20260328T023000", "RRULE:FREQ=DAILY;COUNT=3"]);
    // 02:30 does not exist on the 29th: the offset before counts.
    expect(spring).toEqual([
      "2026-03-28T02:30:00+01:00",
      "2026-03-29T03:30:00+02:00",
      "2026-03-30T02:30:00+02:00",
    ]);
    const autumn = await recurs(["DTSTART;TZID=Europe/Berlin:20261025T023000"], "10");
    expect(autumn).toEqual(["2026-10-25T02:30:00+02:00"]);
  });

  test("count, until, interval and weekdays", async () => {
    const days = async (rule: string, ...more: readonly string[]) =>
      (await recurs([at9, `RRULE:${rule}`, ...more])).map((start) => start.slice(8, 10)).join(" ");
    expect(await days("FREQ=WEEKLY")).toBe("02 09 16 23 30");
    expect(await days("FREQ=WEEKLY;COUNT=2")).toBe("02 09");
    expect(await days("FREQ=WEEKLY;BYDAY=MO,WE,FR;COUNT=4")).toBe("02 04 06 09");
    expect(await days("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=MO")).toBe("02 03 08 17 22 31");
    expect(await days("FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU")).toBe("02 03 15 17 29 31");
    expect(await days("FREQ=DAILY;UNTIL=20260304T080000Z")).toBe("02 03 04");
    expect(await days("FREQ=DAILY;UNTIL=20260304T075959Z")).toBe("02 03");
    expect(await days("FREQ=DAILY;UNTIL=20260304")).toBe("02 03 04");
    expect(await days("FREQ=DAILY;BYDAY=SA,SU")).toBe("02 07 08 14 15 21 22 28 29");
    expect(await days("FREQ=MONTHLY;BYDAY=-1TU")).toBe("02 31");
    expect(await days("FREQ=MONTHLY;BYDAY=2MO,3FR")).toBe("02 09 20");
    expect(await days("FREQ=MONTHLY;BYMONTHDAY=15,-1")).toBe("02 15 31");
    expect(await days("FREQ=YEARLY;BYMONTH=3;BYDAY=4TH")).toBe("02 26");
    expect(
      await days("FREQ=DAILY;COUNT=5", "EXDATE;TZID=Europe/Berlin:20260303T090000,20260305T090000"),
    ).toBe("02 04 06");
    expect(
      await days("FREQ=DAILY;COUNT=3", "EXDATE:20260303T080000Z", "RDATE;TZID=Europe/Berlin:20260320T090000"),
    ).toBe("02 04 20");
    expect(await days("FREQ=DAILY;COUNT=3", "EXDATE;VALUE=DATE:20260303")).toBe("02 04");
  });

  test("days that a month does not have are passed over, years later, too", async () => {
    expect(await recurs(["DTSTART;VALUE=DATE:20200131", "RRULE:FREQ=MONTHLY"], "03")).toEqual(["2026-03-31"]);
    expect(await recurs(["DTSTART;VALUE=DATE:20200131", "RRULE:FREQ=MONTHLY"], "04")).toEqual([]);
    expect(await recurs(["DTSTART;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY"], "02")).toEqual([]);
    expect(await recurs(["DTSTART;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY"], "02", 2028)).toEqual([
      "2028-02-29",
    ]);
    expect(await recurs(["DTSTART:00010101T090000Z", "RRULE:FREQ=DAILY;INTERVAL=30"], "03")).toHaveLength(1);
  });

  test("a time that was moved stands where it is now; one that was cancelled is gone", async () => {
    const desk = createDesk();
    putCalendar(
      desk,
      "a.ics",
      ["UID:1", "SUMMARY:weekly", at9, "RRULE:FREQ=WEEKLY;COUNT=3"],
      [
        "UID:1",
        "SUMMARY:moved",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260309T090000",
        "DTSTART;TZID=Europe/Berlin:20260310T110000",
      ],
      [
        "UID:1",
        "SUMMARY:weekly",
        "RECURRENCE-ID;TZID=Europe/Berlin:20260316T090000",
        "DTSTART;TZID=Europe/Berlin:20260316T090000",
        "STATUS:CANCELLED",
      ],
    );
    expect(await list(desk, "2026-03-01", "2026-04-01")).toEqual([
      "weekly 2026-03-02T09:00:00+01:00",
      "moved 2026-03-10T11:00:00+01:00",
    ]);
  });

  test.each([
    ["FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1"],
    ["FREQ=SECONDLY"],
    ["FREQ=DAILY;COUNT=-1"],
    ["FREQ=DAILY;UNTIL=never"],
    ["FREQ=WEEKLY;BYDAY=XX"],
    ["nonsense"],
  ])("the rule %s is told as not understood, with its first time alone", async (rule) => {
    const desk = createDesk();
    putCalendar(desk, "a.ics", ["UID:1", at9, `RRULE:${rule}`]);
    const { events } = await perform(desk, "list_events", { from: "2026-03-01", to: "2026-04-01" });
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({ recurring: true, recurrence_unclear: true });
  });
});

describe("creating", () => {
  test("writes a file that other programs read, and lists what it wrote", async () => {
    const desk = createDesk();
    const created = await perform(desk, "create_event", {
      title: "Déjeuner, avec; Bob\nand more",
      start: "2026-03-04T12:30",
      location: "x".repeat(200),
      repeat: { every: "week", on: ["WE"], until: "2026-03-18" },
    });
    expect(created).toMatchObject({
      start: "2026-03-04T12:30:00+01:00",
      end: "2026-03-04T13:30:00+01:00",
      recurring: true,
      created: true,
    });
    const [name = ""] = readdirSync(join(desk.folder, "calendar"));
    const text = readFileSync(join(desk.folder, "calendar", name), "utf8");
    expect(text).toContain("DTSTART;TZID=Europe/Berlin:20260304T123000\r\n");
    expect(text).toContain("RRULE:FREQ=WEEKLY;UNTIL=20260318T225959Z;BYDAY=WE\r\n");
    expect(text).toContain("SUMMARY:Déjeuner\\, avec\\; Bob\\nand more\r\n");
    expect(text.split("\r\n").every((line) => Buffer.byteLength(line) <= 75)).toBe(true);
    expect((await list(desk, "2026-03-01", "2026-04-01")).map((line) => line.slice(-25, -15))).toEqual([
      "2026-03-04",
      "2026-03-11",
      "2026-03-18",
    ]);
  });

  test("whole days, offsets, and times in another zone", async () => {
    const desk = createDesk();
    const create = async (input: JsonObject) => {
      const { start, end, all_day } = await perform(desk, "create_event", { title: "x", ...input });
      return [start, end, all_day];
    };
    expect(await create({ start: "2026-03-04", end: "2026-03-06" })).toEqual([
      "2026-03-04",
      "2026-03-06",
      true,
    ]);
    expect(await create({ start: "2026-03-04T10:00Z" })).toEqual([
      "2026-03-04T11:00:00+01:00",
      "2026-03-04T12:00:00+01:00",
      false,
    ]);
    expect(
      await create({ start: "2026-03-04T10:00", timezone: "Asia/Tokyo", end: "2026-03-04T11:30" }),
    ).toEqual(["2026-03-04T10:00:00+09:00", "2026-03-04T11:30:00+09:00", false]);
  });

  test("with one key one event is made, and the key is for this event alone", async () => {
    const desk = createDesk({ idempotencyKey: "k" });
    const input = { title: "Once", start: "2026-03-04T10:00" };
    const first = await perform(desk, "create_event", input);
    expect(await perform(desk, "create_event", input)).toEqual({ ...first, created: false });
    expect(await perform(desk, "create_event", { ...input, title: "Twice" })).toMatchObject({
      code: "capability_invalid_input",
    });
    expect(readdirSync(join(desk.folder, "calendar"))).toHaveLength(1);
  });

  test("nobody writes a line of their own", async () => {
    const desk = createDesk();
    await perform(desk, "create_event", {
      title: "x\r\nATTACH:file:///etc/passwd",
      start: "2026-03-04T10:00",
    });
    const [name = ""] = readdirSync(join(desk.folder, "calendar"));
    expect(readFileSync(join(desk.folder, "calendar", name), "utf8")).not.toMatch(/^ATTACH/m);
  });

  test.each([
    [{ start: "tomorrow" }, "`start` is `tomorrow`"],
    [{ start: "2026-03-04T25:00" }, "is no time"],
    [{ start: "2026-03-04", end: "2026-03-04T10:00" }, "both be days"],
    [{ start: "2026-03-04T10:00", end: "2026-03-04T09:00" }, "later than `start`"],
    [{ start: "2026-03-04", end: "2026-03-04" }, "later than `start`"],
    [{ start: "2026-03-04", repeat: { every: "month", on: ["MO"] } }, "`repeat.on`"],
    [{ start: "2026-03-04", repeat: { every: "day", count: 2, until: "2026-04-01" } }, "not both"],
    [{ start: "2026-03-04", repeat: { every: "day", until: "later" } }, "`repeat.until` is `later`"],
  ])("%j is refused with a reason", async (input, message) => {
    const fault = await perform(createDesk(), "create_event", { title: "x", ...input });
    expect(fault).toMatchObject({ code: "capability_invalid_input" });
    expect(fault.message).toContain(message);
  });
});

describe("cancelling", () => {
  test("changes the state alone, and can be repeated", async () => {
    const desk = createDesk();
    putCalendar(desk, "a.ics", [
      "UID:1",
      "DTSTART:20260304T100000",
      "X-OWN:kept",
      "STATUS:CONFIRMED",
      "SUMMARY:x",
    ]);
    expect(await perform(desk, "cancel_event", { uid: "1" })).toEqual({
      uid: "1",
      status: "cancelled",
      changed: true,
    });
    expect(await perform(desk, "cancel_event", { uid: "1" })).toMatchObject({ changed: false });
    const text = readFileSync(join(desk.folder, "calendar", "a.ics"), "utf8");
    expect(text).toContain("X-OWN:kept\r\nSTATUS:CANCELLED\r\nSUMMARY:x\r\n");
    expect(await list(desk, "2026-03-04", "2026-03-05")).toEqual([]);
  });

  test.each([
    ["DTSTART;TZID=Europe/Berlin:20260302T090000", "2026-03-09T09:00:00+01:00"],
    ['DTSTART;TZID="/example.org/1/Europe/Berlin":20260302T090000', "2026-03-09T09:00:00+01:00"],
    ["DTSTART:20260302T080000Z", "2026-03-09T08:00:00Z"],
    ["DTSTART:20260302T090000", "2026-03-09T09:00"],
    ["DTSTART;VALUE=DATE:20260302", "2026-03-09"],
  ])("takes one time out of %s", async (start, occurrence) => {
    const desk = createDesk();
    putCalendar(desk, "a.ics", ["UID:1", "SUMMARY:x", start, "RRULE:FREQ=WEEKLY;COUNT=3"]);
    expect(await perform(desk, "cancel_event", { uid: "1", occurrence })).toMatchObject({ changed: true });
    expect(await perform(desk, "cancel_event", { uid: "1", occurrence })).toMatchObject({ changed: false });
    const left = await list(desk, "2026-03-01", "2026-04-01");
    expect(left.map((line) => line.slice(2, 12))).toEqual(["2026-03-02", "2026-03-16"]);
    expect(await perform(desk, "cancel_event", { uid: "1", occurrence: "2026-03-10T09:00" })).toMatchObject({
      code: "capability_invalid_input",
    });
  });

  test("a time that was moved is cancelled where it is now", async () => {
    const desk = createDesk();
    putCalendar(
      desk,
      "a.ics",
      ["UID:1", "SUMMARY:x", "DTSTART:20260302T090000Z", "RRULE:FREQ=WEEKLY;COUNT=2"],
      ["UID:1", "SUMMARY:moved", "RECURRENCE-ID:20260309T090000Z", "DTSTART:20260310T110000Z"],
    );
    await perform(desk, "cancel_event", { uid: "1", occurrence: "2026-03-10T12:00:00+01:00" });
    expect(await list(desk, "2026-03-01", "2026-04-01")).toEqual(["x 2026-03-02T10:00:00+01:00"]);
  });

  test("an event that is not there is refused", async () => {
    expect(await perform(createDesk(), "cancel_event", { uid: "nope" })).toMatchObject({
      code: "capability_invalid_input",
    });
  });
});
