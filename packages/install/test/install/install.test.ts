import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  createInstallWorld,
  faultOf,
  readText,
  resultOf,
  skillFiles,
} from "../../../../test/support/installing.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { skill } from "../../../../test/support/world.ts";

const TWO = { ...skillFiles("skills/alpha", "alpha"), ...skillFiles("skills/beta", "beta") };

describe("one skill of a repository", () => {
  verifies(
    [59, 186, 187, 192, "case 100"],
    "is fetched, checked, stored under its name and recorded",
    async () => {
      const world = createInstallWorld();
      const repository = world.repository({
        ...skillFiles("", "alpha"),
        "scripts/run.sh": "echo hi\n",
        ".gitignore": "x\n",
      });
      chmodSync(join(repository.folder, "scripts/run.sh"), 0o755);
      const commit = repository.commit({ ...skillFiles("", "alpha"), "scripts/run.sh": "echo hi\n" });
      const metier = await world.metier();
      const { installed, skipped } = resultOf(await metier.install({ source: repository.url }));
      const [entry] = world.lock().skills;
      expect(skipped).toEqual([]);
      expect(installed).toEqual([
        { name: "alpha", digest: entry?.digest, path: join(world.places.store, world.stored()[0] ?? "") },
      ]);
      expect(entry).toMatchObject({
        name: "alpha",
        source: repository.url,
        kind: "git",
        resolved: commit,
        path: "",
      });
      expect(world.stored()).toEqual([expect.stringMatching(/^alpha@[0-9a-f]{16}$/)]);
      expect(world.quarantined()).toEqual([]);
      expect(existsSync(join(installed[0]?.path ?? "", ".git"))).toBe(false);
      // The catalog has it at once, and nobody trusts it.
      expect(metier.require("alpha")).toMatchObject({
        scope: "installed",
        status: "enabled",
        trust: { level: "untrusted" },
      });
    },
  );

  test("[U18] twice, or on two machines, gives the same lock, which says neither who nor when", async () => {
    const worlds = [createInstallWorld(), createInstallWorld()] as const;
    const repository = worlds[0].repository(skillFiles("", "alpha"));
    const locks: string[] = [];
    for (const world of worlds) {
      const metier = await world.metier();
      resultOf(await metier.install({ source: repository.url }));
      locks.push(readFileSync(world.places.lockFile, "utf8"));
      resultOf(await metier.install({ source: repository.url }));
      locks.push(readFileSync(world.places.lockFile, "utf8"));
      resultOf(await metier.install({ source: repository.url, force: true }));
      locks.push(readFileSync(world.places.lockFile, "utf8"));
    }
    expect(new Set(locks).size).toBe(1);
    expect(locks[0]).not.toMatch(/installed-|updated-|\d{4}-\d\d-\d\dT/);
  });

  verifies(
    [186, "case 100"],
    "comes from a branch, a tag or a commit, and may be called otherwise",
    async () => {
      const world = createInstallWorld();
      const repository = world.repository(skillFiles("", "alpha", "one"));
      const first = repository.git("rev-parse", "HEAD");
      repository.git("tag", "v1");
      repository.git("switch", "--quiet", "--create", "dev");
      repository.commit(skillFiles("", "alpha", "two"));
      repository.git("switch", "--quiet", "main");
      repository.commit(skillFiles("", "alpha", "three"));
      const metier = await world.metier();
      for (const [ref, name] of [
        ["v1", "by-tag"],
        ["dev", "by-branch"],
        [first, "by-commit"],
      ] as const) {
        resultOf(await metier.install({ source: repository.url, ref, name }));
      }
      const bodies = ["by-tag", "by-branch", "by-commit"].map((name) => {
        const { directory, manifest } = metier.require(name);
        return [manifest.name, readText(directory, "SKILL.md").trim().split("\n").at(-1)];
      });
      expect(bodies.map(([, body]) => body)).toEqual(["one", "two", "one"]);
      expect(world.lock().skills.map(({ name, alias, ref }) => [name, alias, ref])).toEqual([
        ["alpha", "by-branch", "dev"],
        ["alpha", "by-commit", first],
        ["alpha", "by-tag", "v1"],
      ]);
      // The same content is in the store once.
      expect(world.stored()).toHaveLength(2);
    },
  );

  verifies(
    [189, "case 100"],
    "is not installed when the source has none, or one that is not valid",
    async () => {
      const world = createInstallWorld();
      const metier = await world.metier();
      const empty = world.repository({ "README.md": "Nothing here.\n" }, "empty");
      expect(faultOf(await metier.install({ source: empty.url }))).toMatchObject({
        code: "install.no_skill",
      });
      for (const [name, text] of [
        ["traversal", "---\nname: ../../evil\ndescription: Out.\n---\n\nx\n"],
        ["long", `---\nname: ${"a".repeat(65)}\ndescription: Long.\n---\n\nx\n`],
        ["undescribed", "---\nname: fine\n---\n\nx\n"],
      ] as const) {
        const repository = world.repository({ "SKILL.md": text }, name);
        const { installed, skipped } = resultOf(
          await metier.install({ source: repository.url, yes: true, force: true }),
        );
        expect(installed).toEqual([]);
        expect(skipped).toMatchObject([
          { code: "install.invalid", reason: expect.stringContaining("SKILL.md:") },
        ]);
      }
      expect(world.stored()).toEqual([]);
      expect(world.quarantined()).toEqual([]);
      expect(existsSync(join(world.root, "evil"))).toBe(false);
      expect(existsSync(world.places.lockFile)).toBe(false);
    },
  );

  verifies(
    [189, 190, "case 100"],
    "leaves nothing behind when the address is bad or nothing answers there",
    async () => {
      const world = createInstallWorld();
      const metier = await world.metier();
      const codes: string[] = [];
      for (const source of [
        "",
        "-oProxyCommand=x",
        "ext::sh -c x",
        `file://${world.root}/none`,
        "./none",
        "nonsense",
      ]) {
        const { code, message, hint } = faultOf(await metier.install({ source }));
        expect(message.length * hint.length).toBeGreaterThan(0);
        codes.push(code);
      }
      expect(codes.slice(0, 3)).toEqual(["source.invalid", "source.invalid", "source.invalid"]);
      expect(world.stored()).toEqual([]);
      expect(world.quarantined()).toEqual([]);
    },
  );

  test.each(["../up", "a/b", "A", "x".repeat(65), "-x", ""])("cannot be called %j", async (name) => {
    const world = createInstallWorld();
    const metier = await world.metier();
    const fault = faultOf(await metier.install({ source: "./x", name }));
    expect(fault).toMatchObject({
      code: "install.usage",
      message: expect.stringContaining("is not a valid skill name"),
    });
  });
});

describe("many skills of a source", () => {
  test("are chosen by name, glob or path, or all of them", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...TWO, ...skillFiles("extra/gamma", "gamma") });
    const metier = await world.metier();
    const choose = async (...skills: readonly string[]) =>
      resultOf(await metier.install({ source: repository.url, skills, dryRun: true })).installed.map(
        ({ name }) => name,
      );
    expect(await choose("alpha")).toEqual(["alpha"]);
    expect(await choose("*a", "beta")).toEqual(["alpha", "beta", "gamma"]);
    expect(await choose("./extra/gamma/")).toEqual(["gamma"]);
    expect(await choose("skills/*")).toEqual(["alpha", "beta"]);
    expect(await choose("*")).toEqual(["alpha", "beta", "gamma"]);
    expect(world.stored()).toEqual([]);
  });

  test("are listed in the fault when nobody says which, and nearest names when none fits", async () => {
    const world = createInstallWorld();
    const repository = world.repository(TWO);
    const metier = await world.metier();
    const several = faultOf(await metier.install({ source: repository.url }));
    expect(several).toMatchObject({
      code: "install.choice",
      message: expect.stringContaining("`alpha`, `beta`"),
    });
    const none = faultOf(await metier.install({ source: repository.url, skills: ["alpa"] }));
    expect(none).toMatchObject({ code: "install.no_skill", hint: expect.stringContaining("`alpha`") });
    const named = faultOf(await metier.install({ source: repository.url, skills: ["*"], name: "one" }));
    expect(named.code).toBe("install.usage");
  });

  test("of one name are told apart by path, and never guessed", async () => {
    const world = createInstallWorld();
    const repository = world.repository({
      ...skillFiles("a/x", "x", "one"),
      ...skillFiles("b/x", "x", "two"),
      ...TWO,
    });
    const metier = await world.metier();
    const { installed, skipped } = resultOf(await metier.install({ source: repository.url, skills: ["*"] }));
    expect(installed.map(({ name }) => name)).toEqual(["alpha", "beta"]);
    expect(skipped).toMatchObject([
      { name: "x", code: "install.conflict", reason: expect.stringContaining("`b/x`") },
    ]);
    resultOf(await metier.install({ source: repository.url, skills: ["b/x"] }));
    expect(readText(metier.require("x").directory, "SKILL.md")).toContain("two");
  });

  test("are installed one and all in one step of the lock, except those that cannot be", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...TWO, "skills/bad/SKILL.md": "no frontmatter\n" });
    const metier = await world.metier();
    const { installed, skipped } = resultOf(await metier.install({ source: repository.url, skills: ["*"] }));
    expect(installed.map(({ name }) => name)).toEqual(["alpha", "beta"]);
    expect(skipped).toMatchObject([{ name: "bad", code: "install.invalid" }]);
  });
});

test("a lock that cannot be read stops everything and stays as it is", async () => {
  const world = createInstallWorld();
  const repository = world.repository(skillFiles("", "alpha"));
  world.write({ "home/.metier/metier.lock": "<<<<<<< ours\n" });
  const metier = await world.metier();
  const fault = faultOf(await metier.install({ source: repository.url }));
  expect(fault).toMatchObject({ code: "install.lock", message: expect.stringContaining("metier.lock:1") });
  expect(readText(world.places.lockFile)).toBe("<<<<<<< ours\n");
  expect(world.stored()).toEqual([]);
});

test("a cancelled installation installs nothing", async () => {
  const world = createInstallWorld();
  const repository = world.repository(skillFiles("", "alpha"));
  const metier = await world.metier();
  const stop = new AbortController();
  const outcome = await metier.install(
    { source: repository.url, signal: stop.signal },
    {
      async review() {
        stop.abort();
        return true;
      },
    },
  );
  expect(faultOf(outcome).code).toBe("cancelled");
  expect([world.stored(), world.quarantined(), world.lock().skills]).toEqual([[], [], []]);
});

test("a skill that a source reaches over a link is installed as what it is", async () => {
  const world = createInstallWorld();
  const folder = join(world.root, "linked");
  mkdirSync(join(folder, ".hidden"), { recursive: true });
  world.write({ "linked/.hidden/alpha/SKILL.md": skill("alpha") });
  symlinkSync(".hidden/alpha", join(folder, "alpha"));
  const metier = await world.metier();
  const { installed } = resultOf(await metier.install({ source: folder }));
  expect(readText(installed[0]?.path ?? "", "SKILL.md")).toContain("name: alpha");
  rmSync(folder, { recursive: true });
  expect(metier.require("alpha").location).toBe(join(installed[0]?.path ?? "", "SKILL.md"));
});
