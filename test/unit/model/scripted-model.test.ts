import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { checkScript, createScriptModel, type Script } from "@metier/run/model";
import { createScriptedModel as createPublicModel } from "@metier/runtime";
import { dynamicTool, generateText, jsonSchema, streamText, ToolLoopAgent, type ToolSet } from "ai";
import { describe, expect, test } from "vitest";

const TOOLS: ToolSet = {
  look: dynamicTool({
    description: "Looks.",
    inputSchema: jsonSchema({ type: "object" }),
    execute: async (input) => `saw ${JSON.stringify(input)}`,
  }),
};

async function run(script: Script, signal?: AbortSignal) {
  const model = createScriptModel(script);
  const agent = new ToolLoopAgent({
    model,
    instructions: "Be brief.",
    tools: TOOLS,
    maxRetries: 0,
    onError: () => {
      // The stream's own `error` part is what the test reads.
    },
  });
  const result = await agent.stream({ prompt: "Look at it.", ...(signal && { abortSignal: signal }) });
  const parts = [];
  for await (const part of result.stream) parts.push(part);
  const error = parts.find((part) => part.type === "error")?.error;
  return { model, parts, result, message: error instanceof Error ? error.message : "" };
}

const TWO_TURNS: Script = [
  {
    expect: { system: { equals: "Be brief." }, lastUserText: "Look", tools: ["look"] },
    answer: { text: "I will look at it now.", toolCalls: [{ tool: "look", input: { at: "it" } }] },
  },
  { expect: { toolResult: { matches: "^saw .*it" } }, answer: { text: "Done." } },
];

test("a script drives a loop of tools, in streamed pieces, to its end", async () => {
  const { model, parts, result } = await run(TWO_TURNS);
  expect(await result.text).toBe("Done.");
  expect(await result.usage).toMatchObject({ inputTokens: 20, outputTokens: 10 });
  expect(parts.filter((part) => part.type === "text-delta").length).toBeGreaterThan(2);
  expect(parts.map(({ type }) => type)).toEqual(
    expect.arrayContaining([
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
      "tool-result",
    ]),
  );
  expect(parts.find((part) => part.type === "tool-call")).toMatchObject({ toolCallId: "call-1-1" });
  expect(() => model.assertDone()).not.toThrow();
});

describe("strict both ways", () => {
  test("a request that is not the expected one fails with both", async () => {
    const { message } = await run([{ expect: { lastUserText: "Listen" }, answer: { text: "no" } }]);
    expect(message).toContain("expected the last user text");
    expect(message).toContain('"Listen"');
    expect(message).toContain('"Look at it."');
  });

  test("other tools than the expected ones fail", async () => {
    const { message } = await run([{ expect: { tools: ["bash"] }, answer: { text: "no" } }]);
    expect(message).toContain("expected the tools\n  bash\nbut got\n  look");
  });

  test("a request after the end fails with what it was", async () => {
    const { message } = await run(TWO_TURNS.slice(0, 1));
    expect(message).toContain("has 1 turns, but the model was asked once more");
    expect(message).toContain("saw");
  });

  test("turns that nobody asked for fail at the end", async () => {
    const { model } = await run([{ answer: { text: "Done." } }, { answer: { text: "More." } }]);
    expect(model.remaining).toBe(1);
    expect(() => model.assertDone()).toThrow("the model was asked only 1 times");
  });
});

test("an error of the script is the call's error, with its status", async () => {
  const model = createScriptModel([{ answer: { error: { message: "busy", status: 529 } } }]);
  const call = { prompt: [] } as LanguageModelV4CallOptions;
  await expect(model.doGenerate(call)).rejects.toMatchObject({ message: "busy", statusCode: 529 });
});

test("a cancelled call does not wait for its answer", async () => {
  const { parts } = await run([{ answer: { text: "late", delayMs: 3_600_000 } }], AbortSignal.timeout(20));
  expect(parts.at(-1)?.type).toBe("abort");
});

test.each([
  [{}, "It must be a list of turns."],
  [[{}], "Turn 1 is not"],
  [[{ answer: { text: "a" } }, { answer: { txt: "a" } }], "Turn 2 is not"],
  [[{ expect: { system: { is: "a" } }, answer: {} }], "Turn 1 is not"],
  [[{ answer: { toolCalls: [{ tool: "a" }] } }], "Turn 1 is not"],
])("%j is no script", (value, message) => {
  expect(checkScript(value)).toContain(message);
});

test("what a program is given is a model for the AI SDK as it is, by its type too", async () => {
  const model = createPublicModel([{ answer: { text: "One." } }, { answer: { text: "Two." } }]);
  expect((await generateText({ model, prompt: "Count." })).text).toBe("One.");
  expect(await streamText({ model, prompt: "Count." }).text).toBe("Two.");
  model.assertDone();
});
