/** The real provider packages over real HTTP on loopback, in the three wire formats, through the SDK's own loop. */
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { dynamicTool, isStepCount, jsonSchema, type TextStreamPart, ToolLoopAgent, type ToolSet } from "ai";
import { describe, expect, test } from "vitest";
import { FORMATS, PROVIDER_KEY, startProvider } from "../../../../test/support/aimock.ts";
import {
  anthropicCall,
  anthropicMessage,
  anthropicText,
  type RawProvider,
  startRawProvider,
} from "../../../../test/support/provider.ts";
import { ModelCutError } from "../../src/model/provider-fault.ts";
import { type Endpoint, openEndpoint } from "../../src/model/providers.ts";
import { resolveModel } from "../../src/model/resolve-model.ts";
import { type Retry, retryModel } from "../../src/model/retry.ts";

const TOOLS: ToolSet = {
  look: dynamicTool({
    description: "Looks.",
    inputSchema: jsonSchema({ type: "object", properties: { at: { type: "string" } } }),
    execute: async (input) => `saw ${JSON.stringify(input)}`,
  }),
};

interface Outcome {
  readonly parts: readonly TextStreamPart<ToolSet>[];
  readonly text: string;
  readonly error: unknown;
  of<T extends TextStreamPart<ToolSet>["type"]>(
    type: T,
  ): readonly Extract<TextStreamPart<ToolSet>, { type: T }>[];
}

async function run(
  model: LanguageModelV4,
  onPart: (part: TextStreamPart<ToolSet>) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Outcome> {
  const agent = new ToolLoopAgent({
    model,
    instructions: "Be brief.",
    tools: TOOLS,
    stopWhen: isStepCount(4),
    maxRetries: 0,
    onError: () => undefined,
  });
  const result = await agent.stream({ prompt: "Look at it.", ...(signal && { abortSignal: signal }) });
  const parts: TextStreamPart<ToolSet>[] = [];
  for await (const part of result.stream) {
    parts.push(part);
    onPart(part);
  }
  const of: Outcome["of"] = (type) => parts.filter((part): part is never => part.type === type);
  const text = of("text-delta")
    .map((part) => part.text)
    .join("");
  return { parts, text, error: of("error")[0]?.error, of };
}

describe.each(FORMATS)("%s", (format) => {
  test("text is streamed, and its tokens are counted", async () => {
    const provider = await startProvider([
      { match: {}, response: { content: "It is a small grey stone." }, chunkSize: 5 },
    ]);
    const { text, of } = await run(retryModel(await provider.model(format)));
    expect(text).toBe("It is a small grey stone.");
    expect(of("text-delta").length).toBeGreaterThan(2);
    expect(of("finish")[0]).toMatchObject({
      finishReason: "stop",
      totalUsage: { outputTokens: expect.any(Number) },
    });
  });

  test("a tool call is executed and its result goes back", async () => {
    const provider = await startProvider([
      { match: { hasToolResult: true }, response: { content: "It is a stone." } },
      { match: {}, response: { toolCalls: [{ name: "look", arguments: '{"at":"it"}' }] } },
    ]);
    const { text, of } = await run(retryModel(await provider.model(format)));
    expect(text).toBe("It is a stone.");
    expect(of("tool-call")).toMatchObject([{ toolName: "look", input: { at: "it" } }]);
    expect(of("finish-step").map((part) => part.finishReason)).toEqual(["tool-calls", "stop"]);
    expect(JSON.stringify(provider.requests()[1]?.body)).toContain('saw {\\"at\\":\\"it\\"}');
  });

  test("429 is waited for as long as the provider says, and asked again", async () => {
    const provider = await startProvider([
      {
        match: { sequenceIndex: 0 },
        response: { error: { message: "slow down" }, status: 429, retryAfter: 7 },
      },
      { match: {}, response: { content: "Here." } },
    ]);
    const retries: Retry[] = [];
    const model = retryModel(await provider.model(format), {
      onRetry: (retry) => retries.push(retry),
      wait: async () => undefined,
    });
    expect((await run(model)).text).toBe("Here.");
    expect(retries).toEqual([{ attempt: 2, delayMs: 7000, reason: "429: slow down" }]);
    expect(provider.requests()).toHaveLength(2);
  });

  test("a stream that is cut in the middle keeps the text so far, and the loop ends with the fault", async () => {
    const content = "It is a small grey stone by the side of the road.";
    const provider = await startProvider([
      { match: {}, response: { content }, chunkSize: 5, latency: 5, truncateAfterChunks: 8 },
    ]);
    const { text, error, of } = await run(retryModel(await provider.model(format)));
    expect(content.startsWith(text) && text.length > 0).toBe(true);
    expect(error).toBeInstanceOf(ModelCutError);
    expect(of("finish-step")).toMatchObject([{ finishReason: "interrupted" }]);
  });

  test("a tool call that is cut in the middle is not executed", async () => {
    const input = JSON.stringify({ at: "a".repeat(100) });
    const provider = await startProvider([
      {
        match: {},
        response: { toolCalls: [{ name: "look", arguments: input }] },
        chunkSize: 5,
        latency: 5,
        truncateAfterChunks: 7,
      },
    ]);
    const { error, of } = await run(retryModel(await provider.model(format)));
    expect(error).toBeInstanceOf(ModelCutError);
    expect(of("tool-result")).toEqual([]);
    expect(provider.requests()).toHaveLength(1);
  });

  test("a call of a tool that is not there becomes an error result that names those that are", async () => {
    const provider = await startProvider([
      { match: { hasToolResult: true }, response: { content: "I see." } },
      { match: {}, response: { toolCalls: [{ name: "fly", arguments: "{}" }] } },
    ]);
    const { text, of } = await run(retryModel(await provider.model(format)));
    expect(text).toBe("I see.");
    expect(of("tool-error")[0]?.error).toContain("Available tools: look");
  });

  test("cancelling ends the stream at once with an abort", async () => {
    const provider = await startProvider([
      { match: {}, response: { content: "word ".repeat(2000) }, chunkSize: 5, latency: 20 },
    ]);
    const cancel = new AbortController();
    const stop = (part: TextStreamPart<ToolSet>): void => {
      if (part.type === "text-delta") cancel.abort(new Error("enough"));
    };
    const { parts, text } = await run(retryModel(await provider.model(format)), stop, cancel.signal);
    expect(parts.at(-1)).toMatchObject({ type: "abort", reason: "Error: enough" });
    expect(text.length).toBeLessThan(1000);
  });

  test("what a config file says leads here", async () => {
    const provider = await startProvider([{ match: {}, response: { content: "Here." } }]);
    const outcome = await resolveModel({
      config: { models: { default: provider.config(format) }, skills: { settings: {} } as never },
      environment: {},
      runCommand: () => Promise.reject(new Error("no command is expected")),
    });
    if (!outcome.ok) throw new Error(outcome.refusal.message);
    expect((await run(outcome.value.model)).text).toBe("Here.");
    expect(outcome.value.secrets).toEqual([{ name: "models.default.api-key", value: PROVIDER_KEY }]);
  });
});

// aimock parses the input for Anthropic's format itself; below it is sent by hand.
test.each(["openai-chat", "openai-responses"] as const)(
  "malformed input in the format %s becomes an error result, and the loop goes on",
  async (format) => {
    const provider = await startProvider([
      { match: { hasToolResult: true }, response: { content: "I see." } },
      { match: {}, response: { toolCalls: [{ name: "look", arguments: '{"at": tru' }] } },
    ]);
    const { text, error, of } = await run(retryModel(await provider.model(format)));
    expect(error).toBeUndefined();
    expect(text).toBe("I see.");
    expect(of("tool-error")[0]?.error).toContain("Invalid input for tool look");
  },
);

describe("what aimock cannot put on the wire", () => {
  test("malformed input in Anthropic's format becomes an error result, and the loop goes on", async () => {
    const provider = await startRawProvider(
      anthropicMessage("tool_use", ...anthropicCall("look", '{"at": tru')),
      anthropicMessage("end_turn", ...anthropicText("I see.")),
    );
    const { text, error, of } = await run(retryModel(await open("anthropic", provider)));
    expect(error).toBeUndefined();
    expect(text).toBe("I see.");
    expect(of("tool-error")[0]?.error).toContain("Invalid input for tool look");
  });

  test("a server that is overloaded in the middle of an answer ends the loop with its own words", async () => {
    const events = anthropicMessage("end_turn", ...anthropicText("It is"));
    const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
    const provider = await startRawProvider([...events.slice(0, 3), overloaded]);
    const { text, error, of } = await run(retryModel(await open("anthropic", provider)));
    expect(text).toBe("It is");
    expect(String(error)).toContain("Overloaded");
    expect(of("finish-step")).toMatchObject([{ finishReason: "interrupted" }]);
  });

  test("a server that ends a chat answer without a reason has cut it off", async () => {
    const delta = { id: "1", choices: [{ index: 0, delta: { role: "assistant", content: "It is" } }] };
    const provider = await startRawProvider([delta]);
    const { text, error } = await run(retryModel(await open("openai-compatible", provider)));
    expect(text).toBe("It is");
    expect(error).toBeDefined();
  });

  test.each([
    ["anthropic", "/v1/messages", "x-api-key", PROVIDER_KEY],
    ["openai", "/v1/responses", "authorization", `Bearer ${PROVIDER_KEY}`],
    ["openai-compatible", "/v1/chat/completions", "authorization", `Bearer ${PROVIDER_KEY}`],
    ["google", "/v1/models/m:streamGenerateContent?alt=sse", "x-goog-api-key", PROVIDER_KEY],
  ] as const)("%s asks %s with the key in its own header", async (provider, path, header, value) => {
    const server = await startRawProvider([]);
    await run(await open(provider, server));
    expect(server.requests[0]?.path).toBe(path);
    expect(server.requests[0]?.headers[header]).toBe(value);
  });

  test("OpenAI is told to keep nothing", async () => {
    const server = await startRawProvider([]);
    await run(await open("openai", server));
    expect(server.requests[0]?.body.store).toBe(false);
  });
});

function open(provider: Endpoint["provider"], { url }: RawProvider): Promise<LanguageModelV4> {
  const model = provider === "anthropic" ? "claude-sonnet-5-5" : "m";
  return openEndpoint({ provider, model, baseUrl: `${url}/v1`, key: PROVIDER_KEY });
}
