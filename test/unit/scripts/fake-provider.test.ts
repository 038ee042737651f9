import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { isStepCount, jsonSchema, type LanguageModel, streamText, tool } from "ai";
import { expect, onTestFinished, test } from "vitest";
import { type FakeProvider, startProvider } from "../../../scripts/clients/provider/start-provider.mjs";

const KEY = { apiKey: "loopback-0123456789" };

/** Each wire format as the AI SDK speaks it, which nobody here wrote. */
const MODELS: Readonly<Record<string, (url: string) => LanguageModel>> = {
  "Anthropic Messages": (url) => createAnthropic({ ...KEY, baseURL: `${url}/v1` })("fake"),
  "chat completions": (url) =>
    createOpenAICompatible({ ...KEY, name: "loopback", baseURL: `${url}/v1` })("fake"),
  Responses: (url) => createOpenAI({ ...KEY, baseURL: `${url}/v1` }).responses("fake"),
  Gemini: (url) => createGoogleGenerativeAI({ ...KEY, baseURL: `${url}/v1beta` })("fake"),
};

async function openProvider(): Promise<FakeProvider> {
  const provider = await startProvider();
  onTestFinished(() => provider.close());
  return provider;
}

/** Asks until the model is done, with one tool that says which harbour it was asked about. */
async function ask(model: LanguageModel, prompt: string): Promise<{ heard: string[]; text: string }> {
  const heard: string[] = [];
  const inputSchema = jsonSchema<{ name: string }>({
    type: "object",
    properties: { name: { type: "string" } },
  });
  const execute = ({ name }: { name: string }) => `harbour ${heard.push(name)}`;
  const tools = { harbour: tool({ description: "Names a harbour.", inputSchema, execute }) };
  const limits = { stopWhen: isStepCount(5), maxRetries: 0, maxOutputTokens: 100 };
  const { text } = streamText({ model, prompt, tools, ...limits });
  return { text: await text, heard };
}

test.each(Object.entries(MODELS))(
  "by %s, the fake model makes the calls of the prompt, then ends",
  async (_, open) => {
    const { url, requests } = await openProvider();
    const prompt = '%%CALL harbour {"name":"Ostend"}%% then %%CALL harbour {"name":"Brest"}%%';
    expect(await ask(open(url), prompt)).toEqual({ heard: ["Ostend", "Brest"], text: "Done." });
    expect(requests().map(({ results }) => results)).toEqual([0, 1, 2]);
    expect(requests()[2]?.text).toContain("harbour 2");
  },
);

test("a request without tools gets no call, whatever its prompt says", async () => {
  const { url } = await openProvider();
  const body = { stream: true, messages: [{ role: "user", content: '%%CALL harbour {"name":"Brest"}%%' }] };
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(body) });
  expect(await response.text()).toContain('"content":"Done."');
});

test("a tool in a namespace is called by both its names", async () => {
  const { url } = await openProvider();
  const body = {
    stream: true,
    input: [{ role: "user", content: [{ type: "input_text", text: "%%CALL mcp__port__open {}%%" }] }],
    tools: [{ type: "namespace", name: "mcp__port", tools: [{ type: "function", name: "open" }] }],
  };
  const response = await fetch(`${url}/v1/responses`, { method: "POST", body: JSON.stringify(body) });
  expect(await response.text()).toContain('"namespace":"mcp__port","name":"open"');
});

test.each([
  ["an unknown path", "GET", "/v1/models", undefined, 404],
  ["a method that is not POST", "PUT", "/v1/messages", "{}", 404],
  ["a body that is not JSON", "POST", "/v1/messages", "hello", 400],
  ["a request for an answer in one piece", "POST", "/v1/messages", '{"messages":[]}', 400],
  ["a directive whose input is not JSON", "POST", "/v1/chat/completions", badDirective(), 400],
  ["a body that is too large", "POST", "/v1/messages", "x".repeat(9 * 1024 * 1024), 413],
])("%s is refused, and remembered", async (_, method, path, body, status) => {
  const { url, requests } = await openProvider();
  const response = await fetch(`${url}${path}`, { method, body: body ?? null });
  expect(response.status).toBe(status);
  expect(requests().map(({ line }) => line)).toEqual([`${method} ${path} ${status}`]);
});

function badDirective(): string {
  const messages = [{ role: "user", content: "%%CALL harbour {name}%%" }];
  return JSON.stringify({ stream: true, messages, tools: [{}] });
}
