import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRepository } from "../../../../test/support/git-repository.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import { SkillInstaller } from "../../src/facades/skill-installer.ts";

describe("`SkillInstaller`", () => {
  verifies([186, 188], "installs from an address, by reference and under another name", async () => {
    const { installer } = await open();
    const repository = createRepository({ "SKILL.md": skill("pdf", "", "First.") });
    repository.git("tag", "v1");
    repository.commit({ "SKILL.md": skill("pdf", "", "Second.") });
    const result = await installer.install({ url: repository.url, ref: "v1", name: "mine" });
    expect(result).toEqual({ success: true, skillName: "mine", path: expect.stringContaining("pdf@") });
    expect(readFileSync(join(result.path, "SKILL.md"), "utf8")).toContain("First.");
    expect(installer.metier.get("mine")?.status).toBe("enabled");
    expect(await installer.install({ url: repository.url, ref: "v1", name: "mine" })).toEqual(result);
  });

  verifies([188, 189], "answers with an error for what cannot be installed, and leaves nothing", async () => {
    const { installer, world } = await open();
    const empty = createRepository({ "README.md": "no skill" });
    const broken = createRepository({ "SKILL.md": "---\nname: [\n---\n" });
    for (const url of [empty.url, broken.url, `${empty.url}-gone`, "not an address", "--upload-pack=x"]) {
      const result = await installer.install({ url });
      expect(result).toMatchObject({ success: false, path: "", error: expect.stringMatching(/\w/) });
    }
    expect(existsSync(join(world.home, ".metier/metier.lock"))).toBe(false);
    expect(await installer.list()).toEqual([]);
  });

  verifies([190], "asks whoever is given about a name that is taken", async () => {
    const first = createRepository({ "SKILL.md": skill("pdf") });
    const second = createRepository({ "SKILL.md": skill("pdf", "", "Another.") });
    const { installer, world } = await open();
    await installer.install({ url: first.url });
    const refused = await installer.install({ url: second.url });
    expect(refused).toMatchObject({
      success: false,
      skillName: "pdf",
      error: expect.stringContaining("--name"),
    });
    const asking = await SkillInstaller.create({
      cwd: world.project,
      home: world.home,
      decisions: { conflict: async () => ({ rename: "pdf-two" }) },
    });
    expect(await asking.install({ url: second.url })).toMatchObject({ success: true, skillName: "pdf-two" });
  });

  verifies([191, "case 103"], "updates, lists by name and removes", async () => {
    const { installer } = await open();
    const repository = createRepository({ "SKILL.md": skill("zip") });
    const other = createRepository({ "SKILL.md": skill("csv") });
    await installer.install({ url: repository.url });
    await installer.install({ url: other.url, ref: "main" });
    repository.commit({ "SKILL.md": skill("zip", "", "Newer.") });
    const updated = await installer.update("zip");
    expect(readFileSync(join(updated.path, "SKILL.md"), "utf8")).toContain("Newer.");
    expect(await installer.update("zip")).toEqual(updated);
    expect(await installer.list()).toEqual([
      { url: other.url, ref: "main", name: "csv", enabled: true, installedAt: expect.any(String) },
      { url: repository.url, name: "zip", enabled: true, installedAt: expect.any(String) },
    ]);
    expect(await installer.remove("zip")).toEqual({ success: true, skillName: "zip", path: "" });
    expect(await installer.remove("zip")).toMatchObject({
      success: false,
      error: expect.stringContaining("zip"),
    });
    expect(await installer.update("../zip")).toMatchObject({ success: false });
    expect((await installer.list()).map(({ name }) => name)).toEqual(["csv"]);
  });

  test("lists no skill of a local folder", async () => {
    const { installer, world } = await open();
    world.write({ "source/local/SKILL.md": skill("local") });
    expect(await installer.install({ url: join(world.root, "source") })).toMatchObject({ success: true });
    expect(await installer.list()).toEqual([]);
  });
});

async function open(): Promise<{ readonly installer: SkillInstaller; readonly world: World }> {
  const world = createWorld();
  const installer = await SkillInstaller.create({ cwd: world.project, home: world.home });
  return { installer, world };
}
