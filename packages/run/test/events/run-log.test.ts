import { spawn } from "node:child_process";
import {
  appendFileSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { metierPlaces } from "@metier/base/places";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../../test/support/repository.ts";
import { lines, SAMPLE_RUN, STARTED, stamped } from "../../../../test/support/sample-run.ts";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { parseEventLines, readLogEnds, readRunLog } from "../../src/events/read-log.ts";
import {
  createRunId,
  isRunId,
  openRecording,
  openRunLog,
  readRecording,
  runFolder,
  runIdTime,
} from "../../src/events/run-log.ts";

const STORED = SAMPLE_RUN.filter(({ type }) => type !== "text-delta");

describe("run ids", () => {
  test("sort by time, are safe as folder names, and tell when the run began", () => {
    const times = [0, 1, 999, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + 1, Date.UTC(2058, 0, 1)];
    const ids = times.map(createRunId);
    expect(ids.every((id) => isRunId(id) && /^[0-9a-z-]+$/.test(id))).toBe(true);
    expect(ids.toSorted()).toEqual(ids);
    expect(ids.map(runIdTime)).toEqual(times);
    expect(new Set(Array.from({ length: 100 }, () => createRunId(1))).size).toBe(100);
  });

  test("cannot lead out of the folder of runs", () => {
    for (const id of ["..", "../x", "", "a/b"])
      expect(() => runFolder(metierPlaces("/h"), id)).toThrow(TypeError);
  });
});

describe("the log", () => {
  test("stands in folders and files that only the user can read, without pieces of text", () => {
    const places = metierPlaces(temporaryFolder());
    const runId = createRunId();
    const log = openRunLog(places, runId);
    const events = stamped(SAMPLE_RUN, runId);
    for (const event of events) log.write(event);
    log.close?.();
    const { folder, log: file } = runFolder(places, runId);
    expect(file).toBe(join(places.base, "state", "runs", runId, "events.jsonl"));
    for (const path of [places.base, places.state, places.runs, folder])
      expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readRunLog(file)).toEqual({
      ok: true,
      value: {
        events: events.filter(({ type }) => type !== "text-delta"),
        unknown: 0,
        broken: 0,
        torn: false,
      },
    });
    expect(() => openRunLog(places, runId)).toThrow("EEXIST");
  });

  test("is readable up to the last event when the process is killed", async () => {
    const home = temporaryFolder();
    const runId = createRunId();
    const url = (path: string) => JSON.stringify(pathToFileURL(join(ROOT, path)).href);
    const script = `
      const { openRunLog } = await import(${url("packages/run/src/events/run-log.ts")});
      const { metierPlaces } = await import(${url("packages/base/src/places.ts")});
      const log = openRunLog(metierPlaces(${JSON.stringify(home)}), ${JSON.stringify(runId)});
      const event = ${JSON.stringify(stamped([STARTED], runId)[0])};
      for (let seq = 1; ; seq++) {
        log.write({ ...event, seq, location: "x".repeat(seq % 5000) });
        if (seq === 500) process.stdout.write("going");
      }`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], { stdio: "pipe" });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const reading = readRunLog(runFolder(metierPlaces(home), runId).log);
    if (!reading.ok) throw new Error(reading.refusal.message);
    const { events, broken } = reading.value;
    expect(broken).toBe(0);
    expect(events.length).toBeGreaterThanOrEqual(500);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });
});

describe("reading a log", () => {
  const text = lines(stamped(STORED));

  test("gives, wherever it was cut off, every event that was written whole", () => {
    fc.assert(
      fc.property(fc.nat(text.length), (length) => {
        const cut = text.slice(0, length);
        const { events, broken, torn } = parseEventLines(cut);
        expect(events.length).toBe(cut.split("\n").length - 1);
        expect([broken, torn]).toEqual([0, length > 0 && !cut.endsWith("\n")]);
      }),
    );
  });

  test("counts what a newer version wrote and what is no event", () => {
    const [started] = stamped([STARTED]);
    const { events, unknown, broken } = parseEventLines(
      `${lines([
        started,
        { ...started, v: 2 },
        { ...started, type: "dream" },
        { ...started, tools: "bash" },
        7,
        null,
      ])}{}\nnot json\n\n`,
    );
    expect([events, unknown, broken]).toEqual([[started], 2, 5]);
  });

  test("can be of its ends alone, however long its lines are", () => {
    const file = join(temporaryFolder(), "events.jsonl");
    const [started, ...rest] = stamped(STORED);
    const finished = rest.at(-1);
    const long = { ...finished, text: "x".repeat(300_000) };
    writeFileSync(file, lines([started, ...rest.slice(0, -1), long]));
    expect(readLogEnds(file)).toEqual({ first: started, last: long });
    appendFileSync(file, '{"v":1,"ty');
    expect(readLogEnds(file)).toEqual({ first: started, last: long });
    writeFileSync(file, lines([started]));
    expect(readLogEnds(file)).toEqual({ first: started, last: started });
    writeFileSync(file, "");
    expect(readLogEnds(file)).toEqual({});
    expect(readLogEnds(join(file, "none"))).toBeUndefined();
  });
});

describe("a recording", () => {
  test("is read back as it was written, and replaced by the next one", () => {
    const file = join(temporaryFolder(), "run.jsonl");
    const events = stamped(SAMPLE_RUN);
    for (let time = 0; time < 2; time++) {
      const recording = openRecording(file);
      for (const event of events) recording.write(event);
      recording.close();
    }
    const stored = events.filter(({ type }) => type !== "text-delta");
    expect(readRecording(file)).toEqual({ ok: true, events: stored });
    expect(readFileSync(file, "utf8")).toBe(lines(stored));
  });

  test("of two runs at once is that of the last to finish, whole", () => {
    const folder = temporaryFolder();
    const file = join(folder, "run.jsonl");
    const [first, second] = [openRecording(file), openRecording(file)];
    const events = stamped([STARTED]);
    for (const event of events) first.write(event);
    for (const event of events) second.write({ ...event, runId: "other" });
    second.close();
    expect(readFileSync(file, "utf8")).toContain('"runId":"other"');
    first.close();
    expect(readFileSync(file, "utf8")).toBe(lines(events));
    expect(readdirSync(folder)).toEqual(["run.jsonl"]);
  });

  test("of a run that did not come about leaves what was there", () => {
    const folder = temporaryFolder();
    const file = join(folder, "run.jsonl");
    writeFileSync(file, "before");
    openRecording(file).discard();
    expect(readFileSync(file, "utf8")).toBe("before");
    expect(readdirSync(folder)).toEqual(["run.jsonl"]);
  });

  test("goes through a link, and replaces neither a folder nor a device", () => {
    const folder = temporaryFolder();
    const [file, link, lost] = [join(folder, "a"), join(folder, "b"), join(folder, "c")] as const;
    writeFileSync(file, "");
    symlinkSync(file, link);
    symlinkSync(join(folder, "none"), lost);
    openRecording(link).close();
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    for (const path of [folder, "/dev/null"]) expect(() => openRecording(path)).toThrow("not a regular file");
    expect(() => openRecording(lost)).toThrow("link is broken");
  });

  test.each([
    ["is not there", undefined, "does not exist"],
    [
      "was made by a newer version",
      lines([{ ...stamped([STARTED])[0], v: 2 }]),
      "a newer Metier recorded it",
    ],
    ["is another file", "# Title\n\ntext\n", "2 of its lines are not events"],
    ["is empty", "", "does not start with the start of a run"],
    ["was cut off in its first line", '{"v":1', "it is cut off"],
  ])("that %s is refused with the reason", (_, content, words) => {
    const file = join(temporaryFolder(), "run.jsonl");
    if (content !== undefined) writeFileSync(file, content);
    const recording = readRecording(file);
    expect(recording).toMatchObject({ ok: false, message: expect.stringContaining(words) });
  });
});
