import { once } from "node:events";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { renderLock } from "@metier/skills/formats";
import { describe, expect, test } from "vitest";
import {
  createInstallWorld,
  readText,
  resultOf,
  STEALING,
  skillFiles,
} from "../../../../test/support/installing.ts";
import { digestOf, lockEntry } from "../../../../test/support/locks.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { skill } from "../../../../test/support/world.ts";

describe("without a source, the locks are restored", () => {
  verifies(
    ["case 105", "case 107"],
    "exactly: what is missing is fetched at the recorded commit",
    async () => {
      const world = createInstallWorld();
      const repository = world.repository({
        ...skillFiles("skills/alpha", "alpha", "one"),
        ...skillFiles("skills/beta", "beta"),
      });
      const other = world.repository(skillFiles("", "gamma"), "other");
      const metier = await world.metier();
      resultOf(await metier.install({ source: repository.url, skills: ["*"] }));
      resultOf(await metier.install({ source: other.url, project: true }));
      const locks = [readText(world.places.lockFile), readText(world.project, "metier.lock")];
      repository.commit(skillFiles("skills/alpha", "alpha", "two"));
      rmSync(world.places.store, { recursive: true });
      const { installed, skipped } = resultOf(await metier.install({}));
      expect(installed.map(({ name }) => name)).toEqual(["alpha", "beta", "gamma"]);
      expect(skipped).toEqual([]);
      expect(readText(metier.require("alpha").directory, "SKILL.md")).toContain("one");
      expect([readText(world.places.lockFile), readText(world.project, "metier.lock")]).toEqual(locks);
      const again = resultOf(await metier.install({ frozen: true }));
      expect(again.installed).toEqual([]);
      expect(again.skipped.map(({ code }) => code)).toEqual(["same", "same", "same"]);
      expect(world.quarantined()).toEqual([]);
    },
  );

  test("also on another machine, from the project's lock alone", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    resultOf(await (await world.metier()).install({ source: repository.url, project: true }));
    rmSync(world.places.base, { recursive: true });
    const metier = await world.metier();
    expect(metier.get("alpha")).toBeUndefined();
    expect(resultOf(await metier.install({ frozen: true })).installed).toMatchObject([{ name: "alpha" }]);
    expect(metier.require("alpha").trust.level).toBe("untrusted");
  });

  test("also what lies in the project itself, in another checkout", async () => {
    const maker = createInstallWorld();
    maker.write({ "project/own/alpha/SKILL.md": skill("alpha") });
    const made = await maker.metier();
    resultOf(await made.install({ source: "./own/alpha", project: true }));
    expect(maker.lock("project").skills).toMatchObject([{ source: "./own/alpha", resolved: "./own/alpha" }]);
    const same = resultOf(await made.install({ source: "./own", project: true }));
    expect(same.skipped).toMatchObject([{ name: "alpha", code: "same" }]);
    const world = createInstallWorld();
    world.write({
      "project/own/alpha/SKILL.md": skill("alpha"),
      "project/metier.lock": readText(maker.project, "metier.lock"),
    });
    const metier = await world.metier();
    expect(resultOf(await metier.install({})).installed).toMatchObject([{ name: "alpha" }]);
    expect(await metier.outdated()).toMatchObject({ skills: [{ status: "current" }] });
    world.write({ "project/own/alpha/SKILL.md": skill("alpha", "", "More.") });
    expect(await metier.update()).toMatchObject({ updated: [{ name: "alpha" }] });
    expect(world.lock("project").skills).toMatchObject([{ source: "./own/alpha", resolved: "./own/alpha" }]);
  });

  test("and what was changed in the store is put right, unless it is frozen", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    const [installed] = resultOf(await metier.install({ source: repository.url })).installed;
    const file = join(installed?.path ?? "", "SKILL.md");
    writeFileSync(file, skill("alpha", "", "tampered"));
    const frozen = resultOf(await metier.install({ frozen: true }));
    expect(frozen.skipped).toMatchObject([{ name: "alpha", code: "install.differs" }]);
    expect(readText(file)).toContain("tampered");
    expect(resultOf(await metier.install({})).installed).toMatchObject([{ name: "alpha" }]);
    expect(readText(file)).not.toContain("tampered");
  });

  test("and until then nothing of it is given to anyone", async () => {
    const world = createInstallWorld();
    const repository = world.repository({ ...skillFiles("", "alpha"), "notes.md": "Notes.\n" });
    const metier = await world.metier();
    const [installed] = resultOf(await metier.install({ source: repository.url })).installed;
    expect(metier.readResource("alpha", "notes.md").text).toBe("Notes.\n");
    writeFileSync(join(installed?.path ?? "", "notes.md"), "Tampered.\n");
    await expect(metier.getInstructions("alpha")).rejects.toThrow(/records `sha256:/);
    expect(() => metier.readResource("alpha", "notes.md")).toThrow(/records `sha256:/);
    expect((await world.cli("read", "alpha")).code).not.toBe(0);
    resultOf(await metier.install({}));
    expect(metier.readResource("alpha", "notes.md").text).toBe("Notes.\n");
  });

  test("an upstream that no longer provides that content is said to, and nothing is put in its place", async () => {
    const world = createInstallWorld();
    world.write({ "source/alpha/SKILL.md": skill("alpha", "", "one") });
    const gone = world.repository(skillFiles("", "beta"), "gone");
    const metier = await world.metier();
    resultOf(await metier.install({ source: join(world.root, "source") }));
    resultOf(await metier.install({ source: gone.url }));
    rmSync(world.places.store, { recursive: true });
    rmSync(gone.folder, { recursive: true });
    world.write({ "source/alpha/SKILL.md": skill("alpha", "", "two") });
    const before = readText(world.places.lockFile);
    const { installed, skipped } = resultOf(await metier.install({}));
    expect(installed).toEqual([]);
    expect(skipped).toMatchObject([
      { name: "alpha", code: "install.differs", reason: expect.stringContaining("no longer provides") },
      { name: "beta", code: expect.stringMatching(/^source\./) },
    ]);
    expect(world.stored()).toEqual([]);
    expect(readText(world.places.lockFile)).toBe(before);
  });

  test("a project cannot bring in what the scan blocks by listing it in its lock", async () => {
    const maker = createInstallWorld();
    const repository = maker.repository({ ...skillFiles("", "evil"), "go.sh": "echo\n" });
    resultOf(await (await maker.metier()).install({ source: repository.url, project: true }));
    const world = createInstallWorld();
    const evil = world.repository({ ...skillFiles("", "evil"), "go.sh": STEALING }, "evil");
    world.write({ "copy/SKILL.md": readText(evil.folder, "SKILL.md"), "copy/go.sh": STEALING });
    const digest = digestOf(join(world.root, "copy"));
    const lock = readText(maker.project, "metier.lock")
      .replace(/digest = .*/, `digest = "${digest}"`)
      .replace(/source = .*/, `source = "${evil.url}"`)
      .replace(/resolved = .*/, `resolved = "${evil.git("rev-parse", "HEAD")}"`);
    world.write({ "project/metier.lock": lock });
    const metier = await world.metier();
    const { installed, skipped } = resultOf(await metier.install({ yes: true, force: true }));
    expect(installed).toEqual([]);
    expect(skipped).toMatchObject([{ name: "evil", code: "install.blocked" }]);
    expect(world.stored()).toEqual([]);
  });
});

test("a project's lock asks no server of this machine, neither to restore nor to update", async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const world = createInstallWorld();
  const sources = [`http://127.0.0.1:${port}/x.tar.gz`, `http://localhost:${port}/x.git`];
  const entries = sources.map((source, index) => {
    const kind = index === 0 ? "archive" : "git";
    return lockEntry(`skill-${index}`, { source, kind, path: "" });
  });
  world.write({ "project/metier.lock": renderLock({ skills: entries }) });
  const metier = await world.metier();
  const { skipped } = resultOf(await metier.install({}));
  expect(skipped.map(({ code }) => code)).toEqual(["source.refused", "source.refused"]);
  expect(await metier.update()).toMatchObject({
    skipped: [{ code: "source.refused" }, { code: "source.refused" }],
  });
  expect(await metier.outdated()).toMatchObject({ skills: [{ status: "failed" }, { status: "failed" }] });
  expect(requests).toBe(0);
  server.close();
});

describe("a project's own copy", () => {
  test("is made again where it is missing, and needs no network where it is whole", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, project: true, copy: true }));
    const folder = join(world.project, ".metier/skills/alpha");
    rmSync(folder, { recursive: true });
    expect(resultOf(await metier.install({})).installed).toMatchObject([{ path: folder }]);
    expect(existsSync(join(folder, "SKILL.md"))).toBe(true);
    rmSync(world.places.store, { recursive: true });
    rmSync(repository.folder, { recursive: true });
    expect(resultOf(await metier.install({ frozen: true })).skipped).toMatchObject([{ code: "same" }]);
  });

  test("that someone changed is kept, and overwritten only by force", async () => {
    const world = createInstallWorld();
    const repository = world.repository(skillFiles("", "alpha"));
    const metier = await world.metier();
    resultOf(await metier.install({ source: repository.url, project: true, copy: true }));
    const file = join(world.project, ".metier/skills/alpha/SKILL.md");
    writeFileSync(file, skill("alpha", "", "mine"));
    for (const request of [{}, { frozen: true }]) {
      expect(resultOf(await metier.install(request)).skipped).toMatchObject([{ code: "install.differs" }]);
    }
    expect(readText(file)).toContain("mine");
    resultOf(await metier.install({ force: true }));
    expect(readText(file)).not.toContain("mine");
  });
});

test("a linked folder that is gone is said so", async () => {
  const world = createInstallWorld();
  world.write({ "mine/alpha/SKILL.md": skill("alpha") });
  const metier = await world.metier();
  resultOf(await metier.install({ source: join(world.root, "mine"), link: true }));
  expect(resultOf(await metier.install({})).skipped).toMatchObject([{ code: "same" }]);
  rmSync(join(world.root, "mine"), { recursive: true });
  expect(resultOf(await metier.install({})).skipped).toMatchObject([
    { code: "install.differs", hint: expect.stringContaining("metier remove alpha") },
  ]);
});
