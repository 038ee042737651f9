import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeLock } from "@metier/skills/formats";
import {
  findEntry,
  grantSkill,
  identifyContent,
  readGrants,
  userLockFile,
  withEntry,
} from "@metier/skills/trust";
import { expect, test } from "vitest";
import {
  createInstallWorld,
  type InstallWorld,
  readText,
  resultOf,
  skillFiles,
} from "../../../../test/support/installing.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { skill } from "../../../../test/support/world.ts";
import type { RemoveOutcome } from "../../src/install/remove.ts";

async function installed(...names: readonly string[]) {
  const world = createInstallWorld();
  const files = Object.assign({}, ...names.map((name) => skillFiles(`skills/${name}`, name)));
  const repository = world.repository(files);
  const metier = await world.metier();
  resultOf(await metier.install({ source: repository.url, skills: ["*"] }));
  return { world, repository, metier };
}

function faultOf(outcome: RemoveOutcome) {
  if (outcome.ok) throw new Error("It was removed.");
  return outcome.fault;
}

verifies([191, "case 102"], "a removed skill is gone from the lock, the catalog and the grants", async () => {
  const { world, metier } = await installed("alpha", "beta");
  const alpha = metier.require("alpha");
  const identity = identifyContent(alpha);
  if (!identity.ok) throw new Error(identity.refusal.message);
  grantSkill(world.places, { name: "alpha", location: alpha.location, identity: identity.value });
  await metier.reload();
  expect(metier.require("alpha").trust.level).toBe("trusted");
  const outcome = await metier.remove("alpha");
  expect(outcome).toMatchObject({ ok: true, removed: [{ name: "alpha" }], diagnostics: [] });
  expect(world.lock().skills.map(({ name }) => name)).toEqual(["beta"]);
  expect(metier.names()).toEqual(["beta"]);
  expect(readGrants(world.places).skills).toEqual([]);
});

verifies([191, "case 102"], "what is not installed is a fault, and then nothing is removed", async () => {
  const { world, metier } = await installed("alpha");
  expect(faultOf(await metier.remove(["alpha", "alpah"]))).toMatchObject({
    code: "install.not_installed",
    hint: expect.stringContaining("`alpha`"),
  });
  expect(faultOf(await metier.remove("../../etc")).code).toBe("install.not_installed");
  expect(world.lock().skills).toHaveLength(1);
  world.write({ "home/.metier/skills/own/SKILL.md": skill("own") });
  await metier.reload();
  const { message } = faultOf(await metier.remove("own"));
  expect(message).toContain(join(world.home, ".metier/skills/own/SKILL.md"));
  expect(message).toContain("did not install");
});

test("a skill of the project's lock is removed from there, and the fault says so", async () => {
  const world = createInstallWorld();
  const repository = world.repository(skillFiles("", "alpha"));
  const metier = await world.metier();
  resultOf(await metier.install({ source: repository.url, project: true, copy: true }));
  expect(faultOf(await metier.remove("alpha")).hint).toContain("--project");
  expect(await metier.remove("alpha", { project: true })).toMatchObject({ ok: true, diagnostics: [] });
  expect(existsSync(join(world.project, ".metier/skills/alpha"))).toBe(false);
  expect(world.lock("project").skills).toEqual([]);
});

test("an alias is removed by what it is called, or by its own name where only one has it", async () => {
  const world = createInstallWorld();
  const repository = world.repository(skillFiles("", "alpha"));
  const metier = await world.metier();
  for (const name of ["one", "two"]) resultOf(await metier.install({ source: repository.url, name }));
  expect(faultOf(await metier.remove("alpha")).code).toBe("install.not_installed");
  expect(await metier.remove("one")).toMatchObject({ ok: true, removed: [{ name: "one" }] });
  expect(await metier.remove("alpha")).toMatchObject({ ok: true, removed: [{ name: "two" }] });
});

test("trust stays as long as another entry has the same content", async () => {
  const world = createInstallWorld();
  const repository = world.repository(skillFiles("", "alpha"));
  const metier = await world.metier();
  for (const name of ["one", "two"]) resultOf(await metier.install({ source: repository.url, name }));
  const two = metier.require("two");
  const identity = identifyContent(two);
  if (!identity.ok) throw new Error(identity.refusal.message);
  grantSkill(world.places, { name: "two", location: two.location, identity: identity.value });
  await metier.remove("one");
  expect(readGrants(world.places).skills).toHaveLength(1);
});

test("a copy that someone changed stays and is named, unless force is used", async () => {
  const world = createInstallWorld();
  const repository = world.repository(skillFiles("", "alpha"));
  const metier = await world.metier();
  const request = { source: repository.url, project: true, copy: true };
  const file = join(world.project, ".metier/skills/alpha/SKILL.md");
  resultOf(await metier.install(request));
  writeFileSync(file, skill("alpha", "", "mine"));
  expect(await metier.remove("alpha", { project: true })).toMatchObject({
    ok: true,
    diagnostics: [{ code: "install.kept" }],
  });
  expect(readText(file)).toContain("mine");
  rmSync(join(world.project, ".metier"), { recursive: true });
  resultOf(await metier.install(request));
  writeFileSync(file, skill("alpha", "", "mine"));
  await metier.remove("alpha", { project: true, force: true });
  expect(existsSync(file)).toBe(false);
});

function place(world: InstallWorld, ...paths: readonly string[]): void {
  changeLock(userLockFile(world.places), (lock) => {
    const entry = findEntry(lock, "alpha");
    if (entry === undefined) throw new Error("It is not installed.");
    const placed = paths.map((path) => ({ client: "claude-code", path, how: "link" as const }));
    return withEntry(lock, { ...entry, placed });
  });
}

test("links for other clients go, and links that lead elsewhere stay", async () => {
  const { world, metier } = await installed("alpha");
  const folder = join(world.home, ".claude/skills");
  mkdirSync(folder, { recursive: true });
  const [ours, foreign] = [join(folder, "alpha"), join(folder, "other")];
  symlinkSync(metier.require("alpha").directory, ours);
  symlinkSync(world.project, foreign);
  place(world, ours, foreign);
  expect(await metier.remove("alpha")).toMatchObject({
    diagnostics: [{ code: "install.kept", path: foreign }],
  });
  expect([existsSync(ours), existsSync(foreign)]).toEqual([false, true]);
});

test("data survives a removal, and goes when it is asked for", async () => {
  const { world, repository, metier } = await installed("alpha");
  const store = metier.store("alpha");
  await store.set("key", "value");
  await metier.remove("alpha");
  resultOf(await metier.install({ source: repository.url }));
  expect(await metier.store("alpha").get("key")).toBe("value");
  await metier.remove("alpha", { data: true });
  resultOf(await metier.install({ source: repository.url }));
  expect(await metier.store("alpha").get("key")).toBeUndefined();
  expect(world.lock().skills).toHaveLength(1);
});

test("data of another skill of the same name stays", async () => {
  const { world, repository, metier } = await installed("alpha");
  expect((await world.cli("trust", "alpha")).code).toBe(0);
  await metier.reload();
  await metier.store("alpha").set("key", "value");
  resultOf(await metier.install({ source: repository.url, project: true }));
  await metier.remove("alpha", { project: true, data: true });
  expect(await metier.store("alpha").get("key")).toBe("value");
});

test("a broken lock of another project is no more than a remark", async () => {
  const { world, metier, repository } = await installed("alpha");
  const other = join(world.root, "other-project");
  world.write({ "other-project/.git/HEAD": "ref: refs/heads/main\n" });
  resultOf(await (await world.metier({ cwd: other })).install({ source: repository.url, project: true }));
  world.write({ "other-project/metier.lock": "<<<<<<< HEAD\n" });
  expect(await metier.remove("alpha")).toMatchObject({
    ok: true,
    diagnostics: [{ code: "lock.unusable", severity: "info", path: join(other, "metier.lock") }],
  });
});
