import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
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

  test("is never put through a link that points outside the project, by force or not", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    const request = { source: repository.url, project: true, copy: true, force: true };
    resultOf(await metier.install(request));
    const victim = join(world.root, "victim");
    mkdirSync(victim);
    rmSync(join(world.project, ".metier"), { recursive: true });
    symlinkSync(victim, join(world.project, ".metier"));
    for (const force of [false, true]) {
      const restored = resultOf(await metier.install({ project: true, force }));
      expect(restored.skipped).toMatchObject([{ name: "alpha", code: "install.differs" }]);
      expect(restored.skipped[0]?.reason).toContain("points outside the project");
    }
    expect((await metier.verify()).ok).toBe(false);
    rmSync(join(world.project, "metier.lock"));
    expect(resultOf(await metier.install(request)).skipped).toMatchObject([{ code: "install.conflict" }]);
    expect(readdirSync(victim)).toEqual([]);
  });

  test("a linked folder that is itself a link out of the project is not used, restored or verified", async () => {
    const world = createInstallWorld();
    world.write({ "project/mine/SKILL.md": skill("alpha"), "elsewhere/SKILL.md": skill("alpha") });
    const metier = await world.metier();
    resultOf(await metier.install({ source: "./mine", link: true, project: true }));
    rmSync(join(world.project, "mine"), { recursive: true });
    symlinkSync(join(world.root, "elsewhere"), join(world.project, "mine"));
    expect(resultOf(await metier.install({})).skipped).toMatchObject([{ code: "install.differs" }]);
    expect(await metier.verify()).toMatchObject({ ok: false, skills: [{ ok: false }] });
    await metier.reload();
    expect(metier.get("installed:alpha")).toBeUndefined();
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
