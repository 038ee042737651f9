/** Copies and links of installed skills in the folders of other clients: the same skill, until someone changes them. */
import { appendFileSync, cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Metier } from "@metier/runtime";
import { describe, expect, test } from "vitest";
import { codesOf, createInstalledWorld } from "../support/installed-world.ts";
import { digestOf, lockEntry, record } from "../support/locks.ts";
import { skill } from "../support/world.ts";

describe("copies for other clients", () => {
  const placed = (path: string, how: "link" | "copy") => [{ client: "claude-code", path, how }];

  test.each(["link", "copy"] as const)(
    "as a %s are the installed skill: listed once, and not trusted for where they stand",
    async (how) => {
      const world = createInstalledWorld();
      const path = join(world.home, ".claude/skills/pdf");
      const folder = world.install(world.userLock, "pdf", undefined, { placed: placed(path, how) });
      mkdirSync(join(path, ".."), { recursive: true });
      if (how === "link") symlinkSync(folder, path);
      else cpSync(folder, path, { recursive: true });
      for (const _again of [1, 2]) {
        const metier = await world.metier();
        expect(metier.catalog.all).toHaveLength(1);
        expect(metier.require("pdf")).toMatchObject({
          scope: "installed",
          location: join(folder, "SKILL.md"),
          trust: { level: "untrusted" },
        });
        expect(codesOf(metier)).toEqual([]);
      }
      expect((await world.cli("trust", "pdf")).code).toBe(0);
      expect((await world.metier()).require("pdf")).toMatchObject({ trust: { level: "trusted" } });
    },
  );

  test("are mentioned only if no lock records them there", async () => {
    const world = createInstalledWorld();
    const path = join(world.home, ".claude/skills/pdf");
    const folder = world.install(world.userLock, "pdf", undefined, { placed: placed(path, "link") });
    world.install(world.userLock, "docx");
    const docx = (await world.metier()).require("docx").directory;
    mkdirSync(join(path, ".."), { recursive: true });
    symlinkSync(folder, path);
    symlinkSync(folder, join(path, "../mine"));
    const metier = await world.metier();
    expect(metier.catalog.all).toHaveLength(2);
    const twice = (all: Metier): readonly string[] =>
      all
        .diagnostics()
        .filter(({ code }) => code === "catalog.same-skill-twice")
        .map(({ path: file }) => file);
    expect(twice(metier)).toEqual([join(path, "../mine/SKILL.md")]);
    rmSync(path);
    symlinkSync(docx, path); // No longer what the lock records here.
    expect(twice(await world.metier())).toEqual([join(path, "../mine/SKILL.md"), join(path, "SKILL.md")]);
  });

  test("in `.metier/skills` of the project are the installed skill itself, and nothing is said of them", async () => {
    const world = createInstalledWorld();
    world.write({ "project/.metier/skills/pdf/SKILL.md": skill("pdf") });
    const folder = join(world.project, ".metier/skills/pdf");
    record(world.projectLock, lockEntry("pdf", { digest: digestOf(folder), copied: true }));
    symlinkSync("pdf", join(folder, "../again"));
    const metier = await world.metier();
    expect(metier.catalog.all.map(({ location }) => location)).toEqual([join(folder, "SKILL.md")]);
    const twice = metier.diagnostics().filter(({ code }) => code === "catalog.same-skill-twice");
    expect(twice.map(({ path }) => path)).toEqual([join(folder, "../again/SKILL.md")]);
  });

  test("that hold the version before the last update are still the installed skill", async () => {
    const world = createInstalledWorld();
    const old = world.install(world.projectLock, "pdf", "Old.");
    cpSync(old, join(world.project, ".agents/skills/pdf"), { recursive: true });
    world.install(world.projectLock, "pdf", "New.", {
      placed: placed(".agents/skills/pdf", "copy"),
      previous: { digest: digestOf(old), resolved: "x" },
    });
    const metier = await world.metier();
    expect(metier.catalog.all.map(({ scope }) => scope)).toEqual(["installed"]);
  });

  test("are not trusted for where they stand either when the store has lost what they are copies of", async () => {
    const world = createInstalledWorld();
    const old = world.install(world.projectLock, "pdf", "Old.");
    cpSync(old, join(world.project, ".agents/skills/pdf"), { recursive: true });
    const lost = world.install(world.projectLock, "pdf", "New.", {
      placed: placed(".agents/skills/pdf", "copy"),
      previous: { digest: digestOf(old), resolved: "x" },
    });
    rmSync(lost, { recursive: true });
    const metier = await world.metier();
    expect(metier.catalog.all).toEqual([]);
    expect(codesOf(metier)).toEqual(["catalog.same-skill-twice", "lock.missing-folder"]);
  });

  test("that were changed are skills of their own, with the trust of their place, and it is said", async () => {
    const world = createInstalledWorld();
    const folder = world.install(world.projectLock, "pdf", undefined, {
      placed: placed(".claude/skills/pdf", "copy"),
    });
    const copy = join(world.project, ".claude/skills/pdf");
    cpSync(folder, copy, { recursive: true });
    expect((await world.metier()).require("pdf").scope).toBe("installed");
    appendFileSync(join(copy, "SKILL.md"), "Mine.\n");
    const metier = await world.metier();
    expect(metier.require("pdf")).toMatchObject({ scope: "project", trust: { level: "trusted" } });
    expect(metier.get("installed:pdf")).toMatchObject({ status: "shadowed", trust: { level: "untrusted" } });
    expect(metier.diagnostics()).toEqual([
      expect.objectContaining({ code: "lock.changed-copy", severity: "warning", path: copy }),
    ]);
    expect((await world.metier({ trust: "grants" })).require("project:pdf").trust.level).toBe("untrusted");
  });

  test("that a project's lock claims outside of the project stay what they are", async () => {
    const world = createInstalledWorld();
    world.write({ "home/.metier/skills/mine/SKILL.md": skill("mine"), "project/tools/keep": "" });
    const mine = join(world.home, ".metier/skills/mine");
    symlinkSync(mine, join(world.project, "tools/mine"));
    world.install(world.projectLock, "mine", "Another.", {
      previous: { digest: digestOf(mine), resolved: "x" },
      placed: placed("tools/mine", "copy"),
    });
    const metier = await world.metier();
    expect(metier.require("mine")).toMatchObject({ scope: "user", trust: { level: "trusted" } });
  });

  test("in `.metier/skills` that an update left as they were are not used, nor trusted as the project's", async () => {
    const world = createInstalledWorld();
    world.write({ "project/.metier/skills/pdf/SKILL.md": skill("pdf") });
    const previous = { digest: digestOf(join(world.project, ".metier/skills/pdf")), resolved: "x" };
    record(world.projectLock, lockEntry("pdf", { copied: true, previous }));
    const metier = await world.metier();
    expect(metier.require("pdf")).toMatchObject({ scope: "installed", trust: { level: "untrusted" } });
    const refused = await metier.prepare({ skill: "pdf", message: "x", source: "user" });
    expect(refused).toMatchObject({ ok: false, refusal: { reason: "unreadable" } });
  });

  test("stand in for a folder that is missing from the store, as in a fresh checkout", async () => {
    const world = createInstalledWorld();
    const folder = world.install(world.projectLock, "pdf", undefined, {
      placed: placed(".claude/skills/pdf", "copy"),
    });
    const copy = join(world.project, ".claude/skills/pdf");
    cpSync(folder, copy, { recursive: true });
    rmSync(folder, { recursive: true });
    const metier = await world.metier();
    expect(metier.catalog.all).toHaveLength(1);
    expect(metier.require("pdf")).toMatchObject({
      scope: "installed",
      location: join(copy, "SKILL.md"),
      trust: { level: "untrusted" },
    });
  });

  test("in `.metier/skills` of the project that were changed are the project's own", async () => {
    const world = createInstalledWorld();
    world.write({ "project/.metier/skills/pdf/SKILL.md": skill("pdf") });
    const folder = join(world.project, ".metier/skills/pdf");
    record(world.projectLock, lockEntry("pdf", { digest: digestOf(folder), copied: true }));
    const metier = await world.metier();
    expect(metier.require("pdf")).toMatchObject({ scope: "installed", trust: { level: "untrusted" } });
    appendFileSync(join(folder, "SKILL.md"), "Mine.\n");
    // Also by whoever holds an older catalog: the change is seen when the skill is used.
    const prepared = await metier.prepare({ skill: "pdf", message: "x", source: "user" });
    expect(prepared).toMatchObject({ ok: true, prepared: { skill: { scope: "project" } } });
    const changed = await world.metier();
    expect(changed.require("pdf")).toMatchObject({ scope: "project", trust: { level: "trusted" } });
    expect(codesOf(changed)).toEqual(["lock.changed-copy"]);
  });
});
