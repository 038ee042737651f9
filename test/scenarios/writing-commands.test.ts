import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

describe("validate", () => {
  verifies("case 27", "takes files, folders and trees; what is missing or no skill exits 1", async () => {
    const world = createWorld();
    world.write({
      "tree/a/SKILL.md": skill("a"),
      "tree/b/SKILL.md": "---\nname: b\n---\n\nx\n",
      "empty/x.txt": "",
      "flat.md": skill("flat"),
    });
    expect((await world.cli("validate", join(world.root, "tree/a"))).code).toBe(0);
    expect((await world.cli("validate", join(world.root, "tree/a/SKILL.md"))).code).toBe(0);
    expect((await world.cli("validate", join(world.root, "flat.md"))).code).toBe(0);
    const tree = await world.cli("validate", join(world.root, "tree"), "--json");
    expect(tree.code).toBe(1);
    expect(tree.json).toMatchObject({
      valid: false,
      results: [
        { path: join(world.root, "tree/a/SKILL.md"), name: "a", valid: true },
        {
          path: join(world.root, "tree/b/SKILL.md"),
          name: "b",
          valid: false,
          diagnostics: [{ code: "description.missing" }],
        },
      ],
    });
    expect((await world.cli("validate", join(world.root, "empty"))).code).toBe(1);
    expect((await world.cli("validate", join(world.root, "missing"))).code).toBe(1);
    expect((await world.cli("validate", join(world.root, "empty/x.txt"))).code).toBe(1);
  });

  test("speaks SARIF and GitHub's workflow commands", async () => {
    const world = createWorld();
    world.write({ "project/a/SKILL.md": "---\nname: a\ndescription: x\nunknwn: 1\n---\n\nx\n" });
    const sarif = (await world.cli("validate", "a", "--format", "sarif")).json;
    expect(sarif).toMatchObject({ version: "2.1.0", runs: [{ tool: { driver: { name: "metier" } } }] });
    expect(sarif.runs[0].results[0]).toMatchObject({ ruleId: "field.unknown", level: "warning" });
    expect(sarif.runs[0].results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: "a/SKILL.md", uriBaseId: "ROOT" },
      region: { startLine: 4, startColumn: 1 },
    });
    expect((await world.cli("validate", "a", "--format", "github")).stdout).toMatch(
      /^::warning file=a\/SKILL\.md,line=4,col=1,title=field\.unknown::/,
    );
  });

  test("--strict is the published specification, --fix writes what is safe and keeps the rest", async () => {
    const world = createWorld();
    const file = join(world.project, "a/SKILL.md");
    world.write({
      "project/a/SKILL.md": "\ufeff---\nname: a # keep\ndescription: Note: it has a colon\n---\n\n# Body\n",
    });
    expect((await world.cli("validate", "--strict", "a")).code).toBe(1);
    expect((await world.cli("validate", "--fix", "--strict", "a")).code).toBe(0);
    const fixed = readFileSync(file, "utf8");
    expect(fixed).toContain("name: a # keep\n");
    expect(fixed.startsWith("---\n")).toBe(true);
    expect(fixed.endsWith("\n---\n\n# Body\n")).toBe(true);
    expect((await world.cli("validate", "--fix", "a")).stdout).not.toContain("fixed");
  });
});

describe("new", () => {
  test("creates a skill that passes --strict from every template, and never overwrites", async () => {
    const world = createWorld();
    for (const template of ["basic", "script", "reference"]) {
      const made = await world.cli("new", `my-${template}`, "--template", template, "--json");
      expect(made.code).toBe(0);
      expect((await world.cli("validate", "--strict", made.json.path)).code).toBe(0);
    }
    expect(statSync(join(world.project, "my-script/scripts/main.sh")).mode & 0o111).not.toBe(0);
    expect((await world.cli("new", "my-basic")).code).toBe(2);
    expect((await world.cli("new", "My Skill")).stderr).toContain("Use `my-skill`");
    expect((await world.cli("new")).code).toBe(2);
  });

  test("places it in the project's or the user's skills, where it is found", async () => {
    const world = createWorld();
    await world.cli("new", "mine", "--user", "--description", 'Says "hi": always');
    await world.cli("new", "ours", "--project");
    const { json } = await world.cli("list", "--json");
    expect(json.skills.find(({ name }: { name: string }) => name === "mine")).toMatchObject({
      scope: "user",
      description: 'Says "hi": always',
    });
    expect(json.skills.find(({ name }: { name: string }) => name === "ours")).toMatchObject({
      scope: "project",
    });
  });

  test("a description that would not be valid leaves nothing behind", async () => {
    const world = createWorld();
    const { code } = await world.cli("new", "long", "--description", "x".repeat(1100));
    expect(code).toBe(1);
    expect(existsSync(join(world.project, "long"))).toBe(false);
  });
});

describe("what new writes runs", () => {
  test.each(["basic", "script", "reference"])("the commands that it prints work (%s)", async (template) => {
    const world = createWorld();
    const made = await world.cli("new", "mend-kites", "--template", template);
    const printed = made.stdout.match(/^ {2}metier .*$/gm) ?? [];
    expect(printed.map((line) => line.trim())).toEqual([
      "metier test ./mend-kites",
      "metier eval ./mend-kites --dry-run",
      'metier run ./mend-kites "<task>"',
    ]);
    const tested = await world.cli("test", "./mend-kites");
    expect([tested.code, tested.stdout]).toEqual([0, expect.stringContaining("2 of 2 cases")]);
    const planned = await world.cli("eval", "./mend-kites", "--dry-run");
    expect([planned.code, planned.stderr]).toEqual([0, ""]);
    expect(planned.stdout).toContain("mend-kites: 1 eval, 2 runs");
    expect(existsSync(join(world.project, "mend-kites-workspace"))).toBe(false);
    const { json } = await world.cli("validate", "--strict", "mend-kites", "--json");
    expect(json.results[0].diagnostics).toEqual([]);
  });

  test("in the project's and the user's skills it is named by its name", async () => {
    const world = createWorld();
    const ours = await world.cli("new", "ours", "--project", "--json");
    const mine = await world.cli("new", "mine", "--user", "--json");
    expect(ours.json.next[0]).toBe("metier test ours");
    expect((await world.cli("test", "mine")).code).toBe(0);
    expect((await world.cli("eval", "mine", "--dry-run")).code).toBe(0);
    expect(mine.json.next).toEqual([
      "metier test mine",
      "metier eval mine --dry-run",
      'metier run mine "<task>"',
    ]);
  });

  test("a dry run of evals that cannot be used says so", async () => {
    const world = createWorld();
    await world.cli("new", "mend-kites");
    world.write({
      "project/mend-kites/evals/evals.json":
        '{"evals": [{"id": 1, "prompt": "x", "files": ["gone.txt"], "assertions": ["y"]}]}',
    });
    const { code, stderr } = await world.cli("eval", "./mend-kites", "--dry-run");
    expect([code, stderr]).toEqual([1, expect.stringContaining("`gone.txt`")]);
  });
});

describe("enable, disable and config", () => {
  test("write the user's file and keep its comments; --project writes the project's", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/config.toml": '# mine\n[skills]\ndisabled = ["a"] # why\n',
      "home/.metier/skills/a/SKILL.md": skill("a"),
    });
    expect((await world.cli("enable", "a")).code).toBe(0);
    const text = readFileSync(join(world.home, ".metier/config.toml"), "utf8");
    expect(text).toContain("# mine");
    expect(text).toContain("# why");
    expect((await world.cli("list", "--json", "--usable", "--scope", "user")).json.skills).toHaveLength(1);
    expect((await world.cli("disable", "a", "--project")).code).toBe(0);
    expect(readFileSync(join(world.project, ".metier/config.toml"), "utf8")).toContain("enabled = false");
    expect((await world.cli("show", "a", "--json")).json.status).toBe("disabled");
    expect((await world.cli("enable", "nothing")).code).toBe(1);
  });

  test("config shows values with their origin, sets, gets and unsets, and never prints secrets", async () => {
    const world = createWorld({ environment: { METIER_SKILLS__NESTED: "true" } });
    world.write({
      "home/.metier/config.toml": '[skills]\nnested = false\n[skills.a]\nAPI_KEY = "very-secret"\n',
    });
    const explained = await world.cli("config", "--explain");
    expect(explained.stdout).toContain("skills.nested = true");
    expect(explained.stdout).toContain("METIER_SKILLS__NESTED");
    expect(explained.stdout).toContain("overrides false");
    expect(explained.stdout + explained.stderr).not.toContain("very-secret");
    expect((await world.cli("config", "set", "skills.trustedPaths", '["~/x"]')).code).toBe(0);
    expect((await world.cli("config", "get", "skills.trusted-paths")).stdout).toContain(
      join(world.home, "x"),
    );
    expect((await world.cli("config", "unset", "skills.trusted-paths")).code).toBe(0);
    expect((await world.cli("config", "set", "skills.trusted-pths", "[]")).stderr).toContain("trusted-paths");
    expect((await world.cli("config", "set", "skills.nested", "perhaps")).code).toBe(2);
    expect((await world.cli("config", "frobnicate")).code).toBe(2);
  });
});
