import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { findSourceSkills, type SourceSkills } from "../../src/install/find-source-skills.ts";

type Files = Readonly<Record<string, string>>;

function skill(name: string, more = ""): string {
  return skillText(`name: ${name}\ndescription: Does ${name}.\n${more}`);
}

function find(files: Files, paths?: readonly string[]): Promise<SourceSkills> {
  const folder = temporaryFolder();
  writeTree(folder, files);
  return findSourceSkills({ folder, ...(paths && { paths }) }, "standard", "repository");
}

async function placesOf(files: Files, paths?: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const { skills } = await find(files, paths);
  return Object.fromEntries(skills.map(({ path, name }) => [path, name]));
}

function codesOf({ diagnostics }: { readonly diagnostics: SourceSkills["diagnostics"] }): readonly string[] {
  return diagnostics.map(({ code }) => code);
}

describe("the skills of a source", () => {
  verifies(192, "are found at its root, in `skills`, and in folders below", async () => {
    expect(await placesOf({ "SKILL.md": skill("one"), "docs/a.md": "a" })).toEqual({ "": "one" });
    expect(
      await placesOf({
        "README.md": "# Skills",
        "skills/b/SKILL.md": skill("b"),
        "skills/a/SKILL.md": skill("a"),
        "c/SKILL.md": skill("c"),
        "group/more/d/SKILL.md": skill("d"),
      }),
    ).toEqual({ "skills/a": "a", "skills/b": "b", c: "c", "group/more/d": "d" });
  });

  test("are sorted by name and described", async () => {
    const { skills } = await find({
      "z/SKILL.md": skill("z", "metadata:\n  version: 1.2.0\n"),
      "z/run.sh": "12345",
      "a/SKILL.md": skill("a"),
    });
    expect(skills.map(({ name }) => name)).toEqual(["a", "z"]);
    expect(skills[1]).toMatchObject({ path: "z", description: "Does z.", valid: true });
    expect(skills[1]?.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(skills[1]?.files.map(({ path }) => path)).toEqual(["SKILL.md", "run.sh"]);
    expect(skills[1]?.files[1]?.size).toBe("12345".length);
  });

  test("at the root need not bear the name of a folder, and take the source's where they have none", async () => {
    const named = await find({ "SKILL.md": skill("one") });
    expect(named.skills[0]).toMatchObject({ name: "one", path: "", valid: true, diagnostics: [] });
    const folder = temporaryFolder();
    writeTree(folder, { "SKILL.md": skill("one") });
    expect((await findSourceSkills({ folder }, "strict")).skills[0]).toMatchObject({
      name: "one",
      valid: true,
    });
    const unnamed = await find({ "SKILL.md": skillText("description: Does it.") });
    expect(unnamed.skills[0]).toMatchObject({ name: "repository", path: "" });
  });

  test("that are wrong are listed with what is wrong", async () => {
    const { skills } = await find({
      "a/SKILL.md": "---\nname: a\n---\n\nNo description.",
      "b/SKILL.md": skill("b"),
    });
    expect(skills.map(({ name, valid }) => [name, valid])).toEqual([
      ["a", false],
      ["b", true],
    ]);
    expect(skills[0]?.diagnostics.map(({ code }) => code)).toContain("description.missing");
  });

  test("of one name are both listed, and only their paths tell them apart", async () => {
    const { skills } = await find({ "x/a/SKILL.md": skill("a"), "y/a/SKILL.md": `${skill("a")}\nOther.` });
    expect(skills.map(({ path, name }) => [path, name])).toEqual([
      ["x/a", "a"],
      ["y/a", "a"],
    ]);
  });

  test("that are the same byte for byte are listed once", async () => {
    const found = await find({ ".claude/skills/a/SKILL.md": skill("a"), "skills/a/SKILL.md": skill("a") });
    expect(found.skills.map(({ path, name }) => [path, name])).toEqual([["skills/a", "a"]]);
    expect(codesOf(found)).toEqual(["source.same-skill-twice"]);
  });

  test("that are reached over a link as well are listed once", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "skills/a/SKILL.md": skill("a"), ".agents/README.md": "" });
    symlinkSync("../skills", join(folder, ".agents", "skills"));
    const { skills } = await findSourceSkills({ folder }, "standard");
    expect(skills.map(({ path }) => path)).toEqual(["skills/a"]);
  });

  test("are looked for only where the address says", async () => {
    const files = { "skills/a/SKILL.md": skill("a"), "skills/b/SKILL.md": skill("b") };
    expect(await placesOf(files, ["skills/b"])).toEqual({ "skills/b": "b" });
    expect(await placesOf(files, ["skills"])).toEqual({ "skills/a": "a", "skills/b": "b" });
    expect(codesOf(await find(files, ["missing"]))).toEqual(["source.missing"]);
  });

  test("whose links lead out of their own folder cannot be installed", async () => {
    const folder = temporaryFolder();
    writeTree(folder, { "skills/a/SKILL.md": skill("a"), "shared/notes.md": "shared" });
    symlinkSync("../../shared/notes.md", join(folder, "skills/a/notes.md"));
    const { skills } = await findSourceSkills({ folder }, "standard");
    expect(skills[0]?.valid).toBe(false);
    expect(skills[0]?.diagnostics.map(({ code }) => code)).toEqual(["tree.link"]);
    const linked = await findSourceSkills({ folder, linked: true }, "standard");
    expect(linked.skills[0]?.valid).toBe(true);
  });

  test("do not include pages that have frontmatter", async () => {
    expect(await placesOf({ "page.md": skill("page"), "a/SKILL.md": skill("a") })).toEqual({ a: "a" });
  });
});

describe("a plugin", () => {
  const SKILLS = { "skills/a/SKILL.md": skill("a"), "other/b/SKILL.md": skill("b") };

  verifies(192, "says by `plugin.json` that its skills are in `skills`", async () => {
    const manifest = JSON.stringify({ name: "tools", version: "1.0.0" });
    expect(await placesOf({ ...SKILLS, "plugin.json": manifest })).toEqual({ "skills/a": "a" });
  });

  test("may name further places in `.claude-plugin/plugin.json`", async () => {
    const manifest = JSON.stringify({ name: "tools", skills: ["./other/", "../outside", 7] });
    expect(await placesOf({ ...SKILLS, ".claude-plugin/plugin.json": manifest })).toEqual({
      "skills/a": "a",
      "other/b": "b",
    });
  });

  test("may be one of a marketplace", async () => {
    const manifest = JSON.stringify({
      name: "market",
      plugins: [
        { name: "first", source: "./", skills: ["./other/b"] },
        { name: "second", source: "./plugins/second" },
        { name: "far", source: { source: "github", repo: "owner/repo" } },
      ],
    });
    const found = await find({
      ...SKILLS,
      "plugins/second/skills/c/SKILL.md": skill("c"),
      "plugins/third/skills/d/SKILL.md": skill("d"),
      ".claude-plugin/marketplace.json": manifest,
    });
    expect(found.skills.map(({ path }) => path)).toEqual(["skills/a", "other/b", "plugins/second/skills/c"]);
    expect(found.diagnostics).toMatchObject([
      { code: "plugin.unclear", message: expect.stringContaining("`far`") },
    ]);
  });

  test("brings other things, which are named and not installed", async () => {
    const found = await find({
      ...SKILLS,
      "plugin.json": JSON.stringify({ name: "tools", mcpServers: {} }),
      "commands/x.md": "",
      "hooks/hooks.json": "{}",
      ".mcp.json": "{}",
    });
    expect(found.diagnostics).toMatchObject([
      {
        code: "plugin.other-parts",
        message:
          "The plugin `tools` also contains MCP servers, commands, hooks; only its skills are installed.",
      },
    ]);
  });

  test("below the address's path counts there", async () => {
    const files = {
      "plugins/p/plugin.json": '{"name":"p"}',
      "plugins/p/skills/a/SKILL.md": skill("a"),
      "plugins/p/b/SKILL.md": skill("b"),
    };
    expect(await placesOf(files, ["plugins/p"])).toEqual({ "plugins/p/skills/a": "a" });
  });

  test.each(["{", "[]", "null"])("whose manifest is %s is searched like any source", async (text) => {
    const found = await find({ ...SKILLS, "plugin.json": text });
    expect(found.skills.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(codesOf(found)).toEqual(["plugin.unclear"]);
  });

  test("of another program, or without skills, changes nothing", async () => {
    for (const manifest of ['{"id":"panel","type":"app"}', '{"name":"tools"}']) {
      expect(await placesOf({ "other/b/SKILL.md": skill("b"), "plugin.json": manifest })).toEqual({
        "other/b": "b",
      });
    }
  });
});
