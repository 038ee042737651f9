/** What a hostile reading of the first version found; each stays found. */
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

describe("files that are no skills", () => {
  const OTHERS = {
    "project/README.md": "\ufeff# Project\n",
    "project/blog.md": "---\ntitle: A: B\nlayout: post\n---\n\nText.\n",
    "project/docker-compose.yml": "services:\n  web:\n    image: x\n",
    "project/skills/a/SKILL.md": skill("a"),
  };

  test("are neither counted as skills nor rewritten by --fix", async () => {
    const world = createWorld();
    world.write(OTHERS);
    const { code, json } = await world.cli("validate", "--fix", "--json");
    expect({ code, results: json.results.length }).toEqual({ code: 0, results: 1 });
    for (const [path, content] of Object.entries(OTHERS))
      expect(readFileSync(join(world.root, path), "utf8")).toBe(content);
  });

  test("are no skills under lenient either, but are checked when named", async () => {
    const world = createWorld();
    world.write({ "custom/README.md": "# Our skills\n", "custom/a/SKILL.md": skill("a") });
    const path = join(world.root, "custom");
    const { json } = await world.cli(
      "list",
      "--profile",
      "lenient",
      "--path",
      path,
      "--scope",
      "custom",
      "--json",
    );
    expect(json.skills.map(({ name }: { name: string }) => name)).toEqual(["a"]);
    expect((await world.cli("validate", join(path, "README.md"))).code).toBe(1);
  });
});

describe("a skill file that cannot be one", () => {
  test("is said with path and line", async () => {
    const world = createWorld();
    const root = join(world.project, ".metier/skills");
    mkdirSync(join(root, "folder/SKILL.md"), { recursive: true });
    mkdirSync(join(root, "device"));
    symlinkSync("/dev/null", join(root, "device/SKILL.md"));
    world.write({
      "project/.metier/skills/a/SKILL.md": skill("a"),
      "project/.metier/skills/a/deep/SKILL.md": skill("b"),
    });
    const { json } = await world.cli("list", "--json");
    for (const part of ["folder/SKILL.md", "device/SKILL.md", "a/deep/SKILL.md"]) {
      expect(
        json.diagnostics.find(({ path }: { path: string }) => path === join(root, part)),
        part,
      ).toMatchObject({ line: 1 });
    }
  });
});

describe("the terminal", () => {
  const EVIL = "b\u001b[2J\nforged";

  test("gets no control character and no extra line from a folder's name", async () => {
    const world = createWorld();
    const root = join(world.project, EVIL);
    mkdirSync(join(root, ".git"), { recursive: true });
    world.write({
      [`project/${EVIL}/.claude/skills/a${EVIL}/SKILL.md`]: skill("a"),
      "home/.metier/skills/a/SKILL.md": skill("a"),
    });
    for (const args of [
      ["doctor"],
      ["doctor", "a"],
      ["list"],
      ["show", "a"],
      ["config", "path"],
      ["config", "--explain"],
      ["validate", "."],
      ["validate", "--format", "github", "."],
      ["trust"],
      ["trust", "list"],
      ["new", "x"],
      ["disable", "a", "--project"],
    ]) {
      const { stdout, stderr } = await world.cli(...args, "--cwd", root);
      expect(stdout + stderr, args.join(" ")).not.toContain("\u001b");
      expect(
        `${stdout}${stderr}`.split("\n").filter((line) => line.startsWith("forged")),
        args.join(" "),
      ).toEqual([]);
    }
  });
});

describe("JSON", () => {
  test("is one value on every failure, or refused", async () => {
    const world = createWorld();
    expect((await world.cli("list", "--json=true", "--bogus")).json.error.code).toBe("usage.invalid");
    expect((await world.cli("validate", "--watch", "--json")).json.error.code).toBe("usage.invalid");
    expect((await world.cli("tour", "--json")).json.error.code).toBe("usage.invalid");
    expect((await world.cli("validate", "--strict", "--profile", "lenient", "--json")).json.error.code).toBe(
      "usage.invalid",
    );
  });

  test("says what the system refused, without a stack", async () => {
    const world = createWorld();
    writeFileSync(join(world.home, ".metier"), "in the way");
    const { code, json } = await world.cli("trust", "--json");
    expect(code).toBe(5);
    expect(json.error).toMatchObject({ code: "io.failed", message: expect.stringContaining(".metier") });
  });
});

describe("usage", () => {
  test("help, version and an empty command work with options around them", async () => {
    const world = createWorld();
    expect((await world.cli("--cwd", world.project, "--version")).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await world.cli("help", "list")).stdout).toBe((await world.cli("list", "--help")).stdout);
    expect((await world.cli()).stdout).toContain("Usage: metier <command>");
    expect((await world.cli("skill", "bogus")).stderr).toContain(
      "`bogus` is not a command of `metier skill`",
    );
  });

  test("paths are taken from --cwd by every command", async () => {
    const world = createWorld();
    world.write({ "project/sub/mine/a/SKILL.md": skill("a") });
    const { json } = await world.cli(
      "list",
      "--cwd",
      join(world.project, "sub"),
      "--path",
      "mine",
      "--scope",
      "custom",
      "--json",
    );
    expect(json.skills).toHaveLength(1);
    expect((await world.cli("validate", "--cwd", join(world.project, "sub"), "mine")).code).toBe(0);
  });

  test("a key that does not exist gets a suggestion from `config get` too", async () => {
    const world = createWorld();
    expect(await world.cli("config", "get", "skills.pathz")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("paths"),
    });
  });
});

describe("managing", () => {
  test("skills named like reserved words are disabled and enabled by list", async () => {
    const world = createWorld();
    world.write({ "home/.metier/skills/paths/SKILL.md": skill("paths") });
    expect((await world.cli("disable", "paths")).code).toBe(0);
    expect((await world.cli("show", "paths", "--json")).json.status).toBe("disabled");
    expect((await world.cli("enable", "paths")).code).toBe(0);
    expect((await world.cli("show", "paths", "--json")).json.status).toBe("enabled");
  });

  test("the home folder is not trusted as a whole", async () => {
    const world = createWorld();
    expect((await world.cli("trust", world.home)).code).toBe(2);
    expect((await world.cli("trust", "--cwd", world.home)).code).toBe(2);
    expect((await world.cli("trust", world.root)).code).toBe(2);
  });

  test("a folder's grant says when custom skills in it stay untrusted", async () => {
    const world = createWorld();
    world.write({ "custom/c/SKILL.md": skill("c") });
    const path = join(world.root, "custom");
    expect((await world.cli("trust", path, "--path", path)).stdout).toContain("stay untrusted");
  });

  test("a user's new skill is for the user alone", async () => {
    const world = createWorld();
    await world.cli("new", "mine", "--user");
    expect(statSync(join(world.home, ".metier/skills")).mode & 0o777).toBe(0o700);
  });

  test("show names what differs from the default, also a no", async () => {
    const world = createWorld();
    world.write({ "home/.metier/skills/a/SKILL.md": skill("a", "user-invocable: false") });
    const { stdout } = await world.cli("show", "a");
    expect(stdout).toMatch(/userInvocable\s+false/);
    expect(stdout).not.toContain("disableModelInvocation");
  });
});

verifies(87, "a skill of a snapshot cannot be changed, and knows its path", async () => {
  const world = createWorld();
  world.write({ "project/.metier/skills/a/SKILL.md": skill("a") });
  const found = (await world.metier()).require("a");
  expect([found, found.trust, found.manifest].every(Object.isFrozen)).toBe(true);
  expect(found.location).toBe(join(world.project, ".metier/skills/a/SKILL.md"));
});
