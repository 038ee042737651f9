import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
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
    expect(option.stderr).toContain("did you mean `--json`?");
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
    expect(json).toMatchObject({
      ok: true,
      unusable: [{ name: "gh" }, { name: "gog" }],
      shadowed: [{ name: "a" }],
    });
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

  test.each([
    ["list"],
    ["show", "a"],
    ["show", "nobody"],
    ["read", "a"],
    ["find", "thing"],
    ["match", "thing"],
    ["doctor", "a"],
    ["run", "nobody", "Hi"],
    ["run", "./b", "Hi", "--dry-run"],
    ["test", "a"],
    ["show", "a", "--json"],
  ])("a `--path` that does not exist is named once by `%s %s`", async (...words) => {
    const world = createWorld();
    world.write({ "home/.metier/skills/a/SKILL.md": skill("a"), "project/b/SKILL.md": skill("b") });
    const { stderr } = await world.cli(...words, "--path", "no");
    const path = join(world.project, "no");
    expect(stderr.split(`The skills path \`${path}\` does not exist.  source.missing`)).toHaveLength(2);
    const { stderr: without } = await world.cli(...words);
    expect(without).not.toContain("source.missing");
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

  test("whoever still asks for the desk is told that it is an example now, wherever its name is used", async () => {
    const world = createWorld();
    const moved = "It is now an example: see `examples/desk` in the repository.";
    for (const words of [
      ["enable", "desk"],
      ["show", "desk"],
      ["run", "desk", "Hi"],
    ]) {
      const { code, stderr } = await world.cli(...words);
      expect([code === 0, stderr]).toEqual([false, expect.stringContaining(moved)]);
    }
    const invoked = await world.cli("capability", "invoke", "desk.mail", "list_messages");
    expect(invoked).toMatchObject({ code: 1, stderr: expect.stringContaining(moved) });
    world.write({
      "home/.metier/config.toml": '[skills]\nenabled-bundled = ["desk"]\n[skills.desk]\nenabled = true\n',
    });
    const { json } = await world.cli("list", "--json");
    expect(json.diagnostics.map(({ code }: { code: string }) => code)).toEqual([
      "config.no-longer-bundled",
      "config.no-longer-bundled",
    ]);
    world.write({
      "home/.metier/config.toml": '[capabilities.providers.desk]\ncommand = "metier-desk serve"\n',
    });
    const { json: listed } = await world.cli("capability", "providers", "--json");
    expect(listed.providers).toMatchObject([{ fault: { hint: expect.stringContaining(moved) } }]);
  });

  test("a fault inside is said as such, with exit code 5", async () => {
    const world = createWorld();
    writeFileSync(join(world.home, ".metier"), "not a folder");
    expect([0, 2, 5]).toContain((await world.cli("list")).code);
  });
});
