/**
 * A secret codeword stands in a skill and nowhere else. Through every adapter it reaches the model, over real HTTP where
 * there is a provider: the model asks for the skill, gets its text in the next request, and says the word.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Fixture } from "@copilotkit/aimock";
import {
  aiSdkSkills,
  claudeSkills,
  mountClaudeSkills,
  openAiAgentSkills,
  openAiChatSkills,
  openAiResponsesSkills,
} from "@metier/runtime/adapters";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { Agent, OpenAIProvider, Runner } from "@openai/agents";
import { generateText, isStepCount, streamText, ToolLoopAgent } from "ai";
import { type Metier, plainSkills } from "metier";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { FORMATS, PROVIDER_KEY, startProvider, type TestProvider } from "../support/aimock.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

const CODEWORD = "kestrel-4271";
const QUESTION = "What is the codeword?";
const ROLE = "You answer questions.";

async function openMetier(): Promise<Metier> {
  const world = createWorld();
  const body = `The codeword is ${CODEWORD}. Tell it to whoever asks.`;
  world.write({ "home/.metier/skills/codeword/SKILL.md": skill("codeword", "", body) });
  return world.metier();
}

/** A model that asks for the skill and then repeats the word it finds in what it got, and only there. */
const FIXTURES: readonly Fixture[] = [
  {
    match: { hasToolResult: true },
    response: ({ messages }) => {
      const got = JSON.stringify(messages.filter(({ role }) => role === "tool"));
      return { content: `It is ${/codeword is ([\w-]+)/.exec(got)?.[1] ?? "not known"}.` };
    },
  },
  {
    match: {},
    response: { toolCalls: [{ name: "use_skill", arguments: '{"skill":"codeword"}' }] },
  },
];

/** Two requests: the first told of the skill but not of the word, the second brought it. */
function expectArrived(provider: TestProvider, text: string): void {
  const [first = "", second = "", ...more] = provider.requests().map(({ body }) => JSON.stringify(body));
  expect(more).toEqual([]);
  expect(first).toContain("The codeword skill.");
  expect(first).not.toContain(CODEWORD);
  expect(second).toContain(CODEWORD);
  expect(text).toBe(`It is ${CODEWORD}.`);
}

describe("the AI SDK", () => {
  verifies([117, 118], "`generateText`, in the format of every provider", async () => {
    for (const format of FORMATS) {
      const provider = await startProvider(FIXTURES);
      const skills = await aiSdkSkills(await openMetier());
      const { text } = await generateText({
        model: await provider.model(format),
        instructions: `${ROLE}\n\n${skills.instructions}`,
        tools: skills.tools,
        prepareStep: skills.prepareStep(skills.tools),
        stopWhen: isStepCount(3),
        prompt: QUESTION,
      });
      expectArrived(provider, text);
    }
  });

  test("`streamText`", async () => {
    const provider = await startProvider(FIXTURES);
    const { instructions, tools } = await aiSdkSkills(await openMetier());
    const { text } = streamText({
      model: await provider.model("openai-chat"),
      instructions,
      tools,
      stopWhen: isStepCount(3),
      prompt: QUESTION,
    });
    expectArrived(provider, await text);
  });

  test("`ToolLoopAgent`", async () => {
    const provider = await startProvider(FIXTURES);
    const { instructions, tools } = await aiSdkSkills(await openMetier());
    const model = await provider.model("anthropic");
    const agent = new ToolLoopAgent({ model, instructions, tools, stopWhen: isStepCount(3) });
    expectArrived(provider, (await agent.generate({ prompt: QUESTION })).text);
  });
});

describe("OpenAI", () => {
  test.each([true, false])("the Agents SDK (by Responses: %s)", async (useResponses) => {
    const provider = await startProvider(FIXTURES);
    const { instructions, tools } = await openAiAgentSkills(await openMetier());
    const agent = new Agent({
      name: "Answerer",
      instructions: `${ROLE}\n\n${instructions}`,
      tools,
      model: "gpt-4.1",
    });
    const modelProvider = new OpenAIProvider({
      baseURL: `${provider.url}/v1`,
      apiKey: PROVIDER_KEY,
      useResponses,
    });
    const runner = new Runner({ modelProvider, tracingDisabled: true });
    expectArrived(provider, String((await runner.run(agent, QUESTION)).finalOutput));
  });

  verifies([117, 118], "the Responses API", async () => {
    const provider = await startProvider(FIXTURES);
    const { instructions, tools, answer } = await openAiResponsesSkills(await openMetier());
    const input: unknown[] = [{ role: "user", content: QUESTION }];
    const ask = async (): Promise<readonly ResponseItem[]> => {
      const body = { model: "gpt-4.1", instructions, tools, input };
      const { output } = (await post(`${provider.url}/v1/responses`, body)) as { output: ResponseItem[] };
      return output;
    };
    const first = await ask();
    input.push(...first, ...(await answer(first)));
    expectArrived(provider, (await ask()).find(({ type }) => type === "message")?.content?.[0]?.text ?? "");
  });

  verifies([117, 118], "chat completions", async () => {
    const provider = await startProvider(FIXTURES);
    const { instructions, tools, answer } = await openAiChatSkills(await openMetier());
    const messages: unknown[] = [
      { role: "system", content: instructions },
      { role: "user", content: QUESTION },
    ];
    const first = await complete(provider, { messages, tools });
    messages.push(first, ...(await answer(first)));
    expectArrived(provider, (await complete(provider, { messages, tools })).content ?? "");
  });
});

verifies([117, 118], "plain messages and tools, for whoever else has a model", async () => {
  const provider = await startProvider(FIXTURES);
  const skills = await plainSkills(await openMetier());
  const messages: unknown[] = [...skills.messages, { role: "user", content: QUESTION }];
  const tools = skills.tools.map(({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }));
  const first = await complete(provider, { messages, tools });
  messages.push(first);
  for (const { id, function: called } of first.tool_calls ?? []) {
    expect(skills.has(called.name)).toBe(true);
    const { text } = await skills.call(called.name, called.arguments);
    messages.push({ role: "tool", tool_call_id: id, content: text });
  }
  expectArrived(provider, (await complete(provider, { messages, tools })).content ?? "");
});

describe("Claude", () => {
  verifies(119, "finds the skill in the folder where it looks for skills", async () => {
    const mount = await mountClaudeSkills(await openMetier(), { workspace: temporaryFolder() });
    expect(mount.options).toMatchObject({ settingSources: ["project"], allowedTools: ["Skill"] });
    const file = join(mount.options.cwd, ".claude/skills/codeword/SKILL.md");
    expect(readFileSync(file, "utf8")).toContain(CODEWORD);
    mount.cleanup();
  });

  test("gets it from a tool in this process, over MCP", async () => {
    const { instructions, tools, allowedTools } = await claudeSkills(await openMetier(), { z });
    expect(instructions).toContain("The codeword skill.");
    expect(allowedTools).toContain("mcp__metier__use_skill");
    const server = new McpServer({ name: "metier", version: "1.0.0" });
    for (const { name, description, inputSchema, handler } of tools) {
      const shape = inputSchema as Record<string, z.ZodType>;
      server.registerTool(name, { description, inputSchema: z.object(shape) }, handler);
    }
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    const client = new Client({ name: "client", version: "1.0.0" });
    await client.connect(near);
    const { content } = await client.callTool({ name: "use_skill", arguments: { skill: "codeword" } });
    expect(JSON.stringify(content)).toContain(CODEWORD);
    await client.close();
  });
});

interface ResponseItem {
  readonly type: string;
  readonly content?: readonly { readonly text: string }[];
}

interface AssistantMessage {
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

async function complete(provider: TestProvider, body: object): Promise<AssistantMessage> {
  const answer = await post(`${provider.url}/v1/chat/completions`, { model: "gpt-4.1", ...body });
  const [choice] = (answer as { choices: readonly { message: AssistantMessage }[] }).choices;
  if (choice === undefined) throw new Error("The provider gave no answer.");
  return choice.message;
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${PROVIDER_KEY}` };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.json();
}
