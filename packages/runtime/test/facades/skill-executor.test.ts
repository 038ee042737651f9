import { answer, type Tool } from "@metier/run";
import type { Script } from "@metier/run/model";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import { SkillExecutor, SkillRegistry, SkillResult } from "../../src/facades/skill-registry.ts";
import { createScriptedModel } from "../../src/testing/test-metier.ts";

async function openRegistry(world: World, script: Script = []): Promise<SkillRegistry> {
  const registry = new SkillRegistry({
    preset: "ash",
    home: world.home,
    environment: { PATH: process.env.PATH },
    models: { default: createScriptedModel(script) },
  });
  await registry.discover(world.project);
  return registry;
}

function workspace(skills: Readonly<Record<string, string>>): World {
  const world = createWorld();
  world.write(
    Object.fromEntries(
      Object.entries(skills).map(([name, text]) => [`project/workspace/skills/${name}/SKILL.md`, text]),
    ),
  );
  return world;
}

describe("the executor", () => {
  verifies([89, 90], "runs a skill with an input and a context, and answers with a result", async () => {
    const schema = [
      "input_schema:",
      "  type: object",
      "  properties: { topic: { type: string }, length: { type: string, default: short } }",
      "  required: [topic]",
    ].join("\n");
    const world = workspace({ essay: skill("essay", schema, "Write an essay.") });
    const registry = await openRegistry(world, [
      {
        expect: {
          system: "Write an essay.",
          lastUserText: { matches: '"topic": "tides"[^}]*"length": "short"' },
        },
        answer: { text: "The moon pulls." },
      },
    ]);
    const executor = new SkillExecutor(registry);
    const result = await executor.execute("essay", { topic: "tides" }, { userId: "ada" });
    expect(result).toBeInstanceOf(SkillResult);
    expect(result).toEqual(SkillResult.success("The moon pulls.", 1));
  });

  verifies([133, "case 81", 124], "gives refusals as error results that say what to do", async () => {
    const world = workspace({
      strict: skill("strict", "input-schema: { type: object, required: [content] }"),
      needy: skill("needy", "required_tools: [teleport]"),
      secret: skill("secret", "env: [SOME_KEY]"),
    });
    const executor = new SkillExecutor(await openRegistry(world));
    const failed = async (name: string) => {
      const { content, isError, iterations } = await executor.execute(name);
      expect([isError, iterations]).toEqual([true, 0]);
      return content;
    };
    expect(await failed("strikt")).toContain("`strict`");
    expect(await failed("strict")).toMatch(/Invalid input.*content/s);
    expect(await failed("needy")).toContain("'teleport'");
    expect(await failed("secret")).toMatch(/SOME_KEY.*\[skills\.secret\]/s);
  });

  verifies(
    [143, "case 83", 84],
    "gives the text so far and the reason when a run did not complete",
    async () => {
      const world = workspace({ slow: skill("slow", "max_iterations: 1"), broken: skill("broken") });
      const executor = new SkillExecutor(
        await openRegistry(world, [
          { answer: { text: "Half of it.", toolCalls: [{ tool: "list_files", input: {} }] } },
          { answer: { error: { message: "no such model", status: 404 } } },
        ]),
      );
      expect(await executor.execute("slow")).toEqual(
        SkillResult.error("Half of it.\n\nThe run was stopped: it reached its limit of iterations.", 1),
      );
      expect(await executor.execute("broken")).toMatchObject({
        isError: true,
        content: expect.stringContaining("no such model"),
      });
    },
  );

  verifies([169, 171, "case 76"], "knows its caller", async () => {
    const world = workspace({ diary: skill("diary", "sensitive: true") });
    world.write({ "home/.ash/config.toml": '[skills.diary]\nallow_chat_ids = ["7"]\n' });
    const executor = new SkillExecutor(await openRegistry(world, [{ answer: { text: "Dear diary." } }]));
    const isError = async (context: object) => (await executor.execute("diary", {}, context)).isError;
    expect(await isError({ chatType: "private", chatId: "7" })).toBe(false);
    expect(await isError({ chatType: "private", chatId: "8" })).toBe(true);
    expect(await isError({ chatType: "group", chatId: "7" })).toBe(true);
    expect(await isError({})).toBe(true);
  });

  test("adds the context's input to that of the call, whose word counts", async () => {
    const world = workspace({ a: skill("a") });
    const executor = new SkillExecutor(
      await openRegistry(world, [
        { expect: { lastUserText: { contains: ['"lang": "de"', '"size": 2'] } }, answer: { text: "ok" } },
        { expect: { lastUserText: { matches: "^(?!.*Input:)" } }, answer: { text: "ok" } },
      ]),
    );
    const context = { inputData: { lang: "en", size: 2 } };
    expect((await executor.execute("a", { lang: "de" }, context)).isError).toBe(false);
    expect((await executor.execute("a")).isError).toBe(false);
  });

  verifies([21, 101, "case 80"], "gives runs the program's tools, which count as there", async () => {
    const world = workspace({ weather: skill("weather", "required_tools: [forecast]") });
    const forecast: Tool<unknown> = {
      name: "forecast",
      description: "Tells the weather.",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      effect: "read",
      execute: async ({ city }) => answer(`${city}: rain`),
    };
    const script: Script = [
      {
        expect: { tools: ["forecast"] },
        answer: { toolCalls: [{ tool: "forecast", input: { city: "Bergen" } }] },
      },
      { expect: { toolResult: "Bergen: rain" }, answer: { text: "Take a coat." } },
    ];
    const registry = await openRegistry(world, script);
    expect(await new SkillExecutor(registry, [forecast]).execute("weather")).toEqual(
      SkillResult.success("Take a coat.", 2),
    );
    expect((await new SkillExecutor(registry).execute("weather")).content).toContain("'forecast'");
  });

  test("a registry that has not looked for skills is a fault of the program", async () => {
    const executor = new SkillExecutor(new SkillRegistry());
    await expect(executor.execute("a")).rejects.toThrow("has not been searched yet");
  });
});

verifies(88, "the registry gives definitions with instructions, and the settings of a skill", async () => {
  const more = [
    "authors: [Ada]",
    "rationale: It saves time.",
    "env: [RESEARCH_KEY]",
    "packages: [jq]",
    "capabilities: [mail.send]",
    "allowed_tools: [bash]",
    "model: fast",
  ].join("\n");
  const world = workspace({ research: skill("research", more, "Look it up."), plain: skill("plain") });
  world.write({
    "home/.ash/config.toml": [
      "[skills.defaults]",
      'allow_chat_ids = ["1"]',
      "[skills.research]",
      'model = "smart"',
      'RESEARCH_KEY = "not-a-real-key"',
      "[skills.plain]",
      "enabled = false",
      "allow_chat_ids = []",
    ].join("\n"),
  });
  const registry = await openRegistry(world);
  expect(await registry.getDefinition("research")).toEqual({
    name: "research",
    description: "The research skill.",
    instructions: "Look it up.",
    skillPath: `${world.project}/workspace/skills/research/SKILL.md`,
    authors: ["Ada"],
    rationale: "It saves time.",
    env: ["RESEARCH_KEY"],
    packages: ["jq"],
    capabilities: ["mail.send"],
    allowedTools: ["bash"],
    requiredTools: [],
    model: "fast",
    preferredModel: "fast",
    maxIterations: 10,
  });
  expect(registry.getSettings("research")).toMatchObject({ model: "smart", allowChatIds: ["1"] });
  expect(Object.keys(registry.getSettings("research").env)).toEqual(["RESEARCH_KEY"]);
  expect(registry.getSettings("plain")).toMatchObject({ enabled: false, allowChatIds: [], env: {} });
  await expect(registry.getDefinition("nothing")).rejects.toThrow("`nothing`");
});

verifies(89, "results are made by name, and cannot be changed", () => {
  expect(SkillResult.success("Done.")).toMatchObject({ content: "Done.", isError: false, iterations: 0 });
  expect(SkillResult.error("No.", 3)).toMatchObject({ content: "No.", isError: true, iterations: 3 });
  expect(Object.isFrozen(SkillResult.success(""))).toBe(true);
});
