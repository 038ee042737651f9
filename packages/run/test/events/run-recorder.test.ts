import { createRedactor } from "@metier/sandbox/secrets";
import { describe, expect, test } from "vitest";
import { collect, FINISHED, SAMPLE_RUN, STARTED } from "../../../../test/support/sample-run.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { RunEventBody } from "../../src/events/run-event.ts";
import { createRunRecorder, type RunSink, shareSink } from "../../src/events/run-recorder.ts";

const SECRET = { name: "API_KEY", value: "hunter2hunter2" };

function recorderWith(sinks: readonly RunSink[], secrets = [SECRET]) {
  let now = Date.UTC(2026, 0, 1);
  const clock = () => now++;
  return createRunRecorder({ runId: "mf3k2a00-00000a", sinks, redactor: createRedactor(secrets), clock });
}

describe("a recorder", () => {
  verifies(205, "stamps and numbers every event, and gives it to everyone who listens", async () => {
    const sinks = [collect(), collect()];
    const recorder = recorderWith(sinks);
    for (const body of SAMPLE_RUN) recorder.emit(body);
    await recorder.close();
    const [first, second] = sinks;
    expect(first?.events[0]).toEqual({
      v: 1,
      runId: "mf3k2a00-00000a",
      seq: 1,
      at: "2026-01-01T00:00:00.000Z",
      ...STARTED,
    });
    const stored = first?.events.filter(({ type }) => type !== "text-delta") ?? [];
    expect(stored.map(({ seq }) => seq)).toEqual(stored.map((_, index) => index + 1));
    expect(second?.events).toEqual(first?.events);
    expect(sinks.map(({ closed }) => closed)).toEqual([true, true]);
  });

  test("redacts texts, tool input and its keys, but no word of its own", () => {
    const sink = collect();
    const recorder = recorderWith([sink], [SECRET, { name: "WORD", value: "completed" }]);
    recorder.emit({
      type: "tool-called",
      step: 1,
      callId: "c1",
      tool: "bash",
      input: { status: "completed", hunter2hunter2: ["x hunter2hunter2"] },
      decision: "allow",
      rule: "for hunter2hunter2",
    });
    recorder.emit({ ...FINISHED, text: "completed with hunter2hunter2" });
    expect(sink.events).toMatchObject([
      {
        input: { status: "[redacted:WORD]", "[redacted:API_KEY]": ["x [redacted:API_KEY]"] },
        decision: "allow",
        rule: "for [redacted:API_KEY]",
      },
      { status: "completed", text: "[redacted:WORD] with [redacted:API_KEY]" },
    ]);
  });

  test("finds a secret that is split over pieces of text, and gives out the rest before the next event", () => {
    const sink = collect();
    const recorder = recorderWith([sink]);
    for (const text of ["key: hunt", "er2hun", "ter2", " and hunt"])
      recorder.emit({ type: "text-delta", step: 1, text });
    recorder.emit({ type: "diagnostic", code: "x", message: "y" });
    const texts = sink.events.flatMap((event) => (event.type === "text-delta" ? event.text : []));
    expect(texts.join("")).toBe("key: [redacted:API_KEY] and hunt");
    expect(sink.events.at(-1)?.type).toBe("diagnostic");
  });

  test("goes on when a sink fails, and says so once", async () => {
    let writes = 0;
    const failing: RunSink = {
      name: "log",
      write() {
        writes += 1;
        throw new Error("no room for hunter2hunter2");
      },
    };
    const sink = collect();
    const recorder = recorderWith([failing, sink]);
    recorder.emit(STARTED);
    recorder.emit(FINISHED);
    await recorder.close();
    expect(writes).toBe(1);
    expect(sink.events.map(({ type }) => type).toSorted()).toEqual([
      "diagnostic",
      "run-finished",
      "run-started",
    ]);
    expect(recorder.diagnostics).toMatchObject([{ code: "run.sink-failed" }]);
    expect(recorder.diagnostics[0]?.message).toContain("no room for [redacted:API_KEY]");
  });

  test("tells those that are still open when one cannot be closed, and not those that are closed", async () => {
    const [closed, open] = [collect(), collect()];
    const failing: RunSink = {
      name: "recording",
      write: () => undefined,
      close: () => Promise.reject(new Error("no such folder")),
    };
    const recorder = recorderWith([closed, failing, open]);
    recorder.emit(FINISHED);
    await recorder.close();
    expect(recorder.diagnostics).toMatchObject([{ code: "run.sink-failed" }]);
    expect([closed, open].map(({ events }) => events.map(({ type }) => type))).toEqual([
      ["run-finished"],
      ["run-finished", "diagnostic"],
    ]);
  });

  test("of a nested run leaves a shared sink open", async () => {
    const sink = collect();
    const nested = recorderWith([shareSink(sink)]);
    nested.emit(STARTED satisfies RunEventBody);
    await nested.close();
    expect([sink.events.length, sink.closed]).toEqual([1, false]);
  });
});
