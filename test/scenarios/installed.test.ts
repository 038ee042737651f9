/** The scope `installed`, as the locks record it: what an installation leaves is read, trusted and told apart. */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { WatchOutcome } from "@metier/runtime";
import { projectLockFile } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import { codesOf, createInstalledWorld } from "../support/installed-world.ts";
import { digestOf, fillStore, lockEntry, record } from "../support/locks.ts";
import { until } from "../support/processes.ts";
import { skill } from "../support/world.ts";

describe("what a lock records", () => {
  test("is listed as installed, untrusted, without a word about its folder's name, in any profile", async () => {
    const world = createInstalledWorld();
    const folder = world.install(world.userLock, "pdf");
    for (const profile of ["strict", "standard"] as const) {
      const metier = await world.metier({ profile });
      expect(metier.require("pdf")).toMatchObject({
        scope: "installed",
        status: "enabled",
        location: join(folder, "SKILL.md"),
        trust: { level: "untrusted" },
        locked: { lock: world.places.lockFile, name: "pdf", digest: digestOf(folder) },
      });
      expect(metier.diagnostics()).toEqual([]);
      expect((await metier.getInstructions("pdf")).diagnostics).toEqual([]);
      expect(metier.catalog.places).toContainEqual(
        expect.objectContaining({ scope: "installed", path: world.places.lockFile, skills: 1 }),
      );
    }
    const listed = await world.cli("list", "--json");
    expect(listed.json.skills).toContainEqual(expect.objectContaining({ name: "pdf", scope: "installed" }));
  });

  test("is what counts: a folder of the store that no lock records is no skill", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf");
    fillStore(world.places, "zip", { "SKILL.md": skill("zip") });
    expect((await world.metier()).names()).toEqual(["pdf"]);
  });

  test("for the project comes before what the user has of that name, unless only that is trusted", async () => {
    const world = createInstalledWorld();
    const users = world.install(world.userLock, "pdf", "The user's.");
    const projects = world.install(world.projectLock, "pdf", "The project's.");
    const before = (await world.metier()).require("pdf");
    expect(before.location).toBe(join(projects, "SKILL.md"));
    expect(before.shadows).toEqual([{ scope: "installed", location: join(users, "SKILL.md") }]);

    rmSync(world.projectLock.path);
    expect((await world.cli("trust", "pdf")).code).toBe(0);
    world.install(world.projectLock, "pdf", "The project's.");
    const metier = await world.metier();
    expect(metier.require("pdf")).toMatchObject({
      location: join(users, "SKILL.md"),
      trust: { level: "trusted" },
    });
    expect(codesOf(metier)).toEqual(["catalog.untrusted-shadow"]);
  });

  test("by both locks alike is one skill", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf");
    world.install(world.projectLock, "pdf");
    const metier = await world.metier();
    expect(metier.catalog.all.map(({ name }) => name)).toEqual(["pdf"]);
    expect(metier.diagnostics()).toEqual([]);
  });

  test("under another name is called by that, and keeps its own for display", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf", "Make a document.", { alias: "documents" });
    const metier = await world.metier();
    expect(metier.names()).toEqual(["documents"]);
    expect(metier.require("documents").manifest).toMatchObject({ name: "documents", displayName: "pdf" });
    expect(metier.diagnostics()).toEqual([]);
    expect(await metier.getInstructions("documents")).toMatchObject({
      name: "documents",
      text: "Make a document.",
    });
    const prepared = await metier.prepare({ skill: "documents", message: "x", source: "user" });
    expect(prepared).toMatchObject({ ok: true, prepared: { skill: { name: "documents" } } });
  });

  test("under two names in two locks has both", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf");
    world.install(world.projectLock, "pdf", undefined, { alias: "documents" });
    expect((await world.metier()).names()).toEqual(["documents", "pdf"]);
  });

  test("and is not there is said once, with how to get it", async () => {
    const world = createInstalledWorld();
    record(world.projectLock, ...["a", "b", "c", "d", "e", "f", "g"].map((name) => lockEntry(name)));
    const metier = await world.metier();
    expect(metier.names()).toEqual([]);
    expect(metier.diagnostics()).toEqual([
      expect.objectContaining({
        code: "lock.missing-folder",
        path: world.projectLock.path,
        message: expect.stringContaining("`a`, `b`, `c`, `d`, `e`, 2 more"),
        hint: expect.stringContaining("`install()`"),
      }),
    ]);
  });

  test("and holds no skill is said", async () => {
    const world = createInstalledWorld();
    const digest = fillStore(world.places, "pdf", { "below/x/SKILL.md": skill("x") });
    record(world.userLock, lockEntry("pdf", { digest }));
    const metier = await world.metier();
    expect(metier.names()).toEqual([]);
    expect(codesOf(metier)).toEqual(["scan.no-skill"]);
  });

  test("is not looked for while discovery is off", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf");
    world.write({ "home/.metier/config.toml": "[skills]\nauto-discover = false\n" });
    expect((await world.metier()).names()).toEqual([]);
    const metier = await world.metier({ autoDiscover: false });
    expect((await metier.discover()).map(({ name }) => name)).toEqual(["pdf"]);
  });

  test("stays beside the folders of a preset and of `skills.plugins-dir`", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf");
    world.write({ "home/.agent/plugins/zip/SKILL.md": skill("zip") });
    const metier = await world.metier({ preset: "agent-harness" });
    expect(metier.list({ scope: "installed" }).map(({ name }) => name)).toEqual(["pdf", "zip"]);
  });

  test("is one skill, whatever lies below it", async () => {
    const world = createInstalledWorld();
    const digest = fillStore(world.places, "pdf", {
      "SKILL.md": skill("pdf"),
      "examples/zip/SKILL.md": skill("zip"),
    });
    record(world.userLock, lockEntry("pdf", { digest }));
    const metier = await world.metier({ config: { skills: { nested: true } } });
    expect(metier.names()).toEqual(["pdf"]);
  });

  test("of a linked folder is read where it is, as it is now", async () => {
    const world = createInstalledWorld();
    world.write({ "dev/pdf/SKILL.md": skill("pdf") });
    const folder = join(world.root, "dev/pdf");
    const linked = { kind: "folder", linked: true, resolved: folder, source: folder, path: "" } as const;
    record(world.userLock, lockEntry("pdf", { ...linked, digest: digestOf(folder) }));
    appendFileSync(join(folder, "SKILL.md"), "More.\n");
    const metier = await world.metier();
    expect(metier.require("pdf")).toMatchObject({ scope: "installed", location: join(folder, "SKILL.md") });
    expect(metier.diagnostics()).toEqual([]);
    expect(await metier.prepare({ skill: "pdf", message: "x", source: "user" })).toMatchObject({ ok: true });
  });
});

describe("trust in what is installed", () => {
  test("is given to a content once and holds wherever that content is installed", async () => {
    const world = createInstalledWorld();
    const folder = world.install(world.userLock, "pdf");
    expect((await world.cli("trust", "pdf")).code).toBe(0);
    expect((await world.metier()).require("pdf").trust.level).toBe("trusted");

    rmSync(world.userLock.path);
    const copy = join(world.project, ".metier/skills/pdf");
    mkdirSync(join(copy, ".."), { recursive: true });
    cpSync(folder, copy, { recursive: true });
    rmSync(folder, { recursive: true });
    record(world.projectLock, lockEntry("pdf", { digest: digestOf(copy), copied: true }));
    const metier = await world.metier({ trust: "grants" });
    expect(metier.require("pdf")).toMatchObject({
      scope: "installed",
      location: join(copy, "SKILL.md"),
      trust: { level: "trusted" },
    });
  });

  test("is not raised by a lock that gives a trusted content another name", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf");
    expect((await world.cli("trust", "pdf")).code).toBe(0);
    world.install(world.projectLock, "pdf", undefined, { alias: "deploy" });
    const metier = await world.metier();
    expect(metier.require("pdf").trust.level).toBe("trusted");
    expect(metier.require("deploy").trust.level).toBe("untrusted");
  });

  test("ends with a change in the store: such a skill is not used, and the message says what to do", async () => {
    const world = createInstalledWorld();
    const folder = world.install(world.userLock, "pdf");
    expect((await world.cli("trust", "pdf")).code).toBe(0);
    const metier = await world.metier();
    expect(await metier.prepare({ skill: "pdf", message: "x", source: "user" })).toMatchObject({ ok: true });
    writeFileSync(join(folder, "added.sh"), "echo changed\n");
    expect((await world.metier()).require("pdf").trust.level).toBe("untrusted");
    const refused = await metier.prepare({ skill: "pdf", message: "x", source: "user" });
    expect(refused).toMatchObject({
      ok: false,
      refusal: {
        reason: "unreadable",
        message: expect.stringContaining(world.places.lockFile),
        hint: expect.stringContaining("`install()`"),
      },
    });
  });
});

describe("a hostile project's lock", () => {
  test("cannot make a folder outside of the project an installed skill", async () => {
    const world = createInstalledWorld();
    world.write({ "secret/pdf/SKILL.md": skill("pdf"), "project/tools/keep": "" });
    const outside = join(world.root, "secret/pdf");
    symlinkSync(outside, join(world.project, "tools/pdf"));
    mkdirSync(join(world.project, ".metier/skills"), { recursive: true });
    symlinkSync(outside, join(world.project, ".metier/skills/zip"));
    symlinkSync(outside, join(world.project, "tools/placed"));
    record(
      world.projectLock,
      lockEntry("pdf", { kind: "folder", linked: true, resolved: "tools/pdf" }),
      lockEntry("zip", { copied: true }),
      lockEntry("tar", {
        digest: digestOf(outside),
        placed: [{ client: "c", path: "tools/placed", how: "link" }],
      }),
    );
    const metier = await world.metier();
    expect(metier.catalog.all).toEqual([]);
    expect(codesOf(metier).toSorted()).toEqual([
      "link.escapes",
      "lock.missing-folder",
      "lock.outside-project",
      "lock.outside-project",
    ]);
  });

  test("that cannot be read is said, changes nothing else, and is left as it is", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf");
    world.write({ "project/metier.lock": "<<<<<<< a\n=======\n>>>>>>> b\n" });
    const metier = await world.metier();
    expect(metier.names()).toEqual(["pdf"]);
    expect(metier.diagnostics()).toEqual([
      expect.objectContaining({ code: "lock.unusable", path: world.projectLock.path, line: 1 }),
    ]);
  });

  test("of thousands of entries is one message", async () => {
    const world = createInstalledWorld();
    record(world.projectLock, ...Array.from({ length: 3000 }, (_, index) => lockEntry(`s-${index}`)));
    expect(codesOf(await world.metier())).toEqual(["lock.missing-folder"]);
  });

  test("does not count in the home folder, nor takes the user's name for a skill away", async () => {
    const world = createInstalledWorld();
    world.install(world.userLock, "pdf", undefined, { alias: "mine" });
    world.install(projectLockFile(world.home), "zip");
    world.install(world.projectLock, "pdf", undefined, { alias: "theirs" });
    expect((await world.metier({ cwd: world.home })).names()).toEqual(["mine"]);
    expect((await world.metier()).names()).toEqual(["mine", "theirs"]);
  });
});

describe("index and watch", () => {
  test("installed skills share an index, which sees changes", async () => {
    const world = createInstalledWorld();
    for (let index = 0; index < 40; index++) world.install(world.userLock, `s-${index}`);
    const indexes = () => readdirSync(join(world.places.cache, "index"));
    const first = await world.metier();
    expect(first.names()).toHaveLength(40);
    expect(indexes()).toHaveLength(1);
    const second = await world.metier();
    expect(second.catalog.all).toEqual(first.catalog.all);
    const { directory } = second.require("s-7");
    writeFileSync(join(directory, "SKILL.md"), skill("s-7", "", "Longer than before, by a bit."));
    const third = await world.metier();
    expect(third.require("s-7").body.characters).toBeGreaterThan(second.require("s-7").body.characters);
  });

  test("a watch sees what is installed and removed", async () => {
    const world = createInstalledWorld();
    mkdirSync(world.places.base, { recursive: true });
    const metier = await world.metier();
    const outcomes: WatchOutcome[] = [];
    const stop = metier.watch((outcome) => outcomes.push(outcome));
    try {
      world.install(world.userLock, "pdf");
      await until("the user's lock is seen", () => metier.has("pdf"));
      world.install(world.projectLock, "zip");
      await until("the project's lock is seen", () => metier.has("zip"));
      rmSync(world.projectLock.path);
      await until("its removal is seen", () => !metier.has("zip"));
    } finally {
      stop();
    }
    expect(outcomes.every((outcome) => "catalog" in outcome)).toBe(true);
    expect(existsSync(world.userLock.path)).toBe(true);
  });
});
