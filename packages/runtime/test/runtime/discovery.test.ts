import { join } from "node:path";
import { grantFolder } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill, type World, type WorldOptions } from "../../../../test/support/world.ts";
import { SkillManager } from "../../src/facades/skill-manager.ts";
import type { Metier } from "../../src/runtime/create-metier.ts";

/** A skill in every scope, and a table for one of them. */
function populatedWorld(options: WorldOptions = {}, userConfig = ""): World {
  const world = createWorld(options);
  world.write({
    "project/.metier/skills/p/SKILL.md": skill("p"),
    "home/.metier/skills/u/SKILL.md": skill("u"),
    "plugins/i/SKILL.md": skill("i"),
    "custom/c/SKILL.md": skill("c"),
    "org/o/SKILL.md": skill("o"),
    "r/SKILL.md": skill("r"),
    "home/.metier/config.toml": `[skills]\nplugins-dir = "${join(world.root, "plugins")}"\n${userConfig}\n[skills.u]\nenabled = true\n`,
  });
  return world;
}

function open(world: World, more: Parameters<World["metier"]>[0] = {}): Promise<Metier> {
  const given = { name: "g", description: "G.", instructions: "Do." };
  return world.metier({
    paths: [join(world.root, "custom")],
    integrations: [join(world.root, "org"), given],
    ...more,
  });
}

describe("with `skills.auto-discover` off", () => {
  verifies(70, "only the standard directories are left out, and it is said who set it", async () => {
    const world = populatedWorld({}, "auto-discover = false");
    const metier = await open(world, { bundled: true });
    expect(metier.names()).toEqual(["c", "g", "o"]);
    expect(metier.diagnostics()).toEqual([
      {
        code: "source.discovery-off",
        severity: "info",
        path: join(world.home, ".metier/config.toml"),
        line: 3,
        message: expect.stringContaining(`user file ${join(world.home, ".metier/config.toml")}:3`),
        hint: expect.any(String),
      },
    ]);
    expect((await metier.register(join(world.root, "r"))).name).toBe("r");
    expect((await metier.reload()).names()).toEqual(["c", "g", "o", "r"]);
  });

  test("a path that is also a standard directory stays", async () => {
    const world = populatedWorld({}, "auto-discover = false");
    const metier = await world.metier({ paths: [join(world.home, ".metier/skills")] });
    expect(metier.list().map(({ name, scope }) => `${scope}:${name}`)).toEqual(["custom:u"]);
  });

  test("the command line says so too, and names the variable that set it", async () => {
    const world = populatedWorld({ environment: { METIER_SKILLS__AUTO_DISCOVER: "false" } });
    const { json } = await world.cli("list", "--path", join(world.root, "custom"), "--json");
    expect(json.skills.map(({ name }: { name: string }) => name)).toEqual(["c"]);
    expect(json.diagnostics).toMatchObject([
      { code: "source.discovery-off", path: "METIER_SKILLS__AUTO_DISCOVER" },
    ]);
  });

  test("a project says so in vain until it is granted", async () => {
    const world = populatedWorld();
    world.write({ "project/.metier/config.toml": "[skills]\nauto-discover = false\n" });
    const metier = await open(world);
    expect(metier.names()).toEqual(["c", "g", "i", "o", "p", "u"]);
    expect(metier.diagnostics()).toMatchObject([{ code: "config.not-granted", line: 2 }]);
    const digest = `sha256:${metier.config.projectFile?.sha256}`;
    grantFolder(metier.places, { path: world.project, decision: "trusted", configDigest: digest });
    expect((await metier.reload()).names()).toEqual(["c", "g", "o"]);
  });

  verifies([70, 71], "discovery can be asked for, at creation and later, and stays asked for", async () => {
    const world = populatedWorld({}, "auto-discover = false");
    expect((await open(world, { autoDiscover: true })).names()).toEqual(["c", "g", "i", "o", "p", "u"]);
    const metier = await open(world);
    expect((await metier.discover()).map(({ name }) => name)).toEqual(["i", "p", "u"]);
    expect((await metier.reload()).names()).toEqual(["c", "g", "i", "o", "p", "u"]);
    expect(metier.diagnostics()).toEqual([]);
  });
});

describe("with `autoDiscover: false`", () => {
  verifies(
    [70, 71],
    "nothing is looked for until it is asked for, and a registered skill comes alone",
    async () => {
      for (const ask of ["discover", "reload"] as const) {
        const world = populatedWorld();
        const metier = await open(world, { autoDiscover: false });
        expect([metier.names(), metier.catalog.places, metier.diagnostics()]).toEqual([[], [], []]);
        await metier.register(join(world.root, "r"));
        await metier.register({ name: "h", description: "H.", instructions: "Do." });
        expect(metier.names()).toEqual(["h", "r"]);
        expect(metier.catalog.places.map(({ path }) => path)).toEqual([join(world.root, "r")]);
        await metier.deregister("h");
        expect(metier.names()).toEqual(["r"]);
        await metier[ask]();
        expect(metier.names()).toEqual(["c", "g", "i", "o", "p", "r", "u"]);
        expect(metier.catalog.places).toHaveLength(metier.roots.length);
      }
    },
  );

  test("reload looks where the configuration says, and no further", async () => {
    const world = populatedWorld({}, "auto-discover = false");
    const metier = await open(world, { autoDiscover: false });
    expect(metier.names()).toEqual([]);
    expect((await metier.reload()).names()).toEqual(["c", "g", "o"]);
  });
});

verifies([70, 79], "SkillManager heeds the configuration unless its program says otherwise", async () => {
  const world = createWorld();
  world.write({ "home/.metier/config.toml": "[skills]\nauto-discover = false\n" });
  world.write({ "project/.mamba/skills/a/SKILL.md": skill("a") });
  const { project: cwd, home } = world;
  expect((await SkillManager.create({ cwd, home, autoDiscover: true })).list()).toHaveLength(1);
  const manager = await SkillManager.create({ cwd, home });
  expect(manager.list()).toEqual([]);
  expect(await manager.discover()).toHaveLength(1);
});
