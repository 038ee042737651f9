import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  MetierError,
  SkillConflictError,
  SkillInvocationError,
  SkillNotFoundError,
} from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import { Agent, type AgentOptions } from "../../src/facades/agent.ts";
import { createScriptedModel } from "../../src/testing/test-metier.ts";

const GREET = { name: "greet", description: "Greet someone.", instructions: "Greet $0 in $1." };

function open(world: World, options: AgentOptions = {}): Promise<Agent> {
  return Agent.create({ cwd: world.project, home: world.home, ...options });
}

describe("an agent", () => {
  verifies(83, "has no manager until skills are set up, and looking for one makes none", async () => {
    const world = createWorld();
    world.write({ "project/.mamba/skills/a/SKILL.md": skill("a") });
    const agent = await open(world);
    expect(agent.skillManager).toBeUndefined();
    expect(agent.hasSkillManager).toBe(false);
    expect(agent.listSkills()).toEqual([]);
    expect(await agent.getSkill("a")).toBeUndefined();
    await expect(agent.invokeSkill("a")).rejects.toThrow(SkillNotFoundError);
    expect(agent.hasSkillManager).toBe(false);
    const [one, two] = await Promise.all([agent.initSkills(), agent.initSkills()]);
    expect(one).toBe(two);
    expect(agent.skillManager).toBe(one);
    expect(agent.hasSkillManager).toBe(true);
    expect(agent.listSkills()).toEqual([]);
  });

  verifies(
    [80, 84, "case 95"],
    "registers by path, URL or object; lists metadata; reads a body when asked",
    async () => {
      const world = createWorld();
      world.write({
        "more/a/SKILL.md": skill("a", "", "Body of a."),
        "more/b/SKILL.md": skill("b", "", "Body of b."),
      });
      const agent = await open(world);
      await agent.registerSkill(join(world.root, "more/a"));
      await agent.registerSkill(pathToFileURL(join(world.root, "more/b")));
      await agent.registerSkill(GREET);
      await expect(agent.registerSkill(GREET)).rejects.toThrow(SkillConflictError);
      const listed = agent.listSkills();
      expect(listed.map(({ name, scope, trust }) => [name, scope, trust.level])).toEqual([
        ["a", "custom", "untrusted"],
        ["b", "custom", "untrusted"],
        ["greet", "integration", "trusted"],
      ]);
      expect(JSON.stringify(listed)).not.toContain("Body of");
      world.write({ "more/a/SKILL.md": skill("a", "", "New body of a.") });
      const loaded = await agent.getSkill("a");
      expect(loaded).toEqual({ info: listed[0], body: "New body of a." });
      expect(await agent.getSkill("none")).toBeUndefined();
    },
  );

  verifies(81, "takes skills and folders of skills when it is made", async () => {
    const world = createWorld();
    world.write({
      "project/.mamba/skills/a/SKILL.md": skill("a"),
      "project/mine/b/SKILL.md": skill("b"),
    });
    const names = async (options: AgentOptions) =>
      (await open(world, options)).listSkills().map(({ name }) => name);
    expect(await names({ skills: [".mamba/skills/a", GREET] })).toEqual(["a", "greet"]);
    expect(await names({ skillDirs: [".mamba/skills", "mine"] })).toEqual(["a", "b"]);
    expect(await names({ skillDirs: ["mine"], skills: [GREET] })).toEqual(["b", "greet"]);
    await expect(names({ skills: ["nowhere"] })).rejects.toThrow(SkillNotFoundError);
  });

  verifies(82, "takes settings for its skills as one object", async () => {
    const world = createWorld();
    world.write({
      "project/.mamba/skills/a/SKILL.md": skill("a"),
      "shared/b/SKILL.md": skill("b"),
    });
    const shared = join(world.root, "shared");
    const settings = { skills: { customPaths: [shared], trustedPaths: [shared] } };
    const agent = await open(world, { settings });
    expect(agent.listSkills().map(({ name, trust }) => [name, trust.level])).toEqual([
      ["a", "trusted"],
      ["b", "trusted"],
    ]);
    const quiet = await open(world, { settings: { skills: { autoDiscover: false } } });
    expect(quiet.listSkills()).toEqual([]);
  });

  test("tries again after skills could not be set up", async () => {
    const world = createWorld();
    const agent = await open(world, { cwd: join(world.root, "later") });
    await expect(agent.initSkills()).rejects.toThrow("`cwd`");
    expect(agent.hasSkillManager).toBe(false);
    mkdirSync(join(world.root, "later"));
    await agent.initSkills();
    expect(agent.hasSkillManager).toBe(true);
  });
});

describe("invoking a skill through an agent", () => {
  verifies([80, 127], "joins the arguments by spaces and gives the text", async () => {
    const agent = await open(createWorld(), { skills: [GREET] });
    expect(await agent.invokeSkill("greet", "Ada", "French")).toBe("Greet Ada in French.");
    expect(await agent.invokeSkill("greet", '"Ada L."', "French")).toBe("Greet Ada L. in French.");
    expect(await agent.invokeSkill("greet")).toBe("Greet  in .");
  });

  verifies([125, "case 65"], "is code's doing: flags about models and users do not hold it up", async () => {
    const flags = { "disable-model-invocation": true, "user-invocable": false };
    const agent = await open(createWorld(), { skills: [{ ...GREET, ...flags }] });
    expect(await agent.invokeSkill("greet", "Ada", "Latin")).toBe("Greet Ada in Latin.");
  });

  verifies(
    [146, 148, 149, 152, "case 87", "case 88", "case 89"],
    "runs a skill that forks with the agent's model; without trust it is an error",
    async () => {
      const world = createWorld();
      world.write({ "more/wild/SKILL.md": skill("wild", "context: fork") });
      const model = createScriptedModel([
        { expect: { system: "Greet Ada in Greek." }, answer: { text: "Χαῖρε, Ada!" } },
        { answer: { toolCalls: [{ tool: "list_files", input: {} }] } },
      ]);
      const fork = { ...GREET, context: "fork", "max-iterations": 1 };
      const agent = await open(world, { model, skills: [fork, join(world.root, "more/wild")] });
      expect(await agent.invokeSkill("greet", "Ada", "Greek")).toBe("Χαῖρε, Ada!");
      const limited = await agent.invokeSkill("greet", "Ada", "Greek").catch((error: unknown) => error);
      expect(limited).toBeInstanceOf(SkillInvocationError);
      expect(limited).toMatchObject({ reason: "The run was stopped: it reached its limit of iterations." });
      await expect(agent.invokeSkill("wild")).rejects.toMatchObject({
        name: "SkillInvocationError",
        skillName: "wild",
        source: "code",
      });
      model.assertDone();
    },
  );

  verifies([147, 151, "case 87"], "forks to a named agent; one that is missing is an error", async () => {
    const model = createScriptedModel([{ expect: { system: "You are terse." }, answer: { text: "Hi." } }]);
    const fork = { ...GREET, context: "fork" };
    const agent = await open(createWorld(), {
      model,
      settings: { skills: { agents: [{ name: "terse", systemPrompt: "You are terse." }] } },
      skills: [
        { ...fork, agent: "terse" },
        { ...fork, name: "lost", agent: "nobody" },
      ],
    });
    expect(await agent.invokeSkill("greet", "Ada", "Greek")).toBe("Hi.");
    const lost = await agent.invokeSkill("lost").catch((error: unknown) => error);
    expect(lost).toMatchObject({ name: "SkillInvocationError", skillName: "lost" });
    expect((lost as SkillInvocationError).reason).toContain("nobody");
    expect((lost as SkillInvocationError).reason).toContain("terse");
  });

  test("a model may be named instead of given; a skill's own word goes before it", async () => {
    const world = createWorld();
    const own = createScriptedModel([{ answer: { text: "By the skill's own." } }], "own");
    const usual = createScriptedModel([{ answer: { text: "By the usual one." } }], "usual");
    const fork = { ...GREET, context: "fork" };
    const agent = await open(world, {
      model: "usual",
      settings: { skills: { models: { own, usual } } },
      skills: [fork, { ...fork, name: "picky", model: "own" }],
    });
    expect(await agent.invokeSkill("greet")).toBe("By the usual one.");
    expect(await agent.invokeSkill("picky")).toBe("By the skill's own.");
  });
});

describe("talking with an agent", () => {
  verifies([120, 134], "it uses its skills, and goes on with the conversation", async () => {
    const model = createScriptedModel([
      {
        expect: { system: "Greet someone.", lastUserText: "Say hello to Ada." },
        answer: { toolCalls: [{ tool: "use_skill", input: { skill: "greet", arguments: "Ada Greek" } }] },
      },
      { expect: { toolResult: "Greet Ada in Greek." }, answer: { text: "Χαῖρε, Ada!" } },
      { expect: { lastUserText: "Thanks." }, answer: { text: "Gladly." } },
    ]);
    const agent = await open(createWorld(), { model, skills: [GREET] });
    expect(await agent.run("Say hello to Ada.")).toMatchObject({ status: "completed", text: "Χαῖρε, Ada!" });
    expect(await agent.run("Thanks.")).toMatchObject({ status: "completed", text: "Gladly." });
    model.assertDone();
  });

  test("without a model it says what is missing", async () => {
    const agent = await open(createWorld(), { settings: { skills: { environment: {} } } });
    await expect(agent.run("Hello")).rejects.toThrow(MetierError);
    await expect(agent.run("Hello")).rejects.toMatchObject({ code: "model.unavailable" });
  });
});
