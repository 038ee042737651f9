import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createRedactor } from "@metier/sandbox/secrets";
import { describe, expect, test, vi } from "vitest";
import type { RunEventBody } from "../../src/events/run-event.ts";
import { type GuardedModel, guardModel } from "../../src/run/guard-model.ts";

const SECRET = "hunter2hunter2";
const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 },
  },
};

function modelOf(stream: ReadableStream<LanguageModelV4StreamPart>): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "test",
    modelId: "test",
    supportedUrls: {},
    doStream: async () => ({ stream }),
    doGenerate: () => Promise.reject(new Error("not asked for")),
  };
}

function guard(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  emit: (event: RunEventBody) => void = () => undefined,
  onOutput: (piece: string) => void = () => undefined,
): GuardedModel {
  const redactor = createRedactor([{ name: "PASSWORD", value: SECRET }]);
  return guardModel(modelOf(stream), {
    redactor,
    emit,
    onUsage: () => undefined,
    onText: () => undefined,
    onOutput,
  });
}

async function ask(model: GuardedModel): Promise<ReadableStream<LanguageModelV4StreamPart>> {
  const { stream } = await model.doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: "?" }] }],
  });
  return stream;
}

describe("a guarded stream", () => {
  test("gives on what may be seen, and says it once more when the answer is whole", async () => {
    const events: RunEventBody[] = [];
    const given: readonly LanguageModelV4StreamPart[] = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: SECRET.slice(0, 5) },
      { type: "text-delta", id: "1", delta: `${SECRET.slice(5)}!` },
      { type: "text-end", id: "1" },
      FINISH,
    ];
    const parts: LanguageModelV4StreamPart[] = [];
    const stream = await ask(guard(ReadableStream.from(given), (event) => events.push(event)));
    for await (const part of stream) parts.push(part);
    expect(parts.map(({ type }) => type)).toEqual(["text-start", "text-delta", "text-end", "finish"]);
    expect(parts[1]).toMatchObject({ delta: "[redacted:PASSWORD]!" });
    expect(events.at(-1)).toMatchObject({
      type: "model-answered",
      parts: [{ type: "text", text: "[redacted:PASSWORD]!" }],
      usage: { totalTokens: 5 },
    });
  });

  test("gives the loop a text in one piece, once it is whole or the loop was stopped; who follows hears each", async () => {
    const stop = new AbortController();
    const events: RunEventBody[] = [];
    const heard = () => events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
    const given = async function* (): AsyncGenerator<LanguageModelV4StreamPart> {
      yield { type: "text-start", id: "1" };
      for (const delta of ["one ", "two ", "three"]) yield { type: "text-delta", id: "1", delta };
      yield { type: "text-end", id: "1" };
      yield { type: "text-start", id: "2" };
      yield { type: "text-delta", id: "2", delta: "four " };
      stop.abort();
      yield { type: "text-delta", id: "2", delta: "five" };
      yield FINISH;
    };
    const model = guard(ReadableStream.from(given()), (event) => events.push(event));
    const { stream } = await model.doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "?" }] }],
      abortSignal: stop.signal,
    });
    const texts: string[] = [];
    for await (const part of stream) if (part.type === "text-delta") texts.push(part.delta);
    expect(texts).toEqual(["one two three", "four five"]);
    expect(heard()).toEqual(["one ", "two ", "three", "four ", "five"]);
  });

  test("redacts reasoning, keeps its signature, and counts all that the model writes", async () => {
    const given: readonly LanguageModelV4StreamPart[] = [
      { type: "reasoning-start", id: "1" },
      { type: "reasoning-delta", id: "1", delta: SECRET.slice(0, 5) },
      { type: "reasoning-delta", id: "1", delta: `${SECRET.slice(5)}!` },
      { type: "reasoning-delta", id: "1", delta: "", providerMetadata: { test: { signature: "s" } } },
      { type: "reasoning-end", id: "1" },
      { type: "tool-input-start", id: "a", toolName: "look" },
      { type: "tool-input-delta", id: "a", delta: "{}" },
      { type: "tool-input-end", id: "a" },
      { type: "tool-call", toolCallId: "a", toolName: "look", input: "{}" },
      { type: "tool-call", toolCallId: "b", toolName: "look", input: '{"b":1}' },
      FINISH,
    ];
    const written: string[] = [];
    const model = guard(ReadableStream.from(given), undefined, (piece) => written.push(piece));
    const parts: LanguageModelV4StreamPart[] = [];
    for await (const part of await ask(model)) parts.push(part);
    const thoughts = parts.filter((part) => part.type === "reasoning-delta");
    expect(thoughts.map(({ delta }) => delta).join("")).toBe("[redacted:PASSWORD]!");
    expect(thoughts).toContainEqual(
      expect.objectContaining({ providerMetadata: { test: { signature: "s" } } }),
    );
    expect(written.join("")).toBe(`${SECRET}!{}{"b":1}`);
  });

  test("ends the provider's stream when nobody reads on, and reads only the first part ahead of its reader", async () => {
    const cancel = vi.fn();
    const pull = vi.fn((controller: ReadableStreamDefaultController<LanguageModelV4StreamPart>) =>
      controller.enqueue({ type: "text-start", id: "1" }),
    );
    const stream = await ask(guard(new ReadableStream({ pull, cancel }, { highWaterMark: 0 })));
    await new Promise(setImmediate);
    expect(pull).toHaveBeenCalledOnce();
    await stream.cancel("enough");
    expect(cancel).toHaveBeenCalledWith("enough");
  });

  test("breaks with the fault that broke the provider's before it said anything", async () => {
    const fault = new Error("connection lost");
    const broken = guard(new ReadableStream({ start: (controller) => controller.error(fault) }));
    await expect(ask(broken)).rejects.toBe(fault);
  });

  test("ends in an error and an interrupted answer when the provider's breaks later", async () => {
    const fault = new Error("connection lost");
    const given: LanguageModelV4StreamPart[] = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "Half" },
    ];
    const broken = new ReadableStream<LanguageModelV4StreamPart>({
      pull(controller) {
        const part = given.shift();
        if (part) controller.enqueue(part);
        else controller.error(fault);
      },
    });
    const events: RunEventBody[] = [];
    const parts: LanguageModelV4StreamPart[] = [];
    for await (const part of await ask(guard(broken, (event) => events.push(event)))) parts.push(part);
    expect(parts.map(({ type }) => type)).toEqual([
      "text-start",
      "text-delta",
      "text-end",
      "error",
      "finish",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "model-answered", finishReason: "interrupted" });
  });

  test("asks again after a passing fault, and says so between the question and its answer", async () => {
    const events: RunEventBody[] = [];
    const streams = [ReadableStream.from<LanguageModelV4StreamPart>([FINISH])];
    const passing = Object.assign(new Error("busy"), {
      isRetryable: true,
      statusCode: 503,
      responseHeaders: { "retry-after-ms": "1" },
    });
    const model: LanguageModelV4 = {
      ...modelOf(new ReadableStream()),
      doStream: vi
        .fn<LanguageModelV4["doStream"]>()
        .mockRejectedValueOnce(passing)
        .mockImplementation(async () => ({ stream: streams.pop() ?? new ReadableStream() })),
    };
    const guarded = guardModel(model, {
      redactor: createRedactor(),
      emit: (event) => events.push(event),
      onUsage: () => undefined,
      onText: () => undefined,
      onOutput: () => undefined,
    });
    for await (const _ of await ask(guarded));
    expect(events.map(({ type }) => type)).toEqual(["model-called", "model-retried", "model-answered"]);
    expect(events[1]).toMatchObject({ step: 1, attempt: 2 });
  });
});
