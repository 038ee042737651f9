/** The second system's quick start and checklist: every form of a skill, an input schema, an alias, tools that must exist. */
import { createScriptedModel, type Script, SkillExecutor, SkillRegistry, SkillResult } from "metier";
import { describe, expect } from "vitest";
import { calls, says } from "../support/scripted-runs.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill, type World } from "../support/world.ts";

const SUMMARIZE = `---
description: Makes long texts short.
preferred_model: fast
required_tools:
  - bash
max_iterations: 3
input_schema:
  type: object
  properties:
    content: { type: string, description: A text or a file }
    format: { type: string, enum: [bullets, paragraph], default: bullets }
  required: [content]
---

Keep to the facts, in the format that is asked for.
`;

async function open(world: World, scripts: Readonly<Record<string, Script>> = {}) {
  const given = Object.entries({ default: [], ...scripts });
  const models = Object.fromEntries(
    given.map(([alias, script]) => [alias, createScriptedModel(script, alias)]),
  );
  const registry = new SkillRegistry({ preset: "ash", home: world.home, models });
  await registry.discover(world.project);
  return { registry, executor: new SkillExecutor(registry), models };
}

function openWorkspace(files: Readonly<Record<string, string>>): World {
  const world = createWorld();
  const placed = Object.entries(files).map(([path, text]) => [`project/workspace/skills/${path}`, text]);
  world.write(Object.fromEntries(placed));
  return world;
}

describe("the second system's quick start", () => {
  verifies(
    [9, 21, 23, 25, 124, 159, 209],
    "a skill is run with checked input, by the model of its alias, with the tools it requires",
    async () => {
      const world = openWorkspace({ "summarize/SKILL.md": SUMMARIZE });
      const { registry, executor, models } = await open(world, {
        fast: [
          says("- It rains.", {
            system: "Keep to the facts",
            lastUserText: { contains: ['"content": "It rains a lot."', '"format": "bullets"'] },
            tools: ["bash"],
          }),
        ],
      });
      expect(registry.getDefinitions()).toMatchObject([
        { name: "summarize", inputSchema: { required: ["content"] } },
      ]);
      const context = { sessionId: "s1", userId: "ada", chatId: "7" };
      const result = await executor.execute("summarize", { content: "It rains a lot." }, context);
      expect(result).toEqual(SkillResult.success("- It rains.", 1));
      models.fast?.assertDone();
    },
  );

  verifies(
    [124, 209, "case 81"],
    "input that does not fit is told by field, before any model call",
    async () => {
      const { executor } = await open(openWorkspace({ "summarize/SKILL.md": SUMMARIZE }));
      const missing = await executor.execute("summarize");
      expect(missing.isError).toBe(true);
      expect(missing.content).toMatch(/^Invalid input: .*content/);
      const wrong = await executor.execute("summarize", { content: "x", format: "haiku" });
      expect(wrong.content).toMatch(/^Invalid input: .*format.*bullets/);
    },
  );
});

describe("the second system's checklist", () => {
  verifies(
    [1, 2, 3, 53, 209],
    "folders, Markdown and YAML files load; what cannot be used is reported",
    async () => {
      const world = openWorkspace({
        "folder/SKILL.md": "---\ndescription: A folder.\n---\n\nSay hello.\n",
        "flat.md": "---\ndescription: A file.\n---\n\nSay hello.\n",
        "old.yaml": "description: YAML.\ninstructions: Say hello.\n",
        "older.yml": "name: oldest\ndescription: More YAML.\ninstructions: Say hello.\n",
        "bare/SKILL.md": "No frontmatter.\n",
        "mute/SKILL.md": "---\nname: mute\n---\n\nNo description.\n",
      });
      const { registry, executor } = await open(world, {
        default: Array.from({ length: 4 }, () => says("Hello.")),
      });
      expect(registry.listNames()).toEqual(["flat", "folder", "old", "oldest"]);
      for (const name of registry.listNames()) {
        expect(await executor.execute(name), name).toEqual(SkillResult.success("Hello.", 1));
      }
      const reported = registry.metier?.diagnostics().map(({ path }) => path.replace(/^.*skills\//, ""));
      expect(reported).toEqual(expect.arrayContaining(["bare/SKILL.md", "mute/SKILL.md"]));
    },
  );

  verifies([69, 209], "an empty workspace has no skills, and that is no error", async () => {
    const world = openWorkspace({});
    const { registry, executor } = await open(world);
    expect(registry.listNames()).toEqual([]);
    expect(await executor.execute("ghost")).toMatchObject({
      isError: true,
      content: "Skill 'ghost' not found",
    });
  });

  verifies(
    [112, 120, 122, 134, 209, "case 85"],
    "a model lists the skills and uses one with an input object; the answer comes back to it",
    async () => {
      const schema = "input_schema:\n  type: object\n  required: [who]";
      const world = openWorkspace({ "greet/SKILL.md": skill("greet", schema, "Say hello.") });
      const { registry } = await open(world, {
        default: [says("Hello, Ada!", { lastUserText: '"who": "Ada"' })],
        main: [
          calls("list_skills", {}),
          calls("use_skill", { skill: "greet", input: {} }, { toolResult: "The greet skill." }),
          calls("use_skill", { skill: "greet", input: { who: "Ada" } }, { toolResult: "Invalid input" }),
          says("It said hello.", { toolResult: "<output>\nHello, Ada!\n</output>" }),
        ],
      });
      const chat = await registry.metier?.chat({ model: "main" });
      expect(await chat?.send("Greet Ada.")).toMatchObject({ status: "completed", text: "It said hello." });
    },
  );

  verifies(
    [101, 160, 209, "case 75", "case 80"],
    "a missing tool stops a run; a missing alias does not",
    async () => {
      const world = openWorkspace({
        "far/SKILL.md": skill("far", "required_tools: [telescope]"),
        "slow/SKILL.md": skill("slow", "preferred_model: nowhere"),
      });
      const { registry, executor } = await open(world, { default: [says("By the default.")] });
      expect(await executor.execute("far")).toMatchObject({
        isError: true,
        content: expect.stringContaining("Skill requires tool 'telescope' which is not available"),
      });
      const result = await registry.metier?.run({ skill: "slow" });
      expect(result).toMatchObject({ status: "completed", text: "By the default." });
      expect(result?.diagnostics).toContainEqual(
        expect.objectContaining({ code: "model.unknown", severity: "warning" }),
      );
    },
  );
});
