import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { InstallConflict, InstallReview } from "../../../src/install/install-request.ts";
import {
  createInstallWorld,
  DOUBTFUL,
  faultOf,
  readText,
  resultOf,
  STEALING,
  skillFiles,
} from "../../support/installing.ts";
import { verifies } from "../../support/verifies.ts";
import { skill } from "../../support/world.ts";

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
      expect(entry?.installedBy).not.toBe("");
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
      message: expect.stringContaining("cannot be the name"),
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

describe("a name that is taken", () => {
  verifies(
    [190, "case 100"],
    "is a refusal that names the ways out, replaced by force, or renamed",
    async () => {
      const world = createInstallWorld();
      const first = world.repository(skillFiles("", "alpha", "first"), "first");
      const second = world.repository(skillFiles("", "alpha", "second"), "second");
      const metier = await world.metier();
      resultOf(await metier.install({ source: first.url }));
      const refused = resultOf(await metier.install({ source: second.url, yes: true }));
      expect(refused.installed).toEqual([]);
      expect(refused.skipped).toMatchObject([
        {
          code: "install.conflict",
          reason: expect.stringContaining(first.url),
          hint: expect.stringContaining("--force"),
        },
      ]);
      resultOf(await metier.install({ source: second.url, name: "alpha-two" }));
      expect(metier.names()).toEqual(expect.arrayContaining(["alpha", "alpha-two"]));
      resultOf(await metier.install({ source: second.url, force: true }));
      expect(world.lock().skills.find(({ alias }) => alias === undefined)).toMatchObject({
        source: second.url,
      });
      // Another source's skill is no earlier version of this one.
      expect(world.lock().skills.find(({ alias }) => alias === undefined)?.previous).toBeUndefined();
    },
  );

  verifies(190, "is asked about where someone can answer: rename, replace or skip", async () => {
    const world = createInstallWorld();
    const first = world.repository(skillFiles("", "alpha", "first"), "first");
    const second = world.repository(skillFiles("", "alpha", "second"), "second");
    const metier = await world.metier();
    resultOf(await metier.install({ source: first.url }));
    const asked: InstallConflict[] = [];
    const answering = async (answer: "skip" | "replace" | { rename: string }) =>
      resultOf(
        await metier.install(
          { source: second.url },
          {
            async conflict(about) {
              asked.push(about);
              return answer;
            },
          },
        ),
      );
    expect((await answering("skip")).skipped).toMatchObject([{ code: "skipped" }]);
    expect((await answering({ rename: "../x" })).skipped).toMatchObject([{ code: "install.conflict" }]);
    expect((await answering({ rename: "alpha" })).skipped).toMatchObject([{ code: "install.conflict" }]);
    expect((await answering({ rename: "other" })).installed).toMatchObject([{ name: "other" }]);
    expect((await answering("replace")).installed).toMatchObject([{ name: "alpha" }]);
    expect(asked[0]).toMatchObject({
      called: "alpha",
      isSameSource: false,
      installed: { source: first.url },
    });
  });

  verifies("case 105", "by the same content of the same source is no work at all", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    const before = readText(world.places.lockFile);
    const { installed, skipped, findings } = resultOf(await metier.install({ source: repository.url }));
    expect([installed, findings]).toEqual([[], []]);
    expect(skipped).toMatchObject([{ name: "alpha", code: "same" }]);
    expect(readText(world.places.lockFile)).toBe(before);
  });

  test("by a newer version of the same skill is for `update`, or for force, which can be rolled back", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha", "one"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url }));
    const [before] = world.lock().skills;
    repository.commit(skillFiles("", "alpha", "two"));
    const refused = resultOf(await metier.install({ source: repository.url }));
    expect(refused.skipped).toMatchObject([{ hint: expect.stringContaining("metier update alpha") }]);
    resultOf(await metier.install({ source: repository.url, force: true }));
    const [after] = world.lock().skills;
    expect(after?.previous).toMatchObject({ digest: before?.digest, resolved: before?.resolved });
    expect(after?.installedAt).toBe(before?.installedAt);
  });

  test("by the same content is put right when the store was damaged", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    const [skillHere] = resultOf(await metier.install({ source: repository.url })).installed;
    writeFileSync(join(skillHere?.path ?? "", "SKILL.md"), "damaged");
    const { installed } = resultOf(await metier.install({ source: repository.url }));
    expect(installed).toMatchObject([{ name: "alpha" }]);
    expect(readText(skillHere?.path ?? "", "SKILL.md")).toContain("name: alpha");
  });
});

describe("the scan", () => {
  const evil = { ...skillFiles("", "evil"), "scripts/go.sh": STEALING };

  test("blocks a skill whoever asks and whatever the options", async () => {
    const world = createInstallWorld();
    const repository = world.repository(evil);
    const metier = await world.metier();
    const outcome = await metier.install(
      { source: repository.url, yes: true, force: true },
      { review: async () => true },
    );
    const { installed, skipped, findings } = resultOf(outcome);
    expect(installed).toEqual([]);
    expect(skipped).toMatchObject([{ name: "evil", code: "install.blocked" }]);
    expect(findings).toContainEqual(
      expect.objectContaining({ skill: "evil", severity: "block", path: "scripts/go.sh" }),
    );
    expect([world.stored(), world.quarantined()]).toEqual([[], []]);
  });

  test("wants someone to look at what is doubtful, which `yes` says was done", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...skillFiles("", "doubtful"), "scripts/go.sh": DOUBTFUL });
    const metier = await world.metier();
    const unasked = resultOf(await metier.install({ source: repository.url }));
    expect(unasked.skipped).toMatchObject([
      { code: "install.unreviewed", hint: expect.stringContaining("--yes") },
    ]);
    const declined = resultOf(
      await metier.install({ source: repository.url }, { review: async () => false }),
    );
    expect(declined.skipped).toMatchObject([{ code: "install.declined" }]);
    expect(world.stored()).toEqual([]);
    expect(resultOf(await metier.install({ source: repository.url, yes: true })).installed).toHaveLength(1);
    expect(metier.require("doubtful").trust.level).toBe("untrusted");
  });

  test("and everything else is shown before anyone is asked", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...skillFiles("", "doubtful"), "scripts/go.sh": DOUBTFUL });
    const metier = await world.metier();
    const told: InstallReview[] = [];
    await metier.install(
      { source: repository.url, onReview: (review) => told.push(review) },
      {
        async review(review) {
          expect(told).toEqual([review]);
          return false;
        },
      },
    );
    expect(told[0]?.skills).toMatchObject([
      { called: "doubtful", files: 2, scripts: [{ language: "shell", paths: ["scripts/go.sh"] }] },
    ]);
    expect(told[0]?.skills[0]?.findings.length).toBeGreaterThan(0);
  });
});

describe("a local folder", () => {
  verifies([192, "case 106"], "is copied, so that later changes to it change nothing", async () => {
    const world = createInstallWorld();
    world.write({ "project/mine/alpha/SKILL.md": skill("alpha", "", "before") });
    const metier = await world.metier();
    resultOf(await metier.install({ source: "./mine/alpha" }));
    world.write({ "project/mine/alpha/SKILL.md": skill("alpha", "", "after") });
    expect(readText(metier.require("alpha").directory, "SKILL.md")).toContain("before");
    expect(world.lock().skills).toMatchObject([
      { kind: "folder", resolved: join(world.project, "mine/alpha") },
    ]);
  });

  verifies([192, "case 106"], "is used in place with `link`, and only the link is recorded", async () => {
    const world = createInstallWorld();
    world.write({ "project/mine/alpha/SKILL.md": skill("alpha") });
    const metier = await world.metier();
    const { installed } = resultOf(await metier.install({ source: "./mine", link: true }));
    expect(installed).toMatchObject([{ name: "alpha", path: join(world.project, "mine/alpha") }]);
    expect(world.lock().skills).toMatchObject([
      { linked: true, resolved: join(world.project, "mine/alpha") },
    ]);
    expect(world.stored()).toEqual([]);
    expect(metier.require("alpha").directory).toBe(join(world.project, "mine/alpha"));
    const repository = world.repository(skillFiles("", "beta"));
    expect(faultOf(await metier.install({ source: repository.url, link: true })).code).toBe("install.usage");
  });

  verifies(
    "case 106",
    "that is missing, or no folder, is said so; two of one last name do not collide",
    async () => {
      const world = createInstallWorld();
      world.write({
        "project/one/skills/alpha/SKILL.md": skill("alpha"),
        "project/two/skills/beta/SKILL.md": skill("beta"),
        "project/file.txt": "x",
      });
      const metier = await world.metier();
      expect(faultOf(await metier.install({ source: "./none" })).code).toBe("source.not_found");
      expect(faultOf(await metier.install({ source: "./file.txt" })).code).toBe("source.invalid");
      for (const source of ["./one/skills", "./two/../two/skills/"])
        resultOf(await metier.install({ source }));
      expect(metier.list({ scope: "installed" }).map(({ name }) => name)).toEqual(["alpha", "beta"]);
    },
  );

  test("inside the project can be linked by the project, one outside of it cannot", async () => {
    const world = createInstallWorld();
    world.write({ "project/mine/alpha/SKILL.md": skill("alpha"), "elsewhere/beta/SKILL.md": skill("beta") });
    const metier = await world.metier();
    resultOf(await metier.install({ source: "./mine/alpha", link: true, project: true }));
    expect(world.lock("project").skills).toMatchObject([{ linked: true, resolved: "mine/alpha" }]);
    const { skipped } = resultOf(await metier.install({ source: "../elsewhere", link: true, project: true }));
    expect(skipped).toMatchObject([{ code: "install.usage", hint: expect.stringContaining("--project") }]);
  });
});

describe("for a project", () => {
  test("the project's lock records it and the store holds it", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, project: true }));
    expect(world.lock("project").skills).toMatchObject([{ name: "alpha" }]);
    expect(world.lock().skills).toEqual([]);
    expect(world.stored()).toHaveLength(1);
    expect(metier.require("alpha")).toMatchObject({ scope: "installed", trust: { level: "untrusted" } });
  });

  test("a copy in `.metier/skills` is the installed skill, with no more trust than it", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    const { installed } = resultOf(
      await metier.install({ source: repository.url, project: true, copy: true }),
    );
    const folder = join(world.project, ".metier/skills/alpha");
    expect(installed).toMatchObject([{ path: folder }]);
    expect(readText(folder, "SKILL.md")).toContain("name: alpha");
    const found = metier.catalog.all.filter(({ name }) => name === "alpha");
    expect(found).toMatchObject([{ scope: "installed", trust: { level: "untrusted" } }]);
    expect(faultOf(await metier.install({ source: repository.url, copy: true })).code).toBe("install.usage");
  });

  test("a folder that someone else made there is not overwritten, unless by force", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    world.write({ "project/.metier/skills/alpha/SKILL.md": skill("alpha", "", "my own work") });
    const metier = await world.metier();
    const request = { source: repository.url, project: true, copy: true };
    expect(resultOf(await metier.install(request)).skipped).toMatchObject([{ code: "install.conflict" }]);
    expect(readText(world.project, ".metier/skills/alpha/SKILL.md")).toContain("my own work");
    resultOf(await metier.install({ ...request, force: true }));
    expect(readText(world.project, ".metier/skills/alpha/SKILL.md")).not.toContain("my own work");
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
