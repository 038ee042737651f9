import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createMetier,
  type Metier,
  type MetierOptions,
  SkillConflictError,
  SkillLoadError,
  SkillManager,
  SkillNotFoundError,
  SkillRegistry,
  SkillValidationError,
} from "metier";
import { describe, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

describe("the catalog", () => {
  verifies(
    [70, 74, 75, 76],
    "is an immutable snapshot of tier 1: names, reasons and diagnostics, no bodies",
    async () => {
      const world = createWorld();
      const body = "a word that stands only in the body";
      world.write({
        "project/.metier/skills/a/SKILL.md": skill("a", "", body),
        "project/.metier/skills/broken/SKILL.md": "no frontmatter here",
      });
      const metier = await world.metier();
      const { catalog } = metier;
      expect(metier.names()).toEqual(["a"]);
      expect(JSON.stringify(catalog.all)).not.toContain(body);
      expect(catalog.diagnostics).toMatchObject([
        { path: join(world.project, ".metier/skills/broken/SKILL.md"), line: 1, severity: "error" },
      ]);
      expect(Object.isFrozen(catalog) && Object.isFrozen(catalog.all)).toBe(true);
      world.write({ "project/.metier/skills/b/SKILL.md": skill("b") });
      await metier.reload();
      expect(catalog.names()).toEqual(["a"]);
      expect(metier.names()).toEqual(["a", "b"]);
    },
  );

  verifies(
    [71, "case 39", "case 40"],
    "discover answers with what is new, a second time with nothing; reload drops what is gone",
    async () => {
      const world = createWorld();
      world.write({ "project/.metier/skills/a/SKILL.md": skill("a") });
      const metier = await world.metier({ autoDiscover: false });
      expect(metier.names()).toEqual([]);
      expect((await metier.discover()).map(({ name }) => name)).toEqual(["a"]);
      expect(await metier.discover()).toEqual([]);
      await metier.register(await folderSkill(world.root, "r"));
      expect(await metier.discover()).toEqual([]);
      rmSync(join(world.project, ".metier/skills/a"), { recursive: true });
      await metier.reload();
      expect(metier.names()).toEqual(["r"]);
    },
  );

  verifies([53, "case 32"], "one broken skill of several does not keep the others away", async () => {
    const world = createWorld();
    world.write({
      "project/.metier/skills/a/SKILL.md": skill("a"),
      "project/.metier/skills/b/SKILL.md": "---\nname: [unclosed\n---\n",
      "project/.metier/skills/c/SKILL.md": skill("c"),
    });
    const metier = await world.metier();
    expect(metier.names()).toEqual(["a", "c"]);
    expect(metier.diagnostics().some(({ path }) => path.endsWith("b/SKILL.md"))).toBe(true);
  });

  verifies([93, 166], "a plugin that is off goes by its name, or by its repository's", async () => {
    const world = createWorld();
    const urls = [
      "https://example.com/user/plain",
      "https://example.com/user/ending.git",
      "git@example.com:user/Over_SSH.git",
      "https://example.com/user/slash/?tab=readme",
    ];
    const names = ["plain", "ending", "over-ssh", "slash", "named", "other", "repository"];
    world.write({
      ...Object.fromEntries(names.map((name) => [`home/.agent/plugins/${name}/SKILL.md`, skill(name)])),
      "home/.agent/config.yaml": [
        "skills:",
        "  plugins:",
        ...urls.map((url) => `    - { url: "${url}", enabled: false }`),
        '    - { url: "https://example.com/user/repository", name: named, enabled: false }',
        '    - { url: "https://example.com/user/other", ref: v1.0.0, enabled: true }',
      ].join("\n"),
    });
    const metier = await world.metier({ preset: "agent-harness" });
    expect(metier.names()).toEqual(["other", "repository"]);
    expect(metier.require("over-ssh").reason).toBe("disabled by its entry in `skills.plugins`");
  });

  test("two skills of one name in one scope are thrown or reported, as the program or the profile says", async () => {
    const world = createWorld();
    world.write({ "one/a/SKILL.md": skill("a"), "two/a/SKILL.md": skill("a") });
    const paths = ["one", "two"].map((folder) => join(world.root, folder));
    const open = (options: MetierOptions): Promise<Metier> => world.metier({ paths, ...options });
    await expect(open({ profile: "strict" })).rejects.toMatchObject({
      name: "SkillConflictError",
      skillName: "a",
      paths: paths.map((path) => join(path, "a/SKILL.md")),
    });
    await expect(open({ conflicts: "throw" })).rejects.toThrow(SkillConflictError);
    expect((await open({})).names()).toEqual(["a"]);
    expect((await open({ profile: "strict", conflicts: "report" })).names()).toEqual(["a"]);
    const given = { name: "g", description: "G.", instructions: "Do." };
    await expect(open({ paths: [], integrations: [given, given], profile: "strict" })).rejects.toMatchObject({
      skillName: "g",
      paths: ["passed as an object", "passed as an object"],
    });
    const flags = ["--profile", "strict", "--path", paths[0] ?? "", "--path", paths[1] ?? "", "--json"];
    const { code, json } = await world.cli("list", ...flags);
    expect(code).toBe(0);
    expect(json.diagnostics.map((entry: { code: string }) => entry.code)).toContain("catalog.conflict");
  });

  test("`get` answers with nothing, `require` throws with near names", async () => {
    const world = createWorld();
    world.write({ "project/.metier/skills/summarise/SKILL.md": skill("summarise") });
    const metier = await world.metier();
    expect(metier.get("summarize")).toBeUndefined();
    expect(metier.has("summarise")).toBe(true);
    expect(() => metier.require("summarize")).toThrow(SkillNotFoundError);
    try {
      metier.require("summarize");
    } catch (error) {
      expect((error as SkillNotFoundError).hint).toBe("Did you mean `summarise`?");
    }
  });
});

describe("registration", () => {
  verifies(
    "case 95",
    "takes paths and objects; duplicates conflict; only what was registered can be deregistered",
    async () => {
      const world = createWorld();
      const metier = await world.metier();
      const path = await folderSkill(world.root, "r");
      expect(await metier.register(path)).toMatchObject({
        name: "r",
        scope: "custom",
        trust: { level: "untrusted" },
      });
      const given = {
        name: "given",
        description: "From code.",
        instructions: "Do it.",
        "allowed-tools": "Read",
      };
      expect(await metier.register(given)).toMatchObject({
        name: "given",
        scope: "integration",
        trust: { level: "trusted" },
        manifest: { allowedTools: ["Read"] },
      });
      await expect(metier.register({ ...given })).rejects.toThrow(SkillConflictError);
      await expect(metier.register(join(world.root, "nowhere"))).rejects.toThrow(SkillNotFoundError);
      world.write({ "bad/SKILL.md": "---\nname: bad\n---\n" });
      await expect(metier.register(join(world.root, "bad"))).rejects.toThrow(SkillValidationError);
      expect(metier.names()).toEqual(["given", "r"]);
      await metier.deregister("given");
      expect(metier.names()).toEqual(["r"]);
      await expect(metier.deregister("given")).rejects.toThrow(SkillNotFoundError);
    },
  );

  test("several at once lose none", async () => {
    const world = createWorld();
    const metier = await world.metier();
    const paths = await Promise.all(["a", "b", "c", "d"].map((name) => folderSkill(world.root, name)));
    await Promise.all(paths.map((path) => metier.register(path)));
    expect(metier.names()).toEqual(["a", "b", "c", "d"]);
  });

  verifies(
    [58, 68],
    "integrations are folders or objects of the embedding program, several at once",
    async () => {
      const world = createWorld();
      world.write({ "org/a/SKILL.md": skill("a"), "team/b/SKILL.md": skill("b") });
      const metier = await createMetier({
        cwd: world.project,
        home: world.home,
        integrations: [
          join(world.root, "org"),
          join(world.root, "team"),
          { name: "c", description: "C.", instructions: "Do c." },
        ],
      });
      expect(metier.list().map(({ name, scope, trust }) => [name, scope, trust.level])).toEqual([
        ["a", "integration", "trusted"],
        ["b", "integration", "trusted"],
        ["c", "integration", "trusted"],
      ]);
    },
  );
});

describe("paths", () => {
  verifies("case 12", "may be text or file URLs", async () => {
    const world = createWorld();
    const metier = await world.metier();
    const path = await folderSkill(world.root, "r");
    expect((await metier.validate(path)).valid).toBe(true);
    expect((await metier.validate(pathToFileURL(path))).valid).toBe(true);
    expect((await metier.register(pathToFileURL(path))).location).toBe(join(path, "SKILL.md"));
  });

  verifies(
    4,
    "a skill's scripts, references and assets are its content: found with it, never skills of their own",
    async () => {
      const world = createWorld();
      world.write({
        "project/.metier/skills/a/SKILL.md": skill("a", "", "See [the guide](references/guide.md)."),
        "project/.metier/skills/a/references/guide.md": skill("guide"),
        "project/.metier/skills/a/scripts/run.sh": "echo",
        "project/.metier/skills/a/assets/logo.svg": "<svg/>",
      });
      const metier = await world.metier();
      expect(metier.names()).toEqual(["a"]);
      expect((await metier.validate(join(world.project, ".metier/skills/a"))).results).toMatchObject([
        { valid: true, diagnostics: [] },
      ]);
      const { stdout } = await world.cli("trust", "project:a", "--json");
      expect(JSON.parse(stdout).trusted).toMatchObject([{ kind: "skill", files: 4 }]);
    },
  );
});

describe("the facades", () => {
  verifies([47, 78], "SkillRegistry discovers a workspace and answers by name", async () => {
    const world = createWorld();
    world.write({
      "project/workspace/skills/a/SKILL.md": skill("a", "input_schema:\n  type: object"),
      "project/workspace/skills/b/SKILL.md": skill("b", "requires:\n  bins: [zz-none]"),
      "bad/SKILL.md": "---\nname: bad\n---\n\nbody\n",
    });
    const registry = new SkillRegistry({ preset: "ash", home: world.home });
    expect(registry.has("a")).toBe(false);
    expect(() => registry.get("a")).toThrow(SkillNotFoundError);
    await registry.discover(world.project);
    expect(registry.get("a").description).toBe("The a skill.");
    expect(registry.listNames()).toEqual(["a", "b"]);
    expect(registry.listAvailable().map(({ name }) => name)).toEqual(["a"]);
    expect(registry.getDefinitions()).toEqual([
      { name: "a", description: "The a skill.", inputSchema: { type: "object" } },
    ]);
    expect(await registry.validateSkillFile(join(world.project, "workspace/skills/a"))).toEqual([true, null]);
    const [valid, error] = await registry.validateSkillFile(join(world.root, "bad/SKILL.md"));
    expect(valid).toBe(false);
    expect(error).toContain("description");
  });

  verifies(
    [48, 49, 79, 167],
    "SkillManager takes its directories, discovers, registers and validates",
    async () => {
      const world = createWorld();
      world.write({
        "project/mine/a/SKILL.md": skill("a"),
        "home/theirs/b/SKILL.md": skill("b"),
        "shared/c/SKILL.md": skill("c"),
        "bad/SKILL.md": "---\nname: Bad Name\nmax-iterations: nope\n---\n",
      });
      const manager = await SkillManager.create({
        skillsDirs: ["mine"],
        userSkillsDir: "~/theirs",
        customPaths: [join(world.root, "shared")],
        trustedPaths: [join(world.root, "shared")],
        autoDiscover: false,
        cwd: world.project,
        home: world.home,
      });
      expect(manager.list()).toEqual([]);
      expect((await manager.discover()).map(({ name, scope, trust }) => [name, scope, trust.level])).toEqual([
        ["a", "project", "trusted"],
        ["b", "user", "trusted"],
        ["c", "custom", "trusted"],
      ]);
      expect(manager.get("nothing")).toBeUndefined();
      expect((await manager.register(await folderSkill(world.root, "r"))).name).toBe("r");
      const { valid, errors } = await manager.validate(join(world.root, "bad"));
      expect(valid).toBe(false);
      expect(errors.length).toBeGreaterThanOrEqual(2);
    },
  );
});

describe("errors", () => {
  verifies(
    [201, 202, 203, "case 98"],
    "have a hierarchy, attributes, readable messages, and serialise",
    async () => {
      const errors = [
        new SkillNotFoundError("a", "/x"),
        new SkillValidationError("a", ["no description"], "/x"),
        new SkillLoadError("a", "/x", new Error("EACCES")),
        new SkillConflictError("a", ["/x", "/y"]),
      ];
      expect(errors.map((error) => [error.name, error.code, error.exitCode])).toEqual([
        ["SkillNotFoundError", "skill.not_found", 1],
        ["SkillValidationError", "skill.validation", 1],
        ["SkillLoadError", "skill.load", 5],
        ["SkillConflictError", "skill.conflict", 1],
      ]);
      expect(JSON.parse(JSON.stringify(errors[1]))).toEqual({
        code: "skill.validation",
        message: "Skill `a` is invalid: no description",
        data: { skillName: "a", errors: ["no description"], path: "/x" },
      });
      expect(errors[2]?.cause).toBeInstanceOf(Error);
    },
  );
});

describe("watching", () => {
  verifies(
    72,
    "replaces the snapshot after a change, also in a folder that did not exist; ends when told",
    async () => {
      const world = createWorld();
      mkdirSync(join(world.project, ".metier"));
      const metier = await world.metier();
      const changes: string[][] = [];
      let wake = (): void => undefined;
      const stop = metier.watch((outcome) => {
        if ("catalog" in outcome) changes.push([...outcome.catalog.names()]);
        wake();
      });
      const until = async (wanted: string): Promise<void> => {
        while (!changes.some((names) => names.join() === wanted))
          await new Promise<void>((resolve) => (wake = resolve));
      };
      world.write({ "project/.metier/skills/a/SKILL.md": skill("a") });
      await until("a");
      world.write({ "project/.metier/skills/b/SKILL.md": skill("b") });
      await until("a,b");
      stop();
      writeFileSync(join(world.project, ".metier/skills/a/SKILL.md"), "gone");
      await new Promise((resolve) => setTimeout(resolve, 400));
      expect(metier.names()).toEqual(["a", "b"]);
    },
  );
});

async function folderSkill(root: string, name: string): Promise<string> {
  const folder = join(root, "registered", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SKILL.md"), skill(name));
  return folder;
}
