import { generateText, isStepCount, tool } from "ai";
import { generateText as generateText6, stepCountIs } from "ai-6";
import { createOpenAICompatible } from "ai-sdk-openai-compatible-2";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { startProvider } from "../../../../test/support/aimock.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import { type AiSdkStep, aiSdkSkills } from "../../src/adapters/ai-sdk.ts";

const FILES = {
  "home/.metier/skills/careful/SKILL.md": skill("careful", "disallowed-tools: [shell]", "Only look."),
};

async function open(): ReturnType<typeof aiSdkSkills> {
  const world = createWorld();
  world.write(FILES);
  return aiSdkSkills(await world.metier());
}

const CALL = { messages: [{ role: "user", content: "Go." }] };

function step(more: Partial<AiSdkStep>): AiSdkStep {
  return { messages: [], steps: [], ...more };
}

describe("a tool", () => {
  test("answers with text for the model, and says where something is wrong", async () => {
    const { tools } = await open();
    const use = tools.use_skill;
    const good = await use?.execute({ skill: "careful" }, CALL);
    const bad = await use?.execute({ skill: "no-such" }, CALL);
    expect(good && use?.toModelOutput({ output: good })).toMatchObject({ type: "text" });
    expect(bad && use?.toModelOutput({ output: bad })).toMatchObject({
      type: "error-text",
      value: expect.stringContaining("careful"),
    });
  });

  test("has a schema that the AI SDK sends as it is, and tells the model what is wrong with a call", async () => {
    const call = (input: string) => ({ toolCalls: [{ name: "use_skill", arguments: input }] });
    const provider = await startProvider([
      { match: { hasToolResult: true }, response: { content: "Done." } },
      { match: {}, response: call('{"skil":"careful"}') },
    ]);
    const { instructions, tools } = await open();
    await generateText({
      model: await provider.model("openai-chat"),
      instructions,
      tools,
      stopWhen: isStepCount(2),
      prompt: "Go.",
    });
    const [first, second] = provider.requests().map(({ body }) => JSON.stringify(body));
    expect(first).toContain('"enum":["careful"]');
    // The input of a skill is an object of its own making, which the AI SDK must not close.
    expect(first).toMatch(/"input":\{"type":"object","description":"[^"]*","additionalProperties":\{\}\}/);
    expect(second).toContain("Invalid input for `use_skill`");
  });
});

describe("`prepareStep`", () => {
  test("takes away what the followed skill disallows, until the next message of the user", async () => {
    const skills = await open();
    const shell = tool({ description: "A shell.", inputSchema: z.object({}), execute: () => "ran" });
    const prepare = skills.prepareStep({ ...skills.tools, shell });
    expect(prepare(step({}))).toEqual({});
    const { text } = (await skills.tools.use_skill?.execute({ skill: "careful" }, CALL)) ?? { text: "" };
    const followed = { toolName: "use_skill", input: { skill: "careful" } };
    expect(prepare(step({ messages: [text], steps: [{ toolCalls: [followed] }] }))).toEqual({
      activeTools: ["use_skill", "list_skills", "read_skill_file"],
    });
    expect(prepare(step({ messages: [text] }))).toEqual({});
  });

  test("holds in a loop: the request after the skill has no such tool", async () => {
    const provider = await startProvider([
      { match: { hasToolResult: true }, response: { content: "Done." } },
      {
        match: {},
        response: { toolCalls: [{ name: "use_skill", arguments: '{"skill":"careful"}' }] },
      },
    ]);
    const skills = await open();
    const shell = tool({ description: "A shell.", inputSchema: z.object({}), execute: () => "ran" });
    const tools = { ...skills.tools, shell };
    await generateText({
      model: await provider.model("openai-responses"),
      instructions: skills.instructions,
      tools,
      prepareStep: skills.prepareStep(tools),
      stopWhen: isStepCount(3),
      prompt: "Go.",
    });
    const [first, second] = provider.requests().map(({ body }) => JSON.stringify(body));
    expect(first).toContain("A shell.");
    expect(second).not.toContain("A shell.");
    expect(second).toContain("Only look.");
  });

  test("gives instructions again that were cut out of the messages, whatever form the others have", async () => {
    const skills = await open();
    const { text = "" } = (await skills.tools.use_skill?.execute({ skill: "careful" }, CALL)) ?? {};
    const prepare = skills.prepareStep(skills.tools);
    const kept = {
      role: "tool",
      content: [{ type: "tool-result", output: { type: "text", value: text } }],
    };
    expect(prepare(step({ messages: [kept], instructions: "Be good." }))).toEqual({});
    expect(prepare(step({ instructions: "Be good." }))).toEqual({ instructions: `Be good.\n\n${text}` });
    expect(prepare(step({}))).toEqual({ instructions: text });
    const system = { role: "system", content: "Be good." } as const;
    const added = { role: "system", content: text };
    expect(prepare(step({ instructions: system }))).toEqual({ instructions: [system, added] });
    expect(prepare(step({ instructions: [system] }))).toEqual({ instructions: [system, added] });
  });
});

describe("AI SDK 6 [L13]", () => {
  test("its models run skills that fork, whole and streamed, with the tools of the run", async () => {
    const provider = await startProvider([
      { match: { hasToolResult: true }, response: { content: "Two files." } },
      { match: {}, response: { toolCalls: [{ name: "list_skills", arguments: "{}" }] } },
    ]);
    const world = createWorld();
    world.write({ "home/.metier/skills/count/SKILL.md": skill("count", "context: fork", "Count.") });
    const model = createOpenAICompatible({ name: "fake", baseURL: `${provider.url}/v1`, includeUsage: true })(
      "gpt-4.1",
    );
    expect(model.specificationVersion).toBe("v3");
    const metier = await world.metier({ models: { default: model } });
    const result = await metier.run({ skill: "count", message: "How many?" });
    expect(result).toMatchObject({ status: "completed", text: "Two files." });
    const handle = metier.start({ skill: "count", message: "How many?" });
    let text = "";
    for await (const part of handle.textStream) text += part;
    expect(text).toBe("Two files.");
    const skills = await aiSdkSkills(metier);
    expect(
      await skills.tools.use_skill?.execute({ skill: "count", message: "How many?" }, CALL),
    ).toMatchObject({ isError: false, text: expect.stringContaining("Two files.") });
  });

  test("gives cut instructions again in a system message before the others", async () => {
    const provider = await startProvider([{ match: {}, response: { content: "Done." } }]);
    const skills = await open();
    await skills.tools.use_skill?.execute({ skill: "careful" }, CALL);
    await generateText6({
      model: createOpenAICompatible({ name: "fake", baseURL: `${provider.url}/v1` })("gpt-4.1"),
      system: "Be good.",
      prepareStep: skills.prepareStep({}),
      stopWhen: stepCountIs(1),
      prompt: "Go on.",
    });
    const [{ body }] = provider.requests() as unknown as [{ body: { messages: { role: string }[] } }];
    expect(body.messages.map(({ role }) => role)).toEqual(["system", "system", "user"]);
    expect(JSON.stringify(body.messages[1])).toContain("Only look.");
  });
});
