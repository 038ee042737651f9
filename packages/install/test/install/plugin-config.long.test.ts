import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PLUGINS } from "@metier/skills/config";
import { describe, expect, test } from "vitest";
import { createRepository, type Repository } from "../../../../test/support/git-repository.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";

const CONTEXT = { home: "/home/me", base: "/home/me/.metier" };

describe("an entry of `skills.plugins`", () => {
  verifies("case 105", "names exactly one of an address, a repository and a path", () => {
    const read = (entry: unknown): unknown => PLUGINS.read([entry], CONTEXT);
    expect(read({ url: "https://example.com/a" })).toEqual([{ url: "https://example.com/a", enabled: true }]);
    expect(read({ repo: "owner/repo", ref: "v1" })).toEqual([
      { url: "owner/repo", ref: "v1", enabled: true },
    ]);
    expect(read({ path: "../skills/a" })).toEqual([{ url: "/home/me/skills/a", enabled: true }]);
    expect(read({ path: "~/skills/a" })).toEqual([{ url: "/home/me/skills/a", enabled: true }]);
    expect(read({ repo: "owner/repo", path: "./a" })).toBeUndefined();
    expect(read({ url: "https://example.com/a", repo: "owner/repo" })).toBeUndefined();
    expect(read({ name: "a" })).toBeUndefined();
    expect(read({ repo: "" })).toBeUndefined();
  });

  verifies("case 105", "has a reference only with a repository", () => {
    expect(PLUGINS.read([{ path: "./a", ref: "v1" }], CONTEXT)).toBeUndefined();
  });

  verifies("case 107", "may be just an address, as older files have it", () => {
    expect(PLUGINS.read(["https://example.com/a"], CONTEXT)).toEqual([
      { url: "https://example.com/a", enabled: true },
    ]);
  });

  test("says in a message what is allowed", async () => {
    const world = createWorld();
    configure(world, '[[skills.plugins]]\nrepo = "a/b"\npath = "./c"\n');
    const { json } = await world.cli("doctor", "--json");
    const [found] = json.diagnostics.filter(({ code }: { code: string }) => code === "config.invalid-value");
    expect(`${found?.message} ${found?.hint}`).toContain("exactly one of `url`, `repo` and `path`");
  });
});

describe("installing", () => {
  verifies([187, "case 105"], "adds an entry, and keeps everything else in the file", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    configure(world, '# Mine.\n[tools]\nbash = "ask" # always\n');
    expect((await install(world, repository.url, "--ref", "main")).code).toBe(0);
    const text = configOf(world);
    expect(text).toContain('# Mine.\n[tools]\nbash = "ask" # always\n');
    expect(text).toContain(
      `[[skills.plugins]]\nurl = "${repository.url}"\nref = "main"\nname = "pdf"\nenabled = true\n`,
    );
    expect(text).toMatch(/installed-at = "\d{4}-\d\d-\d\dT/);
  });

  verifies("case 105", "twice adds one entry", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    await install(world, repository.url);
    const first = configOf(world);
    await install(world, repository.url);
    await install(world, repository.url, "--force");
    expect(configOf(world)).toBe(first);
  });

  test("keeps an entry that means the same, however it is written", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    const text = `[skills]\nplugins = [\n  # The first.\n  { url = "${repository.url}/", name = "pdf" },\n]\n`;
    configure(world, text);
    await install(world, repository.url);
    expect(configOf(world)).toBe(text);
  });

  test("with another reference changes the entry in place", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    repository.git("tag", "v2");
    configure(
      world,
      `[[skills.plugins]]\n# The first.\nurl = "${repository.url}"\nname = "pdf" # its name\nref = "main"\n`,
    );
    await install(world, repository.url, "--ref", "v2", "--force");
    expect(configOf(world)).toBe(
      `[[skills.plugins]]\n# The first.\nurl = "${repository.url}"\nname = "pdf" # its name\nref = "v2"\n`,
    );
  });

  test("all skills of a repository adds one entry, some of them one for each", async () => {
    const { world, repository } = worldWith(THREE);
    await install(world, repository.url, "--skill", "a", "--skill", "b");
    expect([...configOf(world).matchAll(/^(?:url|name) = "(.*)"$/gm)].map(([, value]) => value)).toEqual([
      `${repository.url}#:skills/a`,
      "a",
      `${repository.url}#:skills/b`,
      "b",
    ]);
    const other = worldWith(THREE);
    await install(other.world, other.repository.url, "--all");
    expect(
      [...configOf(other.world).matchAll(/^(?:url|name) = "(.*)"$/gm)].map(([, value]) => value),
    ).toEqual([other.repository.url]);
  });

  test("for a project, or from a folder, leaves the user's config alone", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    await install(world, repository.url, "--project");
    world.write({ "source/local/SKILL.md": skill("local") });
    await install(world, join(world.root, "source"));
    expect(existsSync(join(world.home, ".metier/config.toml"))).toBe(false);
  });

  test("succeeds when the config cannot be edited, and says so", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    configure(world, '[skills]\nplugins = "none"\n');
    const { code, json } = await install(world, repository.url);
    expect(code).toBe(0);
    expect(json.diagnostics.map((one: { code: string }) => one.code)).toContain("install.unfinished");
    expect(configOf(world)).toBe('[skills]\nplugins = "none"\n');
  });
});

describe("removing and switching off", () => {
  test("removing takes the entry out, and no other", async () => {
    const { world, repository } = worldWith(THREE);
    await install(world, repository.url, "--skill", "a", "--skill", "b");
    await world.cli("remove", "a");
    expect([...configOf(world).matchAll(/^name = "(.*)"$/gm)].map(([, name]) => name)).toEqual(["b"]);
    await world.cli("remove", "b");
    expect(configOf(world)).not.toContain("plugins");
  });

  test("an entry for a whole repository goes with its last skill", async () => {
    const { world, repository } = worldWith(THREE);
    await install(world, repository.url, "--all");
    await world.cli("remove", "a", "b");
    expect(configOf(world)).toContain(repository.url);
    await world.cli("remove", "c");
    expect(configOf(world)).not.toContain(repository.url);
  });

  verifies(197, "`disable` and `enable` keep the entry up to date, also one of an older form", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("repo") });
    configure(world, `# Mine.\n[skills]\nplugins = ["${repository.url}"] # one\n`);
    await install(world, repository.url);
    expect((await world.cli("skill", "manage", "disable", "repo")).code).toBe(0);
    expect(configOf(world)).toMatch(/plugins = \[\{.*enabled = false.*\}\] # one/);
    const { skills } = (await world.cli("list", "--json")).json;
    expect(skills.find(({ name }: { name: string }) => name === "repo")).toMatchObject({
      name: "repo",
      status: "disabled",
    });
    expect((await world.cli("skill", "manage", "enable", "repo")).code).toBe(0);
    expect(configOf(world)).toMatch(/plugins = \[\{.*enabled = true.*\}\] # one/);
  });
});

describe("an entry of which nothing is installed", () => {
  test("is reported by `doctor`, and installed by `metier install`", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    configure(world, `[[skills.plugins]]\nurl = "${repository.url}"\nname = "mine"\n`);
    const { json: before } = await world.cli("doctor", "--json");
    expect(codesOf(before)).toContain("config.plugin-missing");
    const { json, code } = await world.cli("install", "--json");
    expect(code).toBe(0);
    expect(json.installed.map(({ name }: { name: string }) => name)).toEqual(["mine"]);
    const { json: after } = await world.cli("doctor", "--json");
    expect(codesOf(after)).not.toContain("config.plugin-missing");
    expect(configOf(world)).toBe(`[[skills.plugins]]\nurl = "${repository.url}"\nname = "mine"\n`);
  });

  verifies(
    "case 107",
    "brings of several skills the one of its name, and without a name all; older keys are read",
    async () => {
      const { world, repository } = worldWith(THREE);
      configure(world, `[[skills.plugins]]\nrepo = "${repository.url}"\nname = "b"\n`);
      const { json } = await world.cli("install", "--json");
      expect(json.installed.map(({ name }: { name: string }) => name)).toEqual(["b"]);
      const other = worldWith(THREE);
      configure(other.world, `[skills]\nsources = ["${other.repository.url}"]\n`);
      const all = await other.world.cli("install", "--json");
      expect(all.json.installed.map(({ name }: { name: string }) => name)).toEqual(["a", "b", "c"]);
    },
  );

  test("is reported where it is written, also in another system's file", async () => {
    const world = createWorld();
    configure(world, '[skills]\npreset = "agent-harness"\n');
    world.write({ "home/.agent/config.yaml": "skills:\n  plugins:\n    - https://example.com/user/mine\n" });
    const { json } = await world.cli("doctor", "--json");
    const missing = json.diagnostics.find(({ code }: { code: string }) => code === "config.plugin-missing");
    expect(missing).toMatchObject({ path: join(world.home, ".agent/config.yaml"), line: 2 });
  });

  test("that is switched off is left alone", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    configure(world, `[[skills.plugins]]\nurl = "${repository.url}"\nenabled = false\n`);
    expect(codesOf((await world.cli("doctor", "--json")).json)).not.toContain("config.plugin-missing");
    expect((await world.cli("install", "--json")).json.installed).toEqual([]);
  });

  test("fails alone when its source is gone, and with `--frozen` at once", async () => {
    const { world, repository } = worldWith({ "SKILL.md": skill("pdf") });
    configure(
      world,
      `[[skills.plugins]]\nurl = "${repository.url}-gone"\n[[skills.plugins]]\nurl = "${repository.url}"\n`,
    );
    const frozen = await world.cli("install", "--frozen", "--json");
    expect(frozen.code).toBe(1);
    expect(frozen.json.skipped.map(({ code }: { code: string }) => code)).toEqual([
      "install.differs",
      "install.differs",
    ]);
    const { json, code } = await world.cli("install", "--json");
    expect(code).not.toBe(0);
    expect(json.installed.map(({ name }: { name: string }) => name)).toEqual(["pdf"]);
    expect(json.skipped).toMatchObject([{ name: "repo-gone", code: "source.not_found" }]);
  });

  test("is not missing when another system has put it into its plugins folder", async () => {
    const world = createWorld();
    world.write({ "home/.agent/plugins/mine/SKILL.md": skill("mine") });
    configure(world, '[skills]\npreset = "agent-harness"\nplugins = ["https://example.com/user/mine"]\n');
    expect(codesOf((await world.cli("doctor", "--json")).json)).not.toContain("config.plugin-missing");
  });
});

const THREE = {
  "skills/a/SKILL.md": skill("a"),
  "skills/b/SKILL.md": skill("b"),
  "skills/c/SKILL.md": skill("c"),
};

function worldWith(files: Readonly<Record<string, string>>): {
  readonly world: World;
  readonly repository: Repository;
} {
  return { world: createWorld(), repository: createRepository(files) };
}

function install(world: World, source: string, ...flags: readonly string[]): ReturnType<World["cli"]> {
  return world.cli("install", source, ...flags, "--yes", "--json");
}

function configure(world: World, text: string): void {
  world.write({ "home/.metier/config.toml": text });
}

function configOf({ home }: World): string {
  return readFileSync(join(home, ".metier/config.toml"), "utf8");
}

function codesOf({ diagnostics }: { diagnostics: readonly { code: string }[] }): readonly string[] {
  return diagnostics.map(({ code }) => code);
}
