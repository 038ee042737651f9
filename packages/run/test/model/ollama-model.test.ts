/** Ollama's own protocol over real HTTP on loopback, through the SDK's loop. */
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { dynamicTool, isStepCount, jsonSchema, ToolLoopAgent, type ToolSet } from "ai";
import { describe, expect, test } from "vitest";
import { type OllamaTurn, startOllama, type TestOllama } from "../../../../test/support/ollama.ts";
import { openEndpoint } from "../../src/model/providers.ts";
import { resolveModel } from "../../src/model/resolve-model.ts";
import { retryModel } from "../../src/model/retry.ts";

async function open(
  turns: readonly OllamaTurn[],
  more: { readonly context?: number; readonly contextTokens?: number; readonly path?: string } = {},
): Promise<{ readonly model: LanguageModelV4; readonly ollama: TestOllama }> {
  const ollama = await startOllama([{ name: "qwen3:8b", context: more.context ?? 40_960 }], turns);
  const baseUrl = `${ollama.url}${more.path ?? ""}`;
  const { contextTokens } = more;
  const model = await openEndpoint({ provider: "ollama", model: "qwen3:8b", baseUrl, contextTokens });
  return { model: retryModel(model, { wait: async () => undefined }), ollama };
}

const TOOLS: ToolSet = {
  look: dynamicTool({
    description: "Looks.",
    inputSchema: jsonSchema({ type: "object", properties: { at: { type: "string" } } }),
    execute: async (input) => `saw ${JSON.stringify(input)}`,
  }),
};

function agentFor(model: LanguageModelV4): Pick<ToolLoopAgent<never, ToolSet>, "stream"> {
  return new ToolLoopAgent({
    model,
    instructions: "Be brief.",
    tools: TOOLS,
    stopWhen: isStepCount(4),
    maxRetries: 0,
    onError: () => undefined,
  });
}

const ask = (text: string, size = 0): Parameters<LanguageModelV4["doStream"]>[0] => ({
  prompt: [{ role: "user", content: [{ type: "text", text: text + " word".repeat(size) }] }],
});

async function collect(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<readonly LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

describe("a model of Ollama", () => {
  test("text and thoughts are streamed, and tokens are counted as Ollama counts them", async () => {
    const { model } = await open([{ text: "It is a small grey stone.", thinking: "A stone?" }]);
    const parts = await collect((await model.doStream(ask("What is it?"))).stream);
    const text = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : []));
    expect(text.join("")).toBe("It is a small grey stone.");
    expect(text.length).toBeGreaterThan(2);
    expect(parts.find(({ type }) => type === "reasoning-delta")).toMatchObject({ delta: "A stone?" });
    expect(parts.at(-1)).toMatchObject({
      type: "finish",
      finishReason: { unified: "stop" },
      usage: { inputTokens: { total: 120 }, outputTokens: { total: 7 } },
    });
  });

  test("a tool call is executed, and its result goes back under the tool's name", async () => {
    const { model, ollama } = await open([
      { calls: [{ name: "look", arguments: { at: "it" } }] },
      { text: "It is a stone." },
    ]);
    const result = await agentFor(model).stream({ prompt: "Look at it." });
    expect(await result.text).toBe("It is a stone.");
    expect(ollama.chats[0]?.tools).toMatchObject([{ type: "function", function: { name: "look" } }]);
    expect(ollama.chats[1]?.messages).toMatchObject([
      { role: "system", content: "Be brief." },
      { role: "user" },
      { role: "assistant", tool_calls: [{ function: { name: "look", arguments: { at: "it" } } }] },
      { role: "tool", tool_name: "look", content: 'saw {"at":"it"}' },
    ]);
  });

  test("the context fits the request, grows in steps, and ends at the model's own or at `context-tokens`", async () => {
    const { model, ollama } = await open([{ text: "ok" }]);
    await model.doGenerate(ask("Short."));
    await model.doGenerate(ask("Long.", 8_000));
    await model.doGenerate(ask("Short again."));
    const sizes = (of: TestOllama): readonly unknown[] => of.chats.map(({ options }) => options.num_ctx);
    expect(sizes(ollama)).toEqual([8_192, 16_384, 16_384]);
    const small = await open([{ text: "ok" }], { context: 4_096 });
    await small.model.doGenerate(ask("Long.", 12_000));
    expect(sizes(small.ollama)).toEqual([4_096]);
    const capped = await open([{ text: "ok" }], { contextTokens: 10_000, path: "/v1" });
    await capped.model.doGenerate(ask("Long.", 40_000));
    expect(sizes(capped.ollama)).toEqual([10_000]);
    expect(capped.ollama.chats[0]).toMatchObject({ truncate: false, shift: false });
  });

  test("a refusal says what Ollama said; one over the context says which key to raise", async () => {
    const { model } = await open([{ status: 400, error: "the prompt exceeds the context length" }]);
    await expect(model.doGenerate(ask("Hi."))).rejects.toThrow(
      /exceeds the context length.*8192 tokens.*`context-tokens`/,
    );
    const ollama = await startOllama([]);
    const other = await openEndpoint({ provider: "ollama", model: "gone", baseUrl: ollama.url });
    await expect(other.doGenerate(ask("Hi."))).rejects.toThrow("model 'gone' not found");
  });

  test("an answer that is cut keeps its text and ends with the fault", async () => {
    const { model } = await open([{ text: "It is a small grey stone.", cut: true }]);
    const result = await agentFor(model).stream({ prompt: "Look." });
    const types: string[] = [];
    for await (const part of result.stream) types.push(part.type);
    expect(types).toContain("text-delta");
    expect(types).toContain("error");
  });

  test('`provider = "ollama"` needs no key and no address, and is lean unless the config says otherwise', async () => {
    const config = (lean?: boolean): Parameters<typeof resolveModel>[0] => ({
      config: {
        models: { default: { provider: "ollama", model: "qwen3:8b", ...(lean !== undefined && { lean }) } },
        skills: { settings: {} } as never,
      },
      environment: {},
    });
    expect(await resolveModel(config())).toMatchObject({
      ok: true,
      value: { id: "ollama/qwen3:8b", lean: true, secrets: [] },
    });
    expect(await resolveModel(config(false))).toMatchObject({ ok: true, value: { lean: false } });
  });
});
