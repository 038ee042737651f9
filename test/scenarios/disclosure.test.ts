import { join } from "node:path";
import { AgentSkillsSection, SkillContextProvider, SkillResourceError } from "metier";
import { loadTokenCounter } from "metier/skills";
import { describe, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill, type World } from "../support/world.ts";

function library(): World {
  const world = createWorld();
  world.write({
    "home/.metier/skills/a/SKILL.md": skill("a", "", "# One\n\nfirst\n\n## Two\n\nsecond"),
    "home/.metier/skills/a/scripts/run.sh": "echo run\n",
    "home/.metier/skills/a/references/guide.md": "# Guide\n",
    "home/.metier/skills/hidden/SKILL.md": skill("hidden", "disable-model-invocation: true"),
    "home/.metier/skills/gone/SKILL.md": skill("gone", "requires:\n  bins: [zz-none]"),
    "secret.txt": "secret",
  });
  return world;
}

describe("the command line", () => {
  test("`prompt` lists what a model may use and nothing else, the same bytes every time", async () => {
    const world = library();
    const { code, stdout } = await world.cli(
      "prompt",
      "--deny",
      "*-a-skill",
      "--deny",
      "t*",
      "--deny",
      "summarize-text",
    );
    expect(code).toBe(0);
    expect(stdout).toContain("<name>a</name>");
    expect(stdout).not.toContain("hidden");
    expect(stdout).not.toContain("gone");
    expect(
      (await world.cli("prompt", "--deny", "*-a-skill", "--deny", "t*", "--deny", "summarize-text")).stdout,
    ).toBe(stdout);
    expect((await world.cli("prompt", "--allow", "nothing")).stdout).toBe("");
    expect((await world.cli("prompt", "--budget", "lots")).code).toBe(2);
  });

  test("`prompt --budget` stays within the budget by the real tokenizer and says what it cut", async () => {
    const world = createWorld();
    const text =
      "Does something that takes a while to explain, in a sentence that goes on for quite some time.";
    world.write(
      Object.fromEntries(
        Array.from({ length: 300 }, (_, index) => [
          `home/.metier/skills/skill-${index}/SKILL.md`,
          skill(`skill-${index}`).replace("The", `${text} The`),
        ]),
      ),
    );
    const counter = await loadTokenCounter();
    const { json } = await world.cli("prompt", "--budget", "1000", "--json");
    expect(counter(json.text)).toBeLessThanOrEqual(1000);
    expect(
      json.report.full.length +
        json.report.shortened.length +
        json.report.nameOnly.length +
        json.report.counted.length,
    ).toBe(304);
    expect((await world.cli("prompt", "--budget", "1000")).stderr).toMatch(/^\d+ tokens of 1000:/);
  });

  test("`prompt --budget` says when a budget is too small for anything", async () => {
    const { stdout, stderr } = await library().cli("prompt", "--budget", "5");
    expect(stdout).toMatch(/^\d+ skills are available, too many to list/);
    expect(stderr).toContain("over the budget; 128 tokens are always enough");
  });

  test("`prompt --mount-path ''` names skills in the workspace itself", async () => {
    const { stdout } = await library().cli("prompt", "--mount-path", "", "--allow", "a");
    expect(stdout).toContain("<location>a</location>");
  });

  test("`prompt --budget` over 10,000 skills fits, names the cut, and is the same every time", async () => {
    const world = createWorld();
    const names = Array.from({ length: 10_000 }, (_, index) => `skill-${String(index).padStart(5, "0")}`);
    world.write(
      Object.fromEntries(names.map((name) => [`home/.metier/skills/${name}.md`, skill(name, "", "Go.")])),
    );
    const prompt = (...more: readonly string[]): ReturnType<World["cli"]> =>
      world.cli("prompt", "--budget", "4000", "--allow", "skill-*", ...more);
    const first = await prompt();
    const counter = await loadTokenCounter();
    const tokens = counter(first.stdout.trimEnd());
    expect(tokens).toBeLessThanOrEqual(4000);
    expect(tokens).toBeGreaterThan(3500);
    expect(first.stdout).toMatch(/\d+ more skills are not listed: call `find_skills`|\d+ more not at all/);
    expect(first.stderr).toMatch(/^\d+ tokens of 4000: .* counted\.\n$/);
    expect((await prompt()).stdout).toBe(first.stdout);
    const { report } = (await prompt("--json")).json;
    const told = [...report.full, ...report.shortened, ...report.nameOnly, ...report.counted];
    expect(told.toSorted()).toEqual(names);
  });

  test("`read --outline` also numbers what stands before the first heading", async () => {
    const world = createWorld();
    world.write({ "home/.metier/skills/a/SKILL.md": skill("a", "", "First this.\n\n# Then") });
    const { stdout } = await world.cli("read", "a", "--outline");
    expect(stdout).toBe("0  (before the first heading)\n1  Then\n");
    expect((await world.cli("read", "a", "--section", "0")).stdout).toBe("First this.\n");
  });

  test("`read` gives the body, a section, the outline, the files and one file; nothing outside", async () => {
    const world = library();
    expect((await world.cli("read", "a")).stdout).toBe("# One\n\nfirst\n\n## Two\n\nsecond\n");
    expect((await world.cli("read", "a", "--section", "Two")).stdout).toBe("## Two\n\nsecond\n");
    expect((await world.cli("read", "a", "--section", "1.1")).stdout).toBe("## Two\n\nsecond\n");
    expect((await world.cli("read", "a", "--outline")).stdout).toBe("1  One\n1.1  Two\n");
    expect((await world.cli("read", "a", "--whole")).stdout).toContain("description: The a skill.");
    expect((await world.cli("read", "a", "--wrapped")).stdout).toMatch(/^<skill_content name="a"/);
    expect((await world.cli("read", "a", "--files", "--json")).json.resources).toMatchObject([
      { kind: "scripts", path: "scripts/run.sh" },
      { kind: "references", path: "references/guide.md" },
    ]);
    expect((await world.cli("read", "a", "scripts/run.sh")).stdout).toBe("echo run\n");
    for (const path of [
      "../../../secret.txt",
      join(world.root, "secret.txt"),
      "scripts/../../../../../secret.txt",
      "none.txt",
    ]) {
      const refused = await world.cli("read", "a", path, "--json");
      expect(refused.code, path).toBe(1);
      expect(refused.json.error.code, path).toBe("skill.resource");
    }
    expect((await world.cli("read", "nothing")).code).toBe(1);
    expect((await world.cli("read", "a", "--section", "Nine")).stderr).toContain("Sections: One, Two.");
  });
});

describe("`read` with a file", () => {
  test("gives its outline or one section of it", async () => {
    const world = library();
    world.write({ "home/.metier/skills/a/references/guide.md": "# Guide\n\n## Part\n\nwanted\n\n## Rest\n" });
    const read = (...flags: readonly string[]) => world.cli("read", "a", "references/guide.md", ...flags);
    expect((await read("--section", "Part")).stdout).toBe("## Part\n\nwanted\n");
    expect((await read("--section", "1.1", "--json")).json.text).toBe("## Part\n\nwanted");
    expect((await read("--outline")).stdout).toBe("1  Guide\n1.1  Part\n1.2  Rest\n");
    expect((await read("--section", "Nine")).code).toBe(1);
  });

  test("refuses flags that are about the skill", async () => {
    const world = library();
    for (const flag of ["--whole", "--wrapped", "--files"]) {
      const { code, stderr } = await world.cli("read", "a", "scripts/run.sh", flag);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(flag) });
    }
  });

  test("leaves out what a terminal would obey or nobody sees, and says so; JSON has it all", async () => {
    const world = library();
    const text = "a\u001b[31mred\u202eevil\n";
    world.write({ "home/.metier/skills/a/references/guide.md": text });
    const { stdout, stderr } = await world.cli("read", "a", "references/guide.md");
    expect(stdout).toBe("a[31mredevil\n");
    expect(stderr).toContain("Left out 2 invisible characters (U+001B)");
    expect((await world.cli("read", "a", "references/guide.md", "--json")).json.text).toBe(text);
    const provider = new SkillContextProvider(await world.metier());
    expect(await provider.getTier3Resource("a", "references/guide.md")).toBe("a[31mredevil\n");
  });
});

describe("SkillContextProvider", () => {
  verifies(
    [85, 113, 114, 115],
    "gives the three tiers, and null or nothing where there is nothing",
    async () => {
      const world = library();
      const provider = new SkillContextProvider(await world.metier());
      expect(provider.getSkillNames()).toEqual(["a", "hidden"]);
      expect(provider.getTier1Context()).toContain(
        `<location>${join(world.home, ".metier/skills/a/SKILL.md")}</location>`,
      );
      expect(await provider.getTier2Context("a")).toMatch(/^---\nname: a\n/);
      expect(await provider.getTier2Context("a", { stripFrontmatter: true })).toMatch(/^# One/);
      expect(await provider.getTier2Context("nothing")).toBeNull();
      expect(await provider.getTier3ResourceList("a", "scripts")).toEqual(["scripts/run.sh"]);
      expect(await provider.getTier3ResourceList("a", "assets")).toEqual([]);
      expect(await provider.getTier3ResourceList("nothing", "assets")).toEqual([]);
      expect(await provider.getTier3Resource("a", "references/guide.md")).toBe("# Guide\n");
      expect(await provider.getTier3Resource("a", "../../../secret.txt")).toBeNull();
    },
  );
});

test("SkillContextProvider gives nothing of a skill that is denied", async () => {
  const metier = await library().metier({ deny: ["a"] });
  const provider = new SkillContextProvider(metier);
  expect(provider.getSkill("a")).toBeUndefined();
  expect(await provider.getTier2Context("a")).toBeNull();
  expect(await provider.getTier3ResourceList("a", "scripts")).toEqual([]);
  expect(await provider.getTier3Resource("a", "scripts/run.sh")).toBeNull();
});

describe("AgentSkillsSection", () => {
  verifies(
    [67, 68, 86],
    "combines directories, filters by globs, renders in full or as a summary, and clones",
    async () => {
      const world = createWorld();
      world.write({
        "org/pdf-read/SKILL.md": skill("pdf-read"),
        "org/pdf-old/SKILL.md": skill("pdf-old"),
        "team/code-review/SKILL.md": skill("code-review"),
        "team/pdf-read/SKILL.md": skill("pdf-read").replace("The", "Another"),
      });
      const section = await AgentSkillsSection.create({
        skills: [join(world.root, "org"), join(world.root, "team")],
        deniedSkills: ["*-old"],
        mountPath: "skills/org",
      });
      expect(section.skills.map(({ name, description }) => [name, description])).toEqual([
        ["code-review", "The code-review skill."],
        ["pdf-read", "The pdf-read skill."],
      ]);
      expect(section.render()).toContain("<location>skills/org/pdf-read</location>");
      expect(section.render("summary")).not.toContain("The pdf-read skill.");
      expect(section.render("summary")).toContain("read `skills/org/<name>/SKILL.md` first");
      expect((await section.clone({ allowedSkills: ["code-*"] })).skills).toHaveLength(1);
      const nothing = await section.clone({ allowedSkills: ["none"] });
      expect([nothing.render(), nothing.render("summary")]).toEqual(["", ""]);
      expect(
        await AgentSkillsSection.create({
          skills: (await world.metier({ paths: [join(world.root, "org")] })).catalog,
        }),
      ).toMatchObject({
        skills: [{ name: "pdf-old" }, { name: "pdf-read" }],
      });
    },
  );
});

test("a skill given as an object has instructions and no files", async () => {
  const world = createWorld();
  const metier = await world.metier({
    integrations: [{ name: "given", description: "G.", instructions: "Do it." }],
  });
  expect((await metier.getInstructions("given")).text).toBe("Do it.");
  expect(metier.listResources("given").resources).toEqual([]);
  expect(() => metier.readResource("given", "x")).toThrow(SkillResourceError);
});
