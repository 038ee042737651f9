import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

describe("list", () => {
  verifies([194, 195, "case 109"], "groups by scope with symbols, states and reasons", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/config.toml": "[skills.off]\nenabled = false\n",
      "home/.metier/skills/good/SKILL.md": skill("good"),
      "home/.metier/skills/off/SKILL.md": skill("off"),
      "home/.metier/skills/gh/SKILL.md": skill("gh", "metadata:\n  requires: zz-gh zz-docker"),
    });
    const { code, stdout } = await world.cli("list");
    expect(code).toBe(0);
    expect(stdout).toContain("[User Skills]\n");
    expect(stdout).toContain(
      "  ✗ gh\n      The gh skill. (unavailable)\n      missing commands: zz-gh, zz-docker\n",
    );
    expect(stdout).toContain("  ✓ good\n      The good skill. (enabled)\n");
    expect(stdout).toContain("  ○ off\n      The off skill. (disabled)\n");
    expect(stdout).toContain("[Bundled Skills]\n");
  });

  test("has the JSON shape that others rely on", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/a/SKILL.md": skill("a", 'metadata:\n  version: "1.0"'),
      "home/.agents/skills/a/SKILL.md": skill("a"),
    });
    const { json } = await world.cli("list", "--json", "--scope", "user");
    expect(json).toEqual({
      skills: [
        {
          name: "a",
          description: "The a skill.",
          version: "1.0",
          scope: "user",
          status: "enabled",
          trust: "trusted",
          location: join(world.home, ".metier/skills/a/SKILL.md"),
          shadows: [{ scope: "user", location: join(world.home, ".agents/skills/a/SKILL.md") }],
        },
        {
          name: "a",
          description: "The a skill.",
          scope: "user",
          status: "shadowed",
          reason: expect.any(String),
          trust: "untrusted",
          location: join(world.home, ".agents/skills/a/SKILL.md"),
          shadowedBy: { scope: "user", location: join(world.home, ".metier/skills/a/SKILL.md") },
        },
      ],
      diagnostics: [],
    });
  });

  test("exits 0 whatever is wrong, and shows the errors", async () => {
    const world = createWorld();
    world.write({ "project/.metier/skills/a/SKILL.md": "nothing", "home/.metier/config.toml": "[skills\n" });
    const { code, stderr } = await world.cli("list");
    expect(code).toBe(0);
    expect(stderr).toContain(".metier/skills/a/SKILL.md");
    expect(stderr).toMatch(/config\.toml:\d+/);
  });

  test("a skill's text cannot write to the terminal", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/skills/a/SKILL.md":
        '---\nname: a\ndescription: "red \\e[31m and \\u202Ereversed"\n---\n\nbody\n',
    });
    const { stdout } = await world.cli("list");
    expect(stdout).not.toContain("\u001b");
    expect(stdout).not.toContain("\u202e");
  });
});

describe("the spellings of other systems", () => {
  verifies(
    [193, 198],
    "`skill`, `skill list`, `skill show` and `skill validate` work as they do there",
    async () => {
      const world = createWorld();
      world.write({ "home/.metier/skills/a/SKILL.md": skill("a") });
      const { stdout } = await world.cli("list");
      expect((await world.cli("skill", "list")).stdout).toBe(stdout);
      expect((await world.cli("skill")).stdout).toBe(stdout);
      expect((await world.cli("skill", "show")).stdout).toBe(stdout);
      expect((await world.cli("skill", "show", "a")).stdout).toContain("The a skill.");
      expect((await world.cli("skill", "validate", join(world.home, ".metier/skills/a"))).code).toBe(0);
    },
  );

  verifies(
    "case 109",
    "`skill manage` shows its actions, enables and disables, and refuses what it does not know",
    async () => {
      const world = createWorld();
      world.write({ "home/.metier/skills/a/SKILL.md": skill("a") });
      const help = await world.cli("skill", "manage");
      expect(help.code).toBe(0);
      for (const action of ["enable", "disable", "list"]) expect(help.stdout).toContain(action);
      expect((await world.cli("skill", "manage", "disable", "a")).stdout).toContain("a is disabled");
      expect((await world.cli("list", "--json", "--usable", "--scope", "user")).json.skills).toEqual([]);
      expect((await world.cli("skill", "manage", "enable", "a")).stdout).toContain("a is enabled");
      expect((await world.cli("skill", "manage", "disable")).code).toBe(2);
      expect((await world.cli("skill", "manage", "explode", "a")).code).toBe(2);
      expect((await world.cli("skill", "manage", "list")).code).toBe(0);
    },
  );
});

describe("usage", () => {
  test("unknown commands and options exit 2 with a suggestion, as text and as JSON", async () => {
    const world = createWorld();
    const command = await world.cli("lst");
    expect(command).toMatchObject({ code: 2, stdout: "" });
    expect(command.stderr).toContain("did you mean `list`");
    const option = await world.cli("list", "--jso");
    expect(option.code).toBe(2);
    expect(option.stderr).toContain("did you mean --json");
    const json = await world.cli("list", "--profle", "strict", "--json");
    expect(json).toMatchObject({ code: 2, stderr: "" });
    expect(json.json.error).toMatchObject({
      code: "usage.invalid",
      message: expect.stringContaining("--profle"),
      hint: expect.any(String),
    });
    expect((await world.cli("list", "--profile", "loose")).code).toBe(2);
  });

  test("common options may stand before the command", async () => {
    const world = createWorld();
    expect((await world.cli("--json", "--cwd", world.project, "list")).json.skills.length).toBeGreaterThan(0);
  });

  test("every command has help with an example", async () => {
    const world = createWorld();
    for (const name of [
      "list",
      "show",
      "doctor",
      "new",
      "validate",
      "enable",
      "disable",
      "trust",
      "untrust",
      "config",
    ]) {
      const { code, stdout } = await world.cli(name, "--help");
      expect(code, name).toBe(0);
      expect(stdout, name).toContain("Examples:");
      expect(stdout, name).toContain(`metier ${name}`);
    }
  });

  test("a working directory or config file that is not there is a usage error", async () => {
    const world = createWorld();
    expect((await world.cli("list", "--cwd", join(world.root, "no"))).code).toBe(2);
    expect((await world.cli("list", "--config", join(world.root, "no.toml"))).code).toBe(2);
  });
});

describe("show and doctor", () => {
  test("show tells fields, trust, status, shadows and problems; a miss exits 1 and names the nearest", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/skills/deploy/SKILL.md": skill("deploy", "model: fast\nmax_iterations: 3\nunknwn: 1"),
    });
    const shown = await world.cli("show", "deploy");
    for (const part of ["untrusted", "project", "model", "fast", "maxIterations", "field.unknown"])
      expect(shown.stdout).toContain(part);
    const miss = await world.cli("show", "deplyo", "--json");
    expect(miss.code).toBe(1);
    expect(miss.json.error).toMatchObject({ code: "skill.not_found", hint: "Did you mean `deploy`?" });
  });

  test("doctor lists every place, every unusable skill with its reason, and what shadows what", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/a/SKILL.md": skill("a"),
      "home/.agents/skills/a/SKILL.md": skill("a"),
      "home/.metier/skills/gh/SKILL.md": skill("gh", "metadata:\n  requires: zz-gh"),
    });
    const { code, stdout } = await world.cli("doctor");
    expect(code).toBe(0);
    for (const path of [".claude/skills", ".agents/skills", ".metier/skills"]) {
      expect(stdout).toContain(join(world.home, path));
      expect(stdout).toContain(join(world.project, path));
    }
    expect(stdout).toContain("user:gh  missing commands: zz-gh");
    expect(stdout).toContain("Shadowed\n  · user:a");
    const { json } = await world.cli("doctor", "--json");
    expect(json).toMatchObject({ ok: true, unusable: [{ name: "gh" }], shadowed: [{ name: "a" }] });
    expect(json.machine.node).toBe(process.version);
  });

  test("doctor explains one skill, also one that could not be loaded", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/a/SKILL.md": skill("a"),
      "home/.agents/skills/a/SKILL.md": skill("a"),
      "home/.metier/skills/broken/SKILL.md": "no frontmatter",
    });
    expect((await world.cli("doctor", "a")).stdout).toContain("`a` can be used.");
    const broken = await world.cli("doctor", "broken");
    expect(broken.code).toBe(1);
    expect(broken.stdout).toContain("frontmatter.missing");
    expect((await world.cli("doctor", "nothing-like-it")).code).toBe(1);
  });
});

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

describe("what goes wrong outside of skills", () => {
  test("a broken config with its line, an unknown key with a suggestion: the rest still works", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/config.toml": '[skills]\npths = ["x"]\n',
      "project/.metier/config.yaml": "skills:\n  disabled: [a\n",
      "home/.metier/skills/a/SKILL.md": skill("a"),
    });
    const { json } = await world.cli("list", "--json", "--scope", "user");
    expect(json.skills).toHaveLength(1);
    const about = (name: string) =>
      json.diagnostics.find(({ path }: { path: string }) => path.endsWith(name));
    expect(about("config.toml")).toMatchObject({
      severity: "error",
      line: 2,
      hint: expect.stringContaining("paths"),
    });
    expect(about("config.yaml")).toMatchObject({ severity: "error", line: expect.any(Number) });
    expect((await world.cli("config")).code).toBe(2);
  });

  test("a skills path that is a file, dangling links and unreadable folders are named, the rest is listed", async () => {
    const world = createWorld();
    world.write({
      "home/.claude/skills": "a file",
      "home/.metier/skills/a/SKILL.md": skill("a"),
      "locked/x/SKILL.md": skill("x"),
    });
    mkdirSync(join(world.project, ".metier/skills"), { recursive: true });
    symlinkSync("/nowhere/at/all", join(world.project, ".metier/skills/gone"));
    chmodSync(join(world.root, "locked"), 0o000);
    const { json } = await world.cli(
      "list",
      "--json",
      "--path",
      join(world.root, "locked"),
      "--path",
      join(world.root, "no"),
    );
    chmodSync(join(world.root, "locked"), 0o755);
    const codes = json.diagnostics.map(({ code }: { code: string }) => code);
    expect(codes).toEqual(
      expect.arrayContaining(["source.not-a-directory", "link.dangling", "source.missing"]),
    );
    if (process.getuid?.() !== 0) expect(codes).toContain("source.unreadable");
    expect(json.skills.some(({ name }: { name: string }) => name === "a")).toBe(true);
  });

  test("a config table that names no skill is a warning with a suggestion", async () => {
    const world = createWorld();
    world.write({ "home/.metier/config.toml": "[skills.summarise-text]\nenabled = true\n" });
    const { json } = await world.cli("list", "--json");
    expect(json.diagnostics).toMatchObject([
      {
        code: "config.unknown-skill",
        severity: "warning",
        line: expect.any(Number),
        hint: expect.stringContaining("summarize-text"),
      },
    ]);
  });

  test("a fault inside is said as such, with exit code 5", async () => {
    const world = createWorld();
    writeFileSync(join(world.home, ".metier"), "not a folder");
    expect([0, 2, 5]).toContain((await world.cli("list")).code);
  });
});
