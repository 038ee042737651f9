import { type Context, type Span, type SpanOptions, trace } from "@opentelemetry/api";
import { afterEach, describe, expect, test } from "vitest";
import { SAMPLE_RUN, STARTED, stamped } from "../../../../test/support/sample-run.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { RunEventBody } from "../../src/events/run-event.ts";
import { createSpanSink } from "../../src/events/spans.ts";

interface Recorded {
  readonly name: string;
  readonly parent: string | undefined;
  readonly attributes: Record<string, unknown>;
  startTime?: unknown;
  endTime?: unknown;
  status?: unknown;
}

/** A tracer provider as an SDK registers one, which keeps what it is told. */
function registerProvider(): readonly Recorded[] {
  const spans: Recorded[] = [];
  const names = new Map<unknown, string>();
  const startSpan = (name: string, { attributes, startTime }: SpanOptions, context: Context): Span => {
    const record: Recorded = {
      name,
      parent: names.get(trace.getSpan(context)),
      attributes: { ...attributes },
      startTime,
    };
    spans.push(record);
    const span = {
      setAttributes: (more: object) => void Object.assign(record.attributes, more),
      setStatus: (status: object) => void Object.assign(record, { status }),
      end: (endTime: unknown) => void Object.assign(record, { endTime }),
    } as unknown as Span;
    names.set(span, name);
    return span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) } as never);
  return spans;
}

afterEach(() => trace.disable());

describe("spans", () => {
  test("are none when no SDK is registered", async () => {
    expect(await createSpanSink()).toBeUndefined();
  });

  verifies(
    206,
    "stand for the run, its steps and its tool calls, with the names of the convention and no text",
    async () => {
      const spans = registerProvider();
      const sink = await createSpanSink();
      const events = stamped(SAMPLE_RUN);
      for (const event of events) sink?.write(event);
      expect(spans.map(({ name, parent }) => [name, parent])).toEqual([
        ["invoke_agent research", undefined],
        ["chat scripted/test", "invoke_agent research"],
        ["execute_tool bash", "invoke_agent research"],
        ["chat scripted/test", "invoke_agent research"],
      ]);
      expect(spans[0]).toMatchObject({
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "research",
          "gen_ai.usage.input_tokens": 20,
          "metier.run.status": "completed",
        },
        startTime: Date.parse(events[0]?.at ?? ""),
        endTime: Date.parse(events.at(-1)?.at ?? ""),
      });
      expect(spans[1]?.attributes).toMatchObject({
        "gen_ai.request.model": "scripted/test",
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.response.finish_reasons": ["tool-calls"],
      });
      expect(spans[2]?.attributes).toMatchObject({ "gen_ai.tool.name": "bash", "gen_ai.tool.call.id": "c1" });
      expect(JSON.stringify(spans)).not.toContain("All done");
    },
  );

  test("of a call to the host say what was asked for and what became of it", async () => {
    const spans = registerProvider();
    const sink = await createSpanSink();
    const called: RunEventBody = {
      type: "capability-called",
      step: 1,
      capability: "memo.notes",
      operation: "add",
      mutating: true,
      outcome: "capability_rate_limited",
      requestId: "cap_1",
      durationMs: 7,
    };
    const events = stamped([STARTED, called, { ...called, outcome: "ok" }]);
    for (const event of events) sink?.write(event);
    const at = Date.parse(events[1]?.at ?? "");
    expect(spans[1]).toMatchObject({
      name: "capability memo.notes add",
      parent: "invoke_agent research",
      attributes: { "metier.capability.id": "memo.notes", "metier.capability.mutating": true },
      startTime: at - 7,
      endTime: at,
      status: { message: "capability_rate_limited" },
    });
    expect(spans[2]?.status).toBeUndefined();
  });

  test("of a nested run stand below the run that started it, and open ones end with it", async () => {
    const spans = registerProvider();
    const sink = await createSpanSink();
    const inner = { ...STARTED, skill: "inner", parentRunId: "outer" };
    for (const event of [...stamped([STARTED], "outer"), ...stamped([inner], "inner")]) sink?.write(event);
    expect(spans[1]).toMatchObject({ name: "invoke_agent inner", parent: "invoke_agent research" });
    await sink?.close?.();
    expect(spans.every((span) => "endTime" in span)).toBe(true);
  });

  test("of what fails say so", async () => {
    const spans = registerProvider();
    const sink = await createSpanSink();
    const failed = SAMPLE_RUN.map((body) => {
      if (body.type === "tool-finished") return { ...body, isError: true };
      if (body.type !== "run-finished") return body;
      return { ...body, status: "failed", error: { code: "model.cut", message: "secret text" } } as const;
    });
    for (const event of stamped(failed)) sink?.write(event);
    expect(spans[0]).toMatchObject({
      status: { message: "model.cut" },
      attributes: { "error.type": "model.cut" },
    });
    expect(spans[2]?.status).toBeDefined();
    expect(spans[1]?.status).toBeUndefined();
  });
});
