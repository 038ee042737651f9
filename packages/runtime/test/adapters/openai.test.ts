import { describe, expect, test } from "vitest";
import { createWorld, skill } from "../../../../test/support/world.ts";
import { openAiAgentSkills, openAiChatSkills, openAiResponsesSkills } from "../../src/adapters/openai.ts";
import type { Metier } from "../../src/runtime/create-metier.ts";
import { createScriptedModel } from "../../src/testing/test-metier.ts";

async function open(): Promise<Metier> {
  const world = createWorld();
  world.write({
    "home/.metier/skills/style/SKILL.md": skill("style", "", "Be brief."),
    "home/.metier/skills/slow/SKILL.md": skill("slow", "context: fork", "Wait."),
  });
  const model = createScriptedModel([{ answer: { text: "Too late.", delayMs: 60_000 } }]);
  return world.metier({ models: { default: model } });
}

const FOREIGN = "weather";

test("every shape has the same tools, none of them strict, all with every part that OpenAI wants", async () => {
  const metier = await open();
  const agent = (await openAiAgentSkills(metier)).tools;
  const responses = (await openAiResponsesSkills(metier)).tools;
  const chat = (await openAiChatSkills(metier)).tools;
  expect(agent.map(({ name }) => name)).toEqual(["use_skill", "list_skills", "read_skill_file"]);
  expect(chat.map((tool) => tool.function.parameters)).toEqual(agent.map(({ parameters }) => parameters));
  for (const [index, { name, description, parameters, strict }] of responses.entries()) {
    expect(agent[index]).toMatchObject({ name, description, parameters, strict });
    expect(strict).toBe(false);
    expect(parameters).toMatchObject({
      type: "object",
      properties: expect.any(Object),
      required: expect.any(Array),
      additionalProperties: false,
    });
  }
});

describe("calls", () => {
  test("of the Responses API are answered in order, those of others are left alone", async () => {
    const { answer } = await openAiResponsesSkills(await open());
    const call = (call_id: string, name: string, args: unknown) => ({
      type: "function_call",
      call_id,
      name,
      arguments: args,
    });
    const answers = await answer([
      { type: "reasoning", summary: [] },
      call("1", "use_skill", '{"skill":"style"}'),
      call("2", FOREIGN, "{}"),
      call("3", "list_skills", ""),
      call("4", "use_skill", '{"skill":'),
      null,
    ]);
    expect(answers).toEqual([
      { type: "function_call_output", call_id: "1", output: expect.stringContaining("Be brief.") },
      { type: "function_call_output", call_id: "3", output: expect.stringContaining("The style skill.") },
      {
        type: "function_call_output",
        call_id: "4",
        output: expect.stringContaining("must be a JSON object"),
      },
    ]);
  });

  test("of a chat are answered by message", async () => {
    const { answer, restore } = await openAiChatSkills(await open());
    const call = (id: string, name: string, args: string) => ({
      id,
      type: "function",
      function: { name, arguments: args },
    });
    const message = { tool_calls: [call("1", "use_skill", '{"skill":"style"}'), call("2", FOREIGN, "{}")] };
    const answers = await answer(message);
    expect(answers).toEqual([
      { role: "tool", tool_call_id: "1", content: expect.stringContaining("Be brief.") },
    ]);
    expect(restore(answers)).toBe("");
    expect(restore([])).toBe(answers[0]?.content);
    expect(await answer({ tool_calls: null })).toEqual([]);
    expect(await answer({})).toEqual([]);
  });

  test("of an agent end with its run", async () => {
    const { tools } = await openAiAgentSkills(await open());
    const stop = new AbortController();
    const use = tools.find(({ name }) => name === "use_skill");
    const answer = use?.invoke({}, '{"skill":"slow","message":"Go."}', { signal: stop.signal });
    stop.abort();
    expect(await answer).toContain("It was cancelled");
    expect([await use?.needsApproval(), await use?.isEnabled()]).toEqual([false, true]);
  });
});
