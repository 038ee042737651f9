import { symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../test/support/random.ts";
import { skillText, temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { findSourceSkills, type SourceSkills } from "../../src/install/find-source-skills.ts";
import { RefusedTree } from "../../src/install/install-fault.ts";
import { SOURCE_LIMITS } from "../../src/install/source-limits.ts";
import { openTreeMaker, type TreeMaker, WORTH_A_THREAD } from "../../src/install/tree-maker.ts";
import { createTreeWriter } from "../../src/install/tree-writer.ts";

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

  test("has no manifest in a folder that is a file", async () => {
    const found = await find({ ...SKILLS, ".claude-plugin": "{}" });
    expect(found.skills.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(codesOf(found)).toEqual([]);
  });

  test("names places inside a file, or behind a link to itself", async () => {
    const marketplace = JSON.stringify({ plugins: [{ name: "x", source: "./README.md" }] });
    const inFile = { ...SKILLS, "README.md": "x", ".claude-plugin/marketplace.json": marketplace };
    expect((await find(inFile)).skills.map(({ name }) => name)).toEqual(["a", "b"]);
    const own = JSON.stringify({ name: "x", skills: ["./README.md/a", "./round/a", "./skills"] });
    const folder = temporaryFolder();
    writeTree(folder, { ...SKILLS, "README.md": "x", "plugin.json": own });
    symlinkSync("round", join(folder, "round"));
    const found = await findSourceSkills({ folder }, "standard", "repository");
    expect(found.skills.map(({ name }) => name)).toEqual(["a"]);
    expect(codesOf(found)).toEqual(["source.unreadable"]);
  });

  test("of another program, or without skills, changes nothing", async () => {
    for (const manifest of ['{"id":"panel","type":"app"}', '{"name":"tools"}']) {
      expect(await placesOf({ "other/b/SKILL.md": skill("b"), "plugin.json": manifest })).toEqual({
        "other/b": "b",
      });
    }
  });
});

describe("the skills of a tree that was just written", () => {
  /** Names that matter to the search, to file systems or to neither. */
  const NAMES = ["a", "b", "skills", "deep", "x y", "\u00e9", "e\u0301", "SKILL.md", "skill.md", "Skill.MD"];
  const HIDDEN = [
    ".claude",
    ".gitignore",
    "node_modules",
    "README.md",
    ".claude-plugin/plugin.json",
    "plugin.json",
  ];
  const LINKS = ["SKILL.md", "../a", "a", "../skills/a", "missing"];
  const IGNORED = ["a\n", "*\n", "*\n!SKILL.md\n", "b/\n", ""];

  /** Writes a random tree as a fetched one is written. */
  async function writeRandom(folder: string, random: () => number, maker: TreeMaker): Promise<void> {
    const number = (limit: number): number => Math.floor(random() * limit);
    const pick = (from: readonly string[]): string => from[number(from.length)] ?? "";
    const contentOf = (path: string): string => {
      if (path.endsWith(".gitignore")) return pick(IGNORED);
      if (path.endsWith("plugin.json"))
        return JSON.stringify({ name: "p", skills: pick(["./a", "./skills"]) });
      return /skill\.md$/i.test(path) ? skill(pick(["a", "b", "x-y"]), `license: ${number(3)}\n`) : "text";
    };
    maker.makeFolder(folder);
    const writer = createTreeWriter(folder, SOURCE_LIMITS, maker);
    const add = async (path: string): Promise<void> => {
      const kind = number(10);
      const bytes = Buffer.from(contentOf(path));
      if (kind === 0) writer.addLink(path, pick(LINKS));
      else if (kind === 1) writer.addFolder(path);
      else if (kind > 2) writer.addBytes(path, kind === 3, bytes);
      else {
        if (path.includes("/")) writer.addFolder(dirname(path));
        await maker.finish(); // Its folder must be there: this thread writes the file.
        await writer.addFile(path, { executable: false, size: bytes.length, content: [bytes] });
      }
    };
    for (let left = 4 + number(25); left > 0; left--) {
      const names = Array.from({ length: 1 + number(5) }, () => pick(random() < 0.7 ? NAMES : HIDDEN));
      try {
        await add([...names, ...(random() < 0.5 ? ["SKILL.md"] : [])].join("/"));
      } catch (fault) {
        if (!(fault instanceof RefusedTree)) throw fault; // Two names that are one, for example.
      }
    }
    await maker.finish();
    writer.finish();
  }

  test("are found without listing what is known of its folders, as they are found by listing all", async () => {
    let known = 0;
    let found = 0;
    for (let seed = 1; seed <= 120; seed++) {
      const random = createRandom(seed);
      const maker = openTreeMaker(WORTH_A_THREAD);
      const folder = join(temporaryFolder(), "tree");
      await writeRandom(folder, random, maker).finally(() => maker.close());
      const paths = ["", "a", "skills"].filter(() => random() < 0.5);
      const source = { folder, ...(paths.length > 0 && { paths }) };
      const search = async (how?: Pick<TreeMaker, "listIn">): Promise<SourceSkills | string> => {
        try {
          return await findSourceSkills(source, "standard", "tree", how);
        } catch (fault) {
          return String(fault); // What the system says of a tree this odd is also the same.
        }
      };
      const listed = await search();
      const listIn: TreeMaker["listIn"] = (path) => {
        const entries = maker.listIn(path);
        if (entries) known += 1;
        return entries;
      };
      expect([seed, await search({ listIn })]).toEqual([seed, listed]);
      if (typeof listed !== "string") found += listed.skills.length;
    }
    expect(Math.min(known, found)).toBeGreaterThan(100);
  });
});
