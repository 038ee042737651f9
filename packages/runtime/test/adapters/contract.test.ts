/**
 * What every adapter keeps, whatever its host is like: one case for each, over the real packages and a provider on
 * loopback. The model asks for a skill that disallows tools, then calls them all the same.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Fixture } from "@copilotkit/aimock";
import { ChatOpenAI } from "@langchain/openai";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { Agent, tool as agentTool, OpenAIProvider, Runner } from "@openai/agents";
import { generateText, isStepCount, tool } from "ai";
import { generateText as generateText6, stepCountIs, tool as tool6 } from "ai-6";
import { createOpenAICompatible as createOpenAICompatible2 } from "ai-sdk-openai-compatible-2";
import { createAgent, tool as langChainTool } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { PROVIDER_KEY, startProvider } from "../../../../test/support/aimock.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import type { AdaptedSkills } from "../../src/adapters/adapter.ts";
import { aiSdkSkills } from "../../src/adapters/ai-sdk.ts";
import { claudeSkills } from "../../src/adapters/claude.ts";
import { langChainSkills } from "../../src/adapters/langchain.ts";
import { mastraSkills } from "../../src/adapters/mastra.ts";
import { openAiAgentSkills, openAiChatSkills, openAiResponsesSkills } from "../../src/adapters/openai.ts";
import { plainSkills } from "../../src/adapters/plain.ts";
import type { Metier } from "../../src/runtime/create-metier.ts";

/** The program's own tools. `shell` means the same as `Bash`. */
const OWN = ["shell", "send_mail", "weather"] as const;
type Own = (typeof OWN)[number];

type Calls = readonly (readonly [name: string, input: object])[];

interface Turn {
  readonly metier: Metier;
  /** Of a provider that speaks chat completions and responses. */
  readonly baseURL: string;
  /** Carries out a tool of the program. */
  run(name: Own, input: unknown): string;
  /** Where no provider is asked: the calls that the model makes, and what it is told. */
  readonly calls: Calls;
  tell(text: string): void;
}

/** A host: asks "Go." once with the own tools, and gives what the adapter told. */
type Host = (turn: Turn) => Promise<AdaptedSkills>;

const SHELL_INPUT = z.object({ command: z.string() });
const KEY = { apiKey: PROVIDER_KEY };
const MODEL = "gpt-4.1";
const LIMIT = 6;

const HOSTS: Readonly<Record<string, Host>> = {
  async "AI SDK 7"({ metier, baseURL, run }) {
    const skills = await aiSdkSkills(metier);
    const own = (name: Own) =>
      tool({ description: name, inputSchema: SHELL_INPUT, execute: async (input) => run(name, input) });
    const guarded = skills.guard({
      shell: own("shell"),
      send_mail: own("send_mail"),
      weather: own("weather"),
    });
    const tools = { ...skills.tools, ...guarded };
    const model = createOpenAICompatible({ name: "fake", baseURL })(MODEL);
    const { instructions } = skills;
    const prepareStep = skills.prepareStep(tools);
    await generateText({
      model,
      instructions,
      tools,
      prepareStep,
      stopWhen: isStepCount(LIMIT),
      prompt: "Go.",
    });
    return skills;
  },
  async "AI SDK 6"({ metier, baseURL, run }) {
    const skills = await aiSdkSkills(metier);
    const own = (name: Own) =>
      tool6({ description: name, inputSchema: SHELL_INPUT, execute: async (input) => run(name, input) });
    const guarded = skills.guard({
      shell: own("shell"),
      send_mail: own("send_mail"),
      weather: own("weather"),
    });
    const tools = { ...skills.tools, ...guarded };
    const model = createOpenAICompatible2({ name: "fake", baseURL })(MODEL);
    const system = skills.instructions;
    const prepareStep = skills.prepareStep(tools);
    await generateText6({ model, system, tools, prepareStep, stopWhen: stepCountIs(LIMIT), prompt: "Go." });
    return skills;
  },
  async "OpenAI Agents"({ metier, baseURL, run }) {
    const skills = await openAiAgentSkills(metier);
    const own = OWN.map((name) =>
      agentTool({
        name,
        description: name,
        parameters: SHELL_INPUT,
        execute: async (input) => run(name, input),
      }),
    );
    const tools = [...skills.tools, ...skills.guard(own)];
    const agent = new Agent({ name: "One", model: MODEL, instructions: skills.instructions, tools });
    const modelProvider = new OpenAIProvider({ baseURL, ...KEY, useResponses: false });
    skills.startTurn();
    const toolNotFoundBehavior = "return_error_to_model";
    await new Runner({ modelProvider, tracingDisabled: true, toolNotFoundBehavior }).run(agent, "Go.");
    return skills;
  },
  async "OpenAI Responses"({ metier, baseURL, run }) {
    const skills = await openAiResponsesSkills(metier);
    const own = OWN.map((name) => ({
      type: "function",
      name,
      parameters: { type: "object", properties: {} },
    }));
    const carryOut = skills.guard((name, input) => run(name as Own, input));
    const input: unknown[] = [{ role: "user", content: "Go." }];
    skills.startTurn();
    for (let round = 0; round < LIMIT; round++) {
      const tools = skills.narrow([...skills.tools, ...own]);
      const { output } = (await post(`${baseURL}/responses`, { model: MODEL, tools, input })) as {
        output: { type: string; name: string; call_id: string; arguments: string }[];
      };
      const calls = output.filter(({ type }) => type === "function_call");
      if (calls.length === 0) break;
      input.push(...output, ...(await skills.answer(output)));
      for (const call of calls.filter(({ name }) => (OWN as readonly string[]).includes(name))) {
        const { call_id } = call;
        const answer = await carryOut(call.name, call.arguments);
        input.push({ type: "function_call_output", call_id, output: answer });
      }
    }
    return skills;
  },
  async "OpenAI chat completions"({ metier, baseURL, run }) {
    const skills = await openAiChatSkills(metier);
    const carryOut = skills.guard((name, input) => run(name as Own, input));
    skills.startTurn();
    await chatLoop(baseURL, async (message, messages) => {
      if (message === undefined) return skills.narrow([...skills.tools, ...OWN.map(chatTool)]);
      messages.push(...(await skills.answer(message)));
      for (const { id, function: called } of message.tool_calls ?? []) {
        if (!(OWN as readonly string[]).includes(called.name)) continue;
        const content = await carryOut(called.name, called.arguments);
        messages.push({ role: "tool", tool_call_id: id, content });
      }
      return [];
    });
    return skills;
  },
  async plain({ metier, baseURL, run }) {
    const skills = await plainSkills(metier);
    const carryOut = skills.guard((name, input) => ({ text: run(name as Own, input), isError: false }));
    const all = [
      ...skills.tools.map(({ name, inputSchema }) => chatTool(name, inputSchema)),
      ...OWN.map(chatTool),
    ];
    skills.startTurn();
    await chatLoop(baseURL, async (message, messages) => {
      if (message === undefined) return skills.narrow(all);
      for (const { id, function: called } of message.tool_calls ?? []) {
        const call = skills.has(called.name) ? skills.call : carryOut;
        const { text } = await call(called.name, called.arguments);
        messages.push({ role: "tool", tool_call_id: id, content: text });
      }
      return [];
    });
    return skills;
  },
  async "LangChain.js"({ metier, baseURL, run }) {
    const skills = await langChainSkills(metier, { tool: langChainTool });
    const own = OWN.map((name) =>
      langChainTool((input) => run(name, input), { name, description: name, schema: SHELL_INPUT }),
    );
    const model = new ChatOpenAI({ model: MODEL, ...KEY, configuration: { baseURL } });
    const agent = createAgent({ model, tools: own, middleware: [skills.middleware] });
    await agent.invoke({ messages: [{ role: "user", content: "Go." }] });
    return skills;
  },
  async Mastra({ metier, baseURL, run }) {
    const skills = await mastraSkills(metier);
    const own = (id: Own) =>
      createTool({ id, description: id, inputSchema: SHELL_INPUT, execute: async (input) => run(id, input) });
    const agent = new MastraAgent({
      id: "one",
      name: "One",
      instructions: "You answer.",
      model: { id: `fake/${MODEL}`, url: baseURL, ...KEY },
      tools: { ...skills.tools, shell: own("shell"), send_mail: own("send_mail"), weather: own("weather") },
      inputProcessors: [skills.processor],
    });
    await agent.generate("Go.", { maxSteps: LIMIT });
    return skills;
  },
};

/** By the interface that the SDK publishes; the real one is asked by `npm run clients -- claude-agent-sdk`. */
const claude: Host = async ({ metier, calls, run, tell }) => {
  const skills = await claudeSkills(metier, { z });
  const [start, check] = [skills.hooks.UserPromptSubmit, skills.hooks.PreToolUse].map(
    ([matcher]) => matcher?.hooks[0],
  );
  await start?.({ hook_event_name: "UserPromptSubmit", prompt: "Go." });
  for (const [name, input] of calls) {
    const ours = skills.tools.find((one) => one.name === name);
    const tool_name = ours ? `mcp__metier__${name}` : name;
    const answer = await check?.({ hook_event_name: "PreToolUse", tool_name, tool_input: input });
    const reason = answer?.hookSpecificOutput?.permissionDecisionReason;
    const text = ours ? (await ours.handler(input as never, {})).content[0]?.text : undefined;
    tell(reason ?? text ?? run(name as Own, input));
  }
  return skills;
};

interface ChatMessage {
  readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
}

function chatTool(name: string, parameters: unknown = { type: "object", properties: {} }) {
  return { type: "function", function: { name, parameters } };
}

/** `next` without a message gives the tools for a request; with one it answers the message's calls. */
async function chatLoop(
  baseURL: string,
  next: (message: ChatMessage | undefined, messages: unknown[]) => Promise<readonly unknown[]>,
): Promise<void> {
  const messages: unknown[] = [{ role: "user", content: "Go." }];
  for (let round = 0; round < LIMIT; round++) {
    const tools = await next(undefined, messages);
    const { choices } = (await post(`${baseURL}/chat/completions`, { model: MODEL, messages, tools })) as {
      choices: readonly { message: ChatMessage }[];
    };
    const message = choices[0]?.message;
    if (!message?.tool_calls) return;
    messages.push(message);
    await next(message, messages);
  }
}

async function post(url: string, body: object): Promise<unknown> {
  const headers = { "content-type": "application/json" };
  return (await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** The calls that the model makes, one after the other, then it is done. */
function scripted(calls: Calls): readonly Fixture[] {
  const answers = calls.map(
    ([name, input], index): Fixture => ({
      match: { sequenceIndex: index },
      response: { toolCalls: [{ name, arguments: JSON.stringify(input) }] },
    }),
  );
  return [...answers, { match: {}, response: { content: "Done." } }];
}

/** The tools that each request had, the calls that were made, what the model was told. */
async function play(host: Host, disallowed: string, calls: Calls) {
  const world = createWorld();
  world.write({
    "home/.metier/skills/careful/SKILL.md": skill("careful", `disallowed-tools: ${disallowed}`, "Only look."),
  });
  const provider = await startProvider(scripted(calls));
  const made: string[] = [];
  const told: string[] = [];
  const skills = await host({
    calls,
    tell: (text) => void told.push(text),
    metier: await world.metier(),
    baseURL: `${provider.url}/v1`,
    run(name, input) {
      made.push(`${name} ${JSON.stringify(typeof input === "string" ? JSON.parse(input) : input)}`);
      return "made";
    },
  });
  const requests = provider.requests().map(({ body }) => body as unknown as RequestBody);
  const shown = requests.map(({ tools = [] }) => tools.map((one) => one.name ?? one.function?.name ?? ""));
  return { skills, made, shown, told: `${told}${JSON.stringify(requests.at(-1))}` };
}

interface RequestBody {
  readonly tools?: readonly { readonly name?: string; readonly function?: { readonly name: string } }[];
}

const USE = ["use_skill", { skill: "careful" }] as const;

describe.each(Object.entries({ ...HOSTS, "Claude Agent SDK": claude }))("%s [C13]", (_name, host) => {
  test("takes away the tools that a followed skill disallows, and refuses calls of them", async () => {
    const ls = ["shell", { command: "ls" }] as const;
    const calls = [ls, USE, ls, ["weather", { command: "x" }]] as const;
    const { shown, made, told, skills } = await play(host, "[Bash, send_mail]", calls);
    const left = shown.map((names) => OWN.filter((name) => names.includes(name)));
    // The client of Claude has no means to hide a tool for a turn: there every call is refused.
    const after = host === claude ? [] : [["weather"], ["weather"], ["weather"]];
    expect(left).toEqual(host === claude ? [] : [[...OWN], [...OWN], ...after]);
    expect(made).toEqual(['shell {"command":"ls"}', 'weather {"command":"x"}']);
    expect(told).toContain("Only look.");
    expect(skills.reports).toEqual([]);
    expect(skills.conversation.activations.map(({ name }) => name)).toEqual(["careful"]);
  });

  test("looks at single calls where the skill disallows some of them", async () => {
    const calls = [USE, ["shell", { command: "rm -r x" }], ["shell", { command: "ls" }]] as const;
    const { shown, made, told, skills } = await play(host, '["Bash(rm:*)"]', calls);
    for (const names of shown) expect(names).toContain("shell");
    expect(made).toEqual(['shell {"command":"ls"}']);
    expect(told).toContain("was not allowed");
    expect(told).toContain("Bash(rm:*)");
    expect(skills.reports).toEqual([]);
  });
});
