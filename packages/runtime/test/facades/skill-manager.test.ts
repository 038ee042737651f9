import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  SkillInvocationError,
  SkillNotFoundError,
  SkillResourceError,
  UsageError,
} from "@metier/base/errors";
import { answer, type Tool } from "@metier/run";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import { SkillManager, type SkillManagerConfig } from "../../src/facades/skill-manager.ts";
import { createScriptedModel } from "../../src/testing/test-metier.ts";

function tool(name: string): Tool<unknown> {
  return {
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object" },
    effect: "read",
    execute: async () => answer(name),
  };
}

function given(name: string, more: Readonly<Record<string, string>> = {}) {
  return { name, description: `The ${name} skill.`, instructions: `Do ${name}.`, ...more };
}

function open(world: World, config: SkillManagerConfig = {}): Promise<SkillManager> {
  return SkillManager.create({ cwd: world.project, home: world.home, ...config });
}

describe("activating", () => {
  verifies([79, 132, "case 67"], "reads the body now, and puts the arguments in", async () => {
    const world = createWorld();
    const file = "project/.mamba/skills/compare/SKILL.md";
    world.write({ [file]: skill("compare", "", "Old text.") });
    const manager = await open(world);
    expect(JSON.stringify(manager.get("compare"))).not.toContain("Old text.");
    const body = "Compare $ARGUMENTS[0] with $1.\nAll: $ARGUMENTS";
    world.write({ [file]: skill("compare", "", body) });
    expect(await manager.activate("compare", "data.csv 'base line.csv'")).toBe(
      "Compare data.csv with base line.csv.\nAll: data.csv 'base line.csv'",
    );
    expect(await manager.load("compare")).toMatchObject({ info: { name: "compare" }, body });
    expect(await manager.load("nothing")).toBeUndefined();
  });

  verifies(
    [132, "case 68"],
    "again refreshes; deactivating twice, or what is unknown, is no fault",
    async () => {
      const world = createWorld();
      const file = "project/.mamba/skills/a/SKILL.md";
      world.write({ [file]: skill("a", "", "One.") });
      const manager = await open(world);
      expect(manager.isActive("a")).toBe(false);
      expect(await manager.activate("a")).toBe("One.");
      world.write({ [file]: skill("a", "", "Two.") });
      expect(await manager.activate("project:a")).toBe("Two.");
      expect(manager.isActive("a")).toBe(true);
      for (const name of ["a", "a", "unknown", "project:a"]) manager.deactivate(name);
      expect(manager.isActive("a")).toBe(false);
      expect(await manager.activate("a")).toBe("Two.");
    },
  );

  verifies(["case 68"], "deregistering an active skill deactivates it, and all of its folder", async () => {
    const world = createWorld();
    world.write({ "more/b/SKILL.md": skill("b"), "more/c/SKILL.md": skill("c") });
    const manager = await open(world);
    await manager.register(given("a"), { tools: [tool("run")] });
    await manager.register(join(world.root, "more"));
    for (const name of ["a", "b", "c"]) await manager.activate(name);
    await manager.deregister("a");
    await manager.deregister("b");
    expect(["a", "b", "c"].map((name) => manager.isActive(name))).toEqual([false, false, false]);
    expect(manager.getAllTools()).toEqual([]);
    await manager.register(given("a"));
    await manager.activate("a");
    expect(manager.getAllTools()).toEqual([]);
    await expect(manager.deregister("b")).rejects.toThrow(SkillNotFoundError);
  });

  verifies(["case 66", 201], "is refused with name, source and reason", async () => {
    const world = createWorld();
    world.write({
      "project/.mamba/skills/off/SKILL.md": skill("off"),
      "home/.metier/config.toml": "[skills.off]\nenabled = false\n",
      "shared/forking/SKILL.md": skill("forking", "context: fork"),
    });
    const manager = await open(world, { customPaths: [join(world.root, "shared")] });
    await expect(manager.activate("nowhere")).rejects.toMatchObject({
      name: "SkillNotFoundError",
      skillName: "nowhere",
    });
    const refused = await manager.activate("off").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SkillInvocationError);
    expect(refused).toMatchObject({ skillName: "off", source: "code", cause: { reason: "disabled" } });
    expect((refused as SkillInvocationError).reason).toContain("disabled");
    await expect(manager.activate("forking")).rejects.toMatchObject({ cause: { reason: "trust" } });
    expect(manager.isActive("off") || manager.isActive("forking")).toBe(false);
  });

  verifies(
    [146, 152, "case 88"],
    "runs a skill that forks; a run that fails is an invocation error",
    async () => {
      const world = createWorld();
      const extract: Tool<unknown> = { ...tool("extract"), execute: async () => answer("7 pages") };
      const model = createScriptedModel([
        {
          expect: { system: "Count the pages of a.pdf." },
          answer: { toolCalls: [{ tool: "extract", input: {} }] },
        },
        { expect: { toolResult: "7 pages" }, answer: { text: "It has 7 pages." } },
        { answer: { error: { message: "overloaded", status: 400 } } },
      ]);
      const manager = await open(world, { models: { default: model } });
      const fork = { context: "fork", instructions: "Count the pages of $0." };
      await manager.register(given("count", fork), { tools: [extract] });
      expect(await manager.activate("count", "a.pdf")).toBe("It has 7 pages.");
      expect(manager.isActive("count")).toBe(false);
      expect(await manager.activate("count", "a.pdf").catch((error: unknown) => error)).toMatchObject({
        name: "SkillInvocationError",
        skillName: "count",
        source: "code",
        reason: expect.stringContaining("overloaded"),
        cause: { status: "failed" },
      });
      model.assertDone();
    },
  );
});

describe("the tools of skills", () => {
  verifies([154, 155, "case 96"], "are those of active skills, under the name of their skill", async () => {
    const world = createWorld();
    const manager = await open(world);
    await manager.register(given("pdf"), { tools: [tool("extract"), tool("merge")] });
    await manager.register(given("csv"), { tools: [tool("extract")] });
    await manager.register(given("plain"));
    expect(manager.getAllTools()).toEqual([]);
    for (const name of ["pdf", "csv", "plain"]) await manager.activate(name);
    const tools = manager.getAllTools();
    expect(tools.map(({ id, skill: owner, name }) => [id, owner, name])).toEqual([
      ["pdf:extract", "pdf", "pdf__extract"],
      ["pdf:merge", "pdf", "pdf__merge"],
      ["csv:extract", "csv", "csv__extract"],
    ]);
    expect(await tools[1]?.execute({}, undefined)).toEqual(answer("merge"));
    manager.deactivate("pdf");
    expect(manager.getAllTools().map(({ id }) => id)).toEqual(["csv:extract"]);
  });

  verifies(
    [154, "case 96"],
    "keep their own names where that is configured; two of one name are refused",
    async () => {
      const world = createWorld();
      const manager = await open(world, { namespaceTools: false });
      await manager.register(given("pdf"), { tools: [tool("extract")] });
      await manager.register(given("csv"), { tools: [tool("extract")] });
      await manager.activate("pdf");
      expect(manager.getAllTools()).toMatchObject([{ id: "extract", name: "extract", skill: "pdf" }]);
      await manager.activate("csv");
      expect(() => manager.getAllTools()).toThrow(UsageError);
      expect(() => manager.getAllTools()).toThrow("`pdf` and `csv` both have a tool `extract`");
    },
  );

  test("do not reach another skill of that name", async () => {
    const world = createWorld();
    world.write({ "project/.mamba/skills/a/SKILL.md": skill("a"), "more/a/SKILL.md": skill("a") });
    const manager = await open(world);
    await manager.register(join(world.root, "more/a"), { tools: [tool("run")] });
    await manager.activate("a");
    expect(manager.isActive("project:a")).toBe(true);
    expect(manager.getAllTools()).toEqual([]);
    await manager.activate("custom:a");
    expect(manager.getAllTools()).toMatchObject([{ id: "a:run" }]);
  });

  test("are gone when their skill is", async () => {
    const world = createWorld();
    world.write({ "more/a/SKILL.md": skill("a") });
    const manager = await open(world);
    await manager.register(join(world.root, "more/a"), { tools: [tool("run")] });
    await manager.activate("a");
    rmSync(join(world.root, "more/a"), { recursive: true });
    await manager.discover();
    expect(manager.getAllTools()).toEqual([]);
  });
});

verifies([116, "case 97"], "references are listed and read by name, and nothing else is", async () => {
  const world = createWorld();
  world.write({
    "project/.mamba/skills/a/SKILL.md": skill("a"),
    "project/.mamba/skills/a/references/style.md": "Be brief.",
    "project/.mamba/skills/a/references/deep/data.json": '{"a":1}',
    "project/.mamba/skills/a/scripts/run.sh": "echo",
    "project/.mamba/skills/b/SKILL.md": skill("b"),
  });
  const manager = await open(world);
  expect(manager.getReferences("a")).toEqual(["deep/data.json", "style.md"]);
  expect(manager.getReferences("b")).toEqual([]);
  expect(manager.loadReference("a", "style.md")).toBe("Be brief.");
  expect(JSON.parse(manager.loadReference("a", "deep/data.json"))).toEqual({ a: 1 });
  for (const file of ["none.md", "../SKILL.md", "../scripts/run.sh", "/etc/passwd", ""]) {
    expect(() => manager.loadReference("a", file), file).toThrow(SkillResourceError);
  }
  expect(() => manager.getReferences("nothing")).toThrow(SkillNotFoundError);
  expect(() => manager.loadReference("nothing", "style.md")).toThrow(SkillNotFoundError);
});
