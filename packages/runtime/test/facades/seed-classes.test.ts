/** The classes as the documents of their systems show them, example by example. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  SkillConflictError,
  SkillError,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
  SkillValidationError,
  UsageError,
} from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import { Agent, type AgentOptions } from "../../src/facades/agent.ts";
import { AgentSkillsSection, SkillContextProvider } from "../../src/facades/prompt-sections.ts";
import { SkillManager, type SkillManagerConfig } from "../../src/facades/skill-manager.ts";
import { SkillExecutor, SkillRegistry, SkillResult } from "../../src/facades/skill-registry.ts";
import { createScriptedModel } from "../../src/testing/test-metier.ts";

const FOLDER = ".mamba/skills/code-reviewer";
const BROKEN = "---\n{{{{\n---\nText.\n";

function project(more: Readonly<Record<string, string>> = {}): World {
  const world = createWorld();
  const text = skill("code-reviewer", "context: fork", "Review $ARGUMENTS.");
  world.write({ [`project/${FOLDER}/SKILL.md`]: text, ...more });
  return world;
}

function openAgent(world: World, options: AgentOptions = {}): Promise<Agent> {
  return Agent.create({ cwd: world.project, home: world.home, ...options });
}

function openManager(world: World, config: SkillManagerConfig = {}): Promise<SkillManager> {
  return SkillManager.create({ cwd: world.project, home: world.home, ...config });
}

describe("Agent and SkillManager [F3]", () => {
  test("`skills` and `skillDirs` may name one skill", async () => {
    const agent = await openAgent(project(), { skills: [FOLDER], skillDirs: [".mamba/skills"] });
    expect(agent.listSkills()).toMatchObject([{ name: "code-reviewer", scope: "project" }]);
  });

  test("a path into a folder has the trust of that folder, any other is untrusted", async () => {
    const world = project({ "elsewhere/other/SKILL.md": skill("other", "context: fork") });
    const model = createScriptedModel([{ answer: { text: "Reviewed." } }]);
    const agent = await openAgent(world, { model, skills: [FOLDER, join(world.root, "elsewhere/other")] });
    expect(agent.listSkills().map(({ name, scope, trust }) => [name, scope, trust.level])).toEqual([
      ["code-reviewer", "project", "trusted"],
      ["other", "custom", "untrusted"],
    ]);
    expect(await agent.invokeSkill("code-reviewer", "src/main.ts")).toBe("Reviewed.");
    await expect(agent.invokeSkill("other")).rejects.toThrow(/trust/);
    await agent.skillManager?.deregister("code-reviewer");
    expect(agent.listSkills().map(({ name }) => name)).toEqual(["other"]);
  });

  test("a path into a linked folder that leads elsewhere gets nothing by its name", async () => {
    const world = project({ "elsewhere/other/SKILL.md": skill("other") });
    const agent = await openAgent(world, { skills: [join(world.root, "elsewhere/other")] });
    expect(agent.listSkills()).toMatchObject([{ trust: { level: "untrusted" } }]);
  });

  test("a skill that a list or `getSkill` gave can be registered", async () => {
    const world = project();
    const first = await openAgent(world, {
      skillDirs: [".mamba/skills"],
      skills: [
        {
          name: "greet",
          description: "Greet.",
          instructions: "Greet $0.",
          "argument-hint": "[name]",
          "user-invocable": false,
        },
      ],
    });
    const [reviewer, greet] = first.listSkills();
    const loaded = await first.getSkill("greet");
    const second = await openAgent(world);
    if (!reviewer || !greet || !loaded) throw new Error("missing");
    expect(await second.registerSkill(reviewer)).toMatchObject({ name: "code-reviewer", scope: "project" });
    expect(await second.registerSkill(loaded)).toMatchObject({
      name: "greet",
      scope: "integration",
      manifest: { argumentHint: "[name]", userInvocable: false },
      diagnostics: [],
    });
    expect(await second.invokeSkill("greet", "Ada")).toBe("Greet Ada.");
    await expect((await openAgent(world)).registerSkill(greet)).rejects.toThrow(UsageError);
    expect(await second.registerSkill(pathToFileURL(join(world.project, FOLDER)))).toMatchObject({
      name: "code-reviewer",
    });
  });

  test("`discover()` gives what there is, also when it was found at once", async () => {
    const world = project({ "shared/b/SKILL.md": skill("b") });
    const manager = await openManager(world, { customPaths: [join(world.root, "shared")] });
    const discovered = await manager.discover();
    expect(discovered.map(({ name }) => name)).toEqual(["b", "code-reviewer"]);
    const later = await openManager(world, { autoDiscover: false });
    expect(later.list()).toEqual([]);
    expect((await later.discover()).map(({ name }) => name)).toEqual(["code-reviewer"]);
  });

  test("two skills of one name in one directory are a conflict", async () => {
    const world = project({ "project/.mamba/skills/twin/SKILL.md": skill("code-reviewer") });
    await expect(openManager(world)).rejects.toThrow(SkillConflictError);
    const reported = await openManager(world, { conflicts: "report" });
    expect(reported.list()).toHaveLength(1);
  });

  test("a profile can be given", async () => {
    const world = project({
      "project/.mamba/skills/odd/SKILL.md": skill("odd", "metadata: { a: { b: 1 } }"),
    });
    const strict = await openManager(world, { profile: "strict" });
    expect((await openManager(world)).list().length).toBeGreaterThanOrEqual(strict.list().length);
  });

  test("a file that is no YAML any more is a parse error, to register and to use", async () => {
    const world = project({ "bad/code-reviewer/SKILL.md": BROKEN });
    const agent = await openAgent(world, { skillDirs: [".mamba/skills"] });
    world.write({ [`project/${FOLDER}/SKILL.md`]: BROKEN });
    const fault = await agent.invokeSkill("code-reviewer", "x").catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(SkillParseError);
    expect(fault).toBeInstanceOf(SkillError);
    expect(fault).toMatchObject({
      skillName: "code-reviewer",
      path: join(world.project, FOLDER, "SKILL.md"),
    });
    expect((fault as SkillParseError).detail).not.toBe("");
    const other = await openAgent(world);
    await expect(other.registerSkill(join(world.root, "bad/code-reviewer"))).rejects.toThrow(SkillParseError);
  });

  test("what is missing in a file is a validation error, to register and to use", async () => {
    const world = project({ "bad/x/SKILL.md": "---\nname: x\n---\nText." });
    const agent = await openAgent(world, { skillDirs: [".mamba/skills"] });
    world.write({ [`project/${FOLDER}/SKILL.md`]: "---\nname: code-reviewer\n---\nText." });
    await expect(agent.invokeSkill("code-reviewer")).rejects.toThrow(SkillValidationError);
    await expect(agent.registerSkill(join(world.root, "bad/x"))).rejects.toThrow(SkillValidationError);
  });

  test("a file that cannot be read after discovery is a load error; one that is gone is not found", async () => {
    const world = project();
    const agent = await openAgent(world, { skillDirs: [".mamba/skills"] });
    const file = join(world.project, FOLDER, "SKILL.md");
    rmSync(file);
    mkdirSync(file);
    await expect(agent.invokeSkill("code-reviewer")).rejects.toThrow(SkillLoadError);
    rmSync(join(world.project, FOLDER), { recursive: true });
    await expect(agent.invokeSkill("code-reviewer")).rejects.toThrow(SkillNotFoundError);
  });

  test("arguments go where the document puts them", async () => {
    const body = "Analyze $ARGUMENTS[0] and compare with $ARGUMENTS[1].\nFull request: $ARGUMENTS";
    const agent = await openAgent(createWorld(), {
      skills: [
        { name: "my-skill", description: "Compare.", instructions: body },
        { name: "short", description: "Short.", instructions: "[$0] [$1]" },
        { name: "none", description: "None.", instructions: "Do it." },
      ],
    });
    expect(await agent.invokeSkill("my-skill", "data.csv", "baseline.csv")).toBe(
      "Analyze data.csv and compare with baseline.csv.\nFull request: data.csv baseline.csv",
    );
    expect(await agent.invokeSkill("short", "file.txt report")).toBe("[file.txt] [report]");
    expect(await agent.invokeSkill("short", '"hello world"', "other")).toBe("[hello world] [other]");
    expect(await agent.invokeSkill("short", "hello world", "x")).toBe("[hello world] [x]");
    expect(await agent.invokeSkill("short", "it's", 'a "b"')).toBe(`[it's] [a "b"]`);
    expect(await agent.invokeSkill("short", "one")).toBe("[one] []");
    expect(await agent.invokeSkill("short")).toBe("[] []");
    expect(await agent.invokeSkill("my-skill")).toBe("Analyze  and compare with .\nFull request: ");
    expect(await agent.invokeSkill("none", "a b")).toContain("ARGUMENTS: a b");
    expect(await agent.invokeSkill("none")).toBe("Do it.");
  });
});

describe("SkillRegistry and SkillExecutor [F1]", () => {
  test("finds the skills of a workspace without further options, in all forms", async () => {
    const world = createWorld();
    const yaml =
      "name: summarize\ndescription: Summarize.\npreferred_model: fast\ninstructions: |\n  Do it.\n";
    world.write({
      "project/workspace/skills/test/SKILL.md": "---\ndescription: Test skill\n---\n\nSay hello.\n",
      "project/workspace/skills/flat.md": skill("flat"),
      "project/workspace/skills/summarize.yaml": yaml,
    });
    const registry = new SkillRegistry({ home: world.home });
    await registry.discover(join(world.project, "workspace"));
    expect(registry.listNames()).toEqual(["flat", "summarize", "test"]);
    expect(await registry.getDefinition("summarize")).toMatchObject({ preferredModel: "fast" });
    const parent = new SkillRegistry({ home: world.home });
    await parent.discover(world.project);
    expect(parent.listNames()).toEqual(["flat", "summarize", "test"]);
  });

  test("says that a skill was not found in the words of its document", async () => {
    const world = createWorld();
    const registry = new SkillRegistry({ home: world.home });
    await registry.discover(world.project);
    const executor = new SkillExecutor(registry);
    expect(await executor.execute("name", {}, {})).toEqual(SkillResult.error("Skill 'name' not found"));
  });
});

describe("SkillContextProvider [F2]", () => {
  test("tells of skills that are disabled or unavailable where that is asked for", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/skills/off/SKILL.md": skill("off"),
      "project/.metier/skills/gh/SKILL.md": skill("gh", "metadata: { requires: zz-none }"),
      "home/.metier/config.toml": "[skills.off]\nenabled = false\n",
    });
    const metier = await world.metier();
    const usable = new SkillContextProvider(metier);
    expect([usable.getSkill("off"), usable.getSkill("gh"), usable.getSkillNames()]).toEqual([
      undefined,
      undefined,
      [],
    ]);
    const all = new SkillContextProvider(metier, { includeDisabled: true, includeUnavailable: true });
    expect(all.getSkillNames()).toEqual(["gh", "off"]);
    expect(all.getSkill("off")).toMatchObject({ disabled: true });
    expect(all.getSkill("gh")).toMatchObject({ unavailable: true });
    expect(all.getSkill("gh")?.unavailableReason).toContain("zz-none");
    expect(all.getTier1Context()).toBe("");
    expect(await all.getTier2Context("off")).toBeNull();
  });
});

describe("AgentSkillsSection [F4]", () => {
  test("takes what its document names, and tells what is wrong", async () => {
    const world = createWorld();
    world.write({
      "skills/pdf-read/SKILL.md": skill("pdf-read", "license: MIT\nallowed-tools: Read"),
      "skills/bad/SKILL.md": "---\nname: bad\n---\nText.",
    });
    const session = { id: 1 };
    const section = await AgentSkillsSection.create({
      session,
      skillsDir: join(world.root, "skills"),
      allowedSkills: ["pdf-*"],
      acceptsOverrides: true,
    });
    expect(section.session).toBe(session);
    expect(section.acceptsOverrides).toBe(true);
    expect(section.metadata).toEqual([
      {
        name: "pdf-read",
        description: "The pdf-read skill.",
        path: join(world.root, "skills/pdf-read"),
        license: "MIT",
        allowedTools: ["Read"],
        metadata: {},
      },
    ]);
    expect(section.diagnostics.map(({ code }) => code)).toContain("description.missing");
    expect(section.renderBody()).toContain("<location>skills/pdf-read</location>");
    expect(section.renderBody(undefined, { visibility: "summary" })).toBe(section.render("summary"));
    const other = { id: 2 };
    expect((await section.clone({ session: other })).session).toBe(other);
    await expect(AgentSkillsSection.create({})).rejects.toThrow(UsageError);
  });
});
