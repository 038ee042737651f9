import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SkillNotFoundError } from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { temporaryFolder } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import { claudeSkills, mountClaudeSkills } from "../../src/adapters/claude.ts";
import { createScriptedModel } from "../../src/testing/test-metier.ts";

function userSkill(world: World, name: string, more = "", body?: string): void {
  world.write({ [`home/.metier/skills/${name}/SKILL.md`]: skill(name, more, body) });
}

function folders(workspace: string): readonly string[] {
  return readdirSync(join(workspace, ".claude/skills"))
    .filter((name) => !name.startsWith("."))
    .sort();
}

describe("mounted skills", () => {
  verifies(119, "are copied as they are, with their files, and taken away again", async () => {
    const world = createWorld();
    const more = "allowed-tools: [Read]\ndisable-model-invocation: true";
    userSkill(world, "pdf", more, "Run !`date`.");
    world.write({ "home/.metier/skills/pdf/scripts/run.sh": "true\n" });
    const workspace = temporaryFolder();
    const metier = await world.metier({
      integrations: [{ name: "given", description: "Given.", instructions: "Do it." }],
    });
    const mount = await mountClaudeSkills(metier, { workspace });
    expect(folders(workspace)).toEqual(["given", "pdf"]);
    expect(mount).toMatchObject({ native: [], leftOut: [], diagnostics: [] });
    const file = join(workspace, ".claude/skills/pdf/SKILL.md");
    expect(readFileSync(file, "utf8")).toBe(skill("pdf", more, "Run !`date`."));
    expect(existsSync(join(workspace, ".claude/skills/pdf/scripts/run.sh"))).toBe(true);
    expect(readFileSync(join(workspace, ".claude/skills/given/SKILL.md"), "utf8")).toContain("Do it.");
    mount.cleanup();
    expect(readdirSync(workspace)).toEqual([]);
  });

  test("that are not trusted bring text and files, and nothing that acts by itself", async () => {
    const world = createWorld();
    const acting =
      "allowed-tools: Bash\nuser-invocable: false\nmodel: opus\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: touch /tmp/x";
    const body = "Say hello!`x`.\n\nNow !!`whoami`.\n\n```!!\nls\n```";
    world.write({
      "wild/acts/SKILL.md": skill("acts", acting, body),
      "wild/acts/references/a.md": "A.\n",
      "wild/flat.md": skill("flat", "allowed-tools: Bash"),
    });
    const metier = await world.metier({ paths: [join(world.root, "wild")] });
    const workspace = temporaryFolder();
    const { leftOut } = await mountClaudeSkills(metier, { workspace, mode: "link" });
    expect(leftOut).toEqual([]);
    expect(lstatSync(join(workspace, ".claude/skills/acts")).isSymbolicLink()).toBe(false);
    const text = readFileSync(join(workspace, ".claude/skills/acts/SKILL.md"), "utf8");
    expect(text).toBe(
      '---\nname: "acts"\ndescription: "The acts skill."\nuser-invocable: false\n---\n\nSay hello`x`.\n\nNow `whoami`.\n\n```\nls\n```\n',
    );
    expect(existsSync(join(workspace, ".claude/skills/acts/references/a.md"))).toBe(true);
    expect(readFileSync(join(workspace, ".claude/skills/flat/SKILL.md"), "utf8")).not.toContain("Bash");
  });

  test("leave out what needs a run, what this caller may not use and what is already there", async () => {
    const world = createWorld();
    userSkill(world, "keyed", "env: [A_KEY]");
    userSkill(world, "ours", "access:\n  chat-types: [private]");
    userSkill(world, "fork", "context: fork");
    world.write({ "project/.claude/skills/local/SKILL.md": skill("local") });
    const metier = await world.metier();
    const mount = await mountClaudeSkills(metier, { workspace: world.project });
    expect(folders(world.project)).toEqual(["fork", "local"]);
    expect(mount.native).toEqual(["local"]);
    expect(mount.leftOut).toEqual([
      { name: "keyed", reason: expect.stringContaining("`env`") },
      { name: "ours", reason: expect.stringContaining("`private`") },
    ]);
    mount.cleanup();
    expect(folders(world.project)).toEqual(["local"]);
    const friend = { caller: { chatType: "private" }, skills: ["ours"], workspace: world.project };
    expect((await mountClaudeSkills(metier, friend)).leftOut).toEqual([]);
    expect(folders(world.project)).toEqual(["local", "ours"]);
  });

  test("can be chosen by name, and linked", async () => {
    const world = createWorld();
    userSkill(world, "one");
    userSkill(world, "two");
    const workspace = join(world.root, "with space");
    mkdirSync(workspace);
    const metier = await world.metier();
    const mount = await mountClaudeSkills(metier, { workspace, skills: ["two", "two"], mode: "link" });
    expect(folders(workspace)).toEqual(["two"]);
    expect(lstatSync(join(workspace, ".claude/skills/two")).isSymbolicLink()).toBe(true);
    expect(mount.options.cwd).toBe(workspace);
    await expect(mountClaudeSkills(metier, { workspace, skills: ["three"] })).rejects.toThrow(
      SkillNotFoundError,
    );
  });
});

describe("tools in this process", () => {
  test("have the shape of the SDK: a Zod shape, and a handler that answers with content", async () => {
    const world = createWorld();
    userSkill(world, "style", "", "Be brief.");
    const { tools } = await claudeSkills(await world.metier(), { z });
    const use = tools.find(({ name }) => name === "use_skill");
    const schema = z.object(use?.inputSchema as z.ZodRawShape);
    expect(schema.parse({ skill: "style" })).toEqual({ skill: "style" });
    expect(schema.parse({ skill: "style", input: { a: 1 } })).toMatchObject({ input: { a: 1 } });
    expect(schema.safeParse({ skill: "other" }).success).toBe(false);
    expect(schema.safeParse({}).success).toBe(false);
    const reading = tools.find(({ name }) => name === "read_skill_file")?.inputSchema as z.ZodRawShape;
    expect(z.object(reading).parse({ skill: "style", path: "a", offset: 3 })).toMatchObject({ offset: 3 });
    expect(await use?.handler({ skill: "style" }, {})).toEqual({
      content: [{ type: "text", text: expect.stringContaining("Be brief.") }],
      isError: false,
    });
    expect(await use?.handler({ skill: "other" }, undefined)).toMatchObject({ isError: true });
  });

  test("run what needs a run, until the client ends the call; the server has the name it is given", async () => {
    const world = createWorld();
    userSkill(world, "slow", "context: fork", "Wait.");
    const model = createScriptedModel([{ answer: { text: "Too late.", delayMs: 60_000 } }]);
    const metier = await world.metier({ models: { default: model } });
    const { tools, allowedTools } = await claudeSkills(metier, { z, server: "skills" });
    expect(allowedTools).toEqual(
      ["use_skill", "list_skills", "read_skill_file"].map((name) => `mcp__skills__${name}`),
    );
    const stop = new AbortController();
    const answer = tools[0]?.handler({ skill: "slow", message: "Go." }, { signal: stop.signal });
    stop.abort();
    expect(await answer).toMatchObject({ isError: true });
  });
});
