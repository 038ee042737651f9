import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { SkillConflictError } from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

describe("scopes", () => {
  test("a custom path is trusted by its place, whether it names the skill's folder or the file in it", async () => {
    const world = createWorld();
    world.write({ "custom/x/SKILL.md": skill("x"), "elsewhere/y/SKILL.md": skill("y") });
    const paths = ["custom/x/SKILL.md", "elsewhere/y/SKILL.md"].map((path) => join(world.root, path));
    const metier = await world.metier({ paths, trustedPaths: [join(world.root, "custom")] });
    expect(metier.require("x").trust.level).toBe("trusted");
    expect(metier.require("y").trust.level).toBe("untrusted");
  });

  verifies(
    [56, 57, 58, 60, 61, 62, 63, 65, "case 30", "case 34", "case 35"],
    "bundled < integration < custom < user < project, each shadowing the ones below",
    async () => {
      const world = createWorld();
      world.write({
        "integration/x/SKILL.md": skill("x"),
        "custom/x/SKILL.md": skill("x"),
        "home/.claude/skills/x/SKILL.md": skill("x"),
        "home/.agents/skills/x/SKILL.md": skill("x"),
        "home/.metier/skills/x/SKILL.md": skill("x"),
        "project/.claude/skills/x/SKILL.md": skill("x"),
        "project/.agents/skills/x/SKILL.md": skill("x"),
        "project/.metier/skills/x/SKILL.md": skill("x"),
      });
      const metier = await world.metier({
        integrations: [join(world.root, "integration")],
        paths: [join(world.root, "custom")],
        trustedPaths: [join(world.root, "custom")],
        bundled: true,
      });
      const x = metier.require("x");
      expect(x.location).toBe(join(world.project, ".metier/skills/x/SKILL.md"));
      expect(x.shadows.map(({ location }) => location.slice(world.root.length + 1))).toEqual([
        "project/.agents/skills/x/SKILL.md",
        "project/.claude/skills/x/SKILL.md",
        "home/.metier/skills/x/SKILL.md",
        "home/.agents/skills/x/SKILL.md",
        "home/.claude/skills/x/SKILL.md",
        "custom/x/SKILL.md",
        "integration/x/SKILL.md",
      ]);
      expect(metier.get("user:x")?.location).toBe(join(world.home, ".metier/skills/x/SKILL.md"));
      expect(metier.get("custom:x")).toMatchObject({
        status: "shadowed",
        shadowedBy: { scope: "project", location: x.location },
      });
      expect(metier.get("bundled:summarize-text")?.status).toBe("enabled");
    },
  );

  test("the order is one array in the config", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/config.toml":
        '[skills]\norder = ["project", "user", "custom", "installed", "integration", "bundled"]\n',
      "home/.metier/skills/x/SKILL.md": skill("x"),
      "project/.metier/skills/x/SKILL.md": skill("x"),
    });
    expect((await world.metier()).require("x").scope).toBe("user");
  });

  test("project directories are looked up to the repository root, the nearest wins", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/skills/x/SKILL.md": skill("x"),
      "project/.metier/skills/top/SKILL.md": skill("top"),
      "project/a/.claude/skills/x/SKILL.md": skill("x"),
      "project/a/b/keep": "",
      "outside/.metier/skills/y/SKILL.md": skill("y"),
    });
    const metier = await world.metier({ cwd: join(world.project, "a/b") });
    expect(metier.require("x").location).toBe(join(world.project, "a/.claude/skills/x/SKILL.md"));
    expect(metier.names()).toEqual(["top", "x"]);
  });

  test("outside a repository only the working directory counts, and home is never a project", async () => {
    const world = createWorld({ repository: false });
    world.write({
      "project/.metier/skills/x/SKILL.md": skill("x"),
      "project/sub/.metier/skills/y/SKILL.md": skill("y"),
      "home/.claude/skills/z/SKILL.md": skill("z"),
    });
    expect((await world.metier({ cwd: join(world.project, "sub") })).names()).toEqual(["y", "z"]);
    const home = await world.metier({ cwd: world.home });
    expect(home.require("z").scope).toBe("user");
  });
});

describe("shadowing and conflicts", () => {
  verifies(
    ["case 45", 97],
    "an unavailable or disabled skill of higher precedence hides the lower one",
    async () => {
      const world = createWorld();
      world.write({
        "home/.metier/config.toml": "[skills.d]\nenabled = false\n",
        "home/.metier/skills/u/SKILL.md": skill("u"),
        "home/.metier/skills/d/SKILL.md": skill("d"),
        "project/.metier/skills/u/SKILL.md": skill("u", "requires:\n  bins: [metier-no-such-command]"),
        "project/.metier/skills/d/SKILL.md": skill("d"),
      });
      const metier = await world.metier();
      expect(metier.names()).toEqual([]);
      expect(metier.names({ includeUnavailable: true })).toEqual(["u"]);
      expect(metier.names({ includeDisabled: true })).toEqual(["d"]);
      expect(metier.names({ includeDisabled: true, includeUnavailable: true })).toEqual(["d", "u"]);
      expect(metier.get("user:u")).toMatchObject({ status: "shadowed", shadowedBy: { scope: "project" } });
    },
  );

  verifies(
    [66, "case 36"],
    "two skills of one name in one scope: a conflict with both paths, the first is used, strict throws",
    async () => {
      const world = createWorld();
      world.write({ "one/b/SKILL.md": skill("x"), "two/a/SKILL.md": skill("x") });
      const paths = [join(world.root, "one"), join(world.root, "two")];
      const metier = await world.metier({ paths });
      const conflict = metier.diagnostics().find(({ code }) => code === "catalog.conflict");
      expect(conflict?.message).toContain(join(world.root, "one/b/SKILL.md"));
      expect(conflict?.path).toBe(join(world.root, "two/a/SKILL.md"));
      expect(metier.require("x").location).toBe(join(world.root, "one/b/SKILL.md"));
      const strict = createWorld();
      strict.write({ "one/x/SKILL.md": skill("x"), "two/x/SKILL.md": skill("x") });
      const error = await strict
        .metier({ paths: [join(strict.root, "one"), join(strict.root, "two")], profile: "strict" })
        .catch((fault: unknown) => fault);
      expect(error).toBeInstanceOf(SkillConflictError);
      expect((error as SkillConflictError).paths).toHaveLength(2);
    },
  );

  verifies(
    ["case 37", "case 44"],
    "what does not conflict is all there; a folder beats a flat file of its name",
    async () => {
      const world = createWorld();
      world.write({
        "project/.metier/skills/a/SKILL.md": skill("a"),
        "project/.metier/skills/a.md": skill("a"),
        "project/.metier/skills/b.md": skill("b"),
        "project/.metier/skills/c.yaml": "name: c\ndescription: The c skill.\ninstructions: Do c.\n",
        "project/.metier/skills/README.md": "# Our skills\n",
      });
      const metier = await world.metier();
      expect(metier.names()).toEqual(["a", "b", "c"]);
      expect(metier.require("a").form).toBe("directory");
      expect(metier.diagnostics().map(({ code }) => code)).toContain("catalog.directory-beats-flat");
      expect(metier.diagnostics().some(({ path }) => path.endsWith("README.md"))).toBe(false);
    },
  );

  test("one file reached by two skills folders is one skill", async () => {
    const world = createWorld();
    world.write({ "project/.agents/skills/a/SKILL.md": skill("a") });
    mkdirSync(join(world.project, ".claude/skills"), { recursive: true });
    symlinkSync(join(world.project, ".agents/skills/a"), join(world.project, ".claude/skills/a"));
    const metier = await world.metier();
    expect(metier.catalog.all.map(({ location }) => location)).toEqual([
      join(world.project, ".agents/skills/a/SKILL.md"),
    ]);
    expect(metier.diagnostics()).toMatchObject([{ code: "catalog.same-skill-twice", severity: "info" }]);
  });
});

describe("presets", () => {
  test("`ash` reads workspace/skills, ~/.ash/skills and ~/.ash/config.toml", async () => {
    const world = createWorld();
    world.write({
      "project/workspace/skills/a/SKILL.md": skill("a"),
      "home/.ash/skills/a/SKILL.md": skill("a"),
      "home/.ash/skills/b/SKILL.md": skill("b"),
      "home/.ash/config.toml": "[skills.b]\nenabled = false\n",
      "project/.claude/skills/c/SKILL.md": skill("c"),
    });
    const metier = await world.metier({ preset: "ash" });
    expect(metier.names({ includeDisabled: true })).toEqual(["a", "b"]);
    expect(metier.require("a").scope).toBe("project");
    expect(metier.require("b").status).toBe("disabled");
    expect(metier.config.config.skills.defaultExecution).toBe("isolated");
  });

  verifies(
    [59, 92, 93, 166],
    "`agent-harness` has plugins highest and reads ~/.agent/config.yaml",
    async () => {
      const world = createWorld();
      world.write({
        "project/.agent/skills/a/SKILL.md": skill("a"),
        "project/.claude/skills/a/SKILL.md": skill("a"),
        "home/.agent/plugins/a/SKILL.md": skill("a"),
        "home/.agent/plugins/p/SKILL.md": skill("p"),
        "home/.agent/skills/u/SKILL.md": skill("u"),
        "home/.agent/config.yaml":
          "skills:\n  plugins:\n    - url: https://example.com/p\n      name: p\n      enabled: false\n  disabledBundled: [summarize-text]\n  enabledBundled: [summarize-text, write-a-skill]\n",
      });
      const metier = await world.metier({
        preset: "agent-harness",
        bundled: true,
        trustedPaths: [join(world.home, ".agent/plugins")],
      });
      expect(metier.require("a").scope).toBe("installed");
      expect(metier.get("project:a")?.location).toBe(join(world.project, ".agent/skills/a/SKILL.md"));
      expect(metier.require("p")).toMatchObject({ status: "disabled" });
      expect(metier.require("summarize-text")).toMatchObject({
        status: "disabled",
        reason: expect.stringContaining("disabled-bundled"),
      });
      expect(metier.require("review-a-skill")).toMatchObject({
        status: "disabled",
        reason: expect.stringContaining("enabled-bundled"),
      });
      expect(metier.require("write-a-skill").status).toBe("enabled");
    },
  );

  test("`mamba` has custom paths lowest and reads MAMBA_SKILLS__*", async () => {
    const world = createWorld({ environment: { MAMBA_SKILLS__AUTO_DISCOVER: "false" } });
    world.write({
      "project/.mamba/skills/a/SKILL.md": skill("a"),
      "home/.mamba/skills/b/SKILL.md": skill("b"),
      "custom/b/SKILL.md": skill("b"),
    });
    const metier = await world.metier({ preset: "mamba", paths: [join(world.root, "custom")] });
    expect(metier.list().map(({ name, scope }) => `${scope}:${name}`)).toEqual(["custom:b"]);
    expect((await metier.discover()).map(({ name, scope }) => `${scope}:${name}`)).toEqual([
      "project:a",
      "user:b",
    ]);
  });

  verifies(64, "`weakincentives` knows one explicit directory and nothing else", async () => {
    const world = createWorld();
    world.write({ "skills/a/SKILL.md": skill("a"), "project/.claude/skills/b/SKILL.md": skill("b") });
    expect(
      (await world.metier({ preset: "weakincentives", paths: [join(world.root, "skills")] })).names(),
    ).toEqual(["a"]);
  });
});
