/** Links of many skills, made by a thread while the config is edited: as if each had been made alone, whatever stands in the way. */
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { metierPlaces, type Places } from "@metier/base/places";
import {
  type LockEntry,
  type LockFile,
  lockedFolder,
  placedFolder,
  projectLockFile,
  userLockFile,
} from "@metier/skills/trust";
import { describe, expect, onTestFinished, test } from "vitest";
import { createInstallWorld, resultOf, skillFiles } from "../../../../test/support/installing.ts";
import { digestOf, fillStore, lockEntry } from "../../../../test/support/locks.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { skill } from "../../../../test/support/world.ts";
import type { LinkedPlaces } from "../../src/install/fan-out.ts";
import { linkTogether } from "../../src/install/links-together.ts";
import { finishInstall } from "../../src/install/record-skills.ts";
import { openTreeMaker, WORTH_A_THREAD } from "../../src/install/tree-maker.ts";

const NAMES = Array.from({ length: WORTH_A_THREAD + 6 }, (_, number) => `skill-${number}`);

interface Recorded {
  readonly places: Places;
  readonly lockFile: LockFile;
  readonly entries: readonly LockEntry[];
}

/** As a lock records them, with a link for a client each. */
function recordAll(
  owner: "user" | "project",
  kind: "stored" | "linked" | "copied",
  roots: { readonly home: string; readonly project: string },
): Recorded {
  const places = metierPlaces(roots.home);
  const lockFile = owner === "user" ? userLockFile(places) : projectLockFile(roots.project);
  const root = owner === "user" ? roots.home : roots.project;
  const entries = NAMES.map((name) => {
    const path = `.claude/skills/${name}`;
    const named = owner === "user" ? join(root, path) : path;
    const placed = [{ client: "claude-code", path: named, how: "link" as const }];
    if (kind === "linked") {
      const resolved = owner === "user" ? join(root, "mine", name) : `mine/${name}`;
      return lockEntry(name, {
        kind: "folder",
        digest: linkedSkill(root, name),
        resolved,
        linked: true,
        placed,
      });
    }
    const digest = fillStore(places, name, { "SKILL.md": skill(name) });
    return lockEntry(name, { digest, placed, ...(kind === "copied" && { copied: true }) });
  });
  return { places, lockFile, entries };
}

/** The folder that the lock names is itself a link. */
function linkedSkill(root: string, name: string): string {
  writeTree(join(root, "elsewhere", "deep", name), { "SKILL.md": skill(name) });
  mkdirSync(join(root, "mine"), { recursive: true });
  symlinkSync(join("..", "elsewhere", "deep", name), join(root, "mine", name));
  return digestOf(join(root, "mine", name));
}

/** `before`: called when all were looked at, and none is made. */
async function link(
  { places, lockFile, entries }: Recorded,
  before: () => void = () => undefined,
): Promise<LinkedPlaces> {
  const makerOf = (count: number): ReturnType<typeof openTreeMaker> => {
    before();
    const maker = openTreeMaker(count);
    onTestFinished(() => maker.close());
    return maker;
  };
  return linkTogether(entries, { places, lockFile, quarantine: { makerOf } });
}

function finish({ entries, ...context }: Recorded, linked?: LinkedPlaces): ReturnType<typeof finishInstall> {
  return finishInstall(entries, [], { ...context, linked });
}

function linksOf({ lockFile, entries }: Recorded): readonly string[] {
  return entries.flatMap(({ placed = [] }) => placed.map((copy) => placedFolder(lockFile, copy)));
}

/** A home and a project that are reached through links, which lead to another depth. */
function linkedRoots(): { readonly home: string; readonly project: string } {
  const root = temporaryFolder();
  for (const name of ["home", "project"]) {
    mkdirSync(join(root, "real", name, "one"), { recursive: true });
    symlinkSync(join("real", name, "one"), join(root, name));
  }
  return { home: join(root, "home"), project: join(root, "project") };
}

function plainRoots(): { readonly home: string; readonly project: string } {
  const root = temporaryFolder();
  for (const name of ["home", "project"]) mkdirSync(join(root, name));
  return { home: join(root, "home"), project: join(root, "project") };
}

describe("links that are made together", () => {
  test.each([
    ["stored", "user", plainRoots, true],
    ["stored", "user", linkedRoots, true],
    ["stored", "project", linkedRoots, true],
    ["linked", "user", linkedRoots, true],
    ["linked", "project", linkedRoots, true],
    ["copied", "project", plainRoots, false],
    ["copied", "project", linkedRoots, false],
  ] as const)("say the same as links that are made alone: %s, of a %s", async (kind, owner, roots, early) => {
    const all = recordAll(owner, kind, roots());
    const linked = await link(all);
    const places = linksOf(all);
    expect(places.filter((place) => linked.get(place) !== undefined)).toEqual(early ? places : []);
    expect(finish(all, linked)).toEqual([]);
    const together = places.map((place) => readlinkSync(place));
    for (const [index, entry] of all.entries.entries()) {
      const folder = lockedFolder(all.places, all.lockFile, entry);
      expect(realpathSync(places[index] ?? "")).toBe(realpathSync(folder));
    }
    for (const place of places) rmSync(place);
    expect(finish(all)).toEqual([]);
    expect(places.map((place) => readlinkSync(place))).toEqual(together);
  });

  test("do not replace what someone put there meanwhile, and the others are made", async () => {
    const all = recordAll("user", "stored", plainRoots());
    const taken = linksOf(all)[7] ?? "";
    const linked = await link(all, () => writeTree(taken, { "SKILL.md": "mine" }));
    expect(linksOf(all).filter((place) => linked.get(place) !== undefined)).toEqual([]);
    expect(finish(all, linked)).toMatchObject([{ code: "install.kept", path: taken }]);
    expect(readFileSync(join(taken, "SKILL.md"), "utf8")).toBe("mine");
    for (const place of linksOf(all)) expect(lstatSync(place).isSymbolicLink()).toBe(place !== taken);
  });

  test("are looked at again before they count", async () => {
    const all = recordAll("user", "stored", plainRoots());
    const [gone = "", folder = "", other = "", ...rest] = linksOf(all);
    const linked = await link(all);
    expect(rest.every((place) => linked.get(place) === readlinkSync(place))).toBe(true);
    for (const place of [gone, folder, other]) rmSync(place);
    writeTree(folder, { "SKILL.md": "mine" });
    symlinkSync("/usr/share/pdf", other);
    const told = finish(all, linked);
    expect(told.map(({ code, path }) => [code, path])).toEqual([
      ["install.kept", folder],
      ["install.kept", other],
    ]);
    expect(lstatSync(gone).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "SKILL.md"), "utf8")).toBe("mine");
    expect(readlinkSync(other)).toBe("/usr/share/pdf");
  });

  test("stay in the project when a link on the way leads out of it by now", async () => {
    const roots = plainRoots();
    const all = recordAll("project", "stored", roots);
    const outside = temporaryFolder();
    mkdirSync(join(outside, "skills"));
    const linked = await link(all, () => symlinkSync(outside, join(roots.project, ".claude")));
    expect(readdirSync(join(outside, "skills"))).toEqual([]);
    const told = finish(all, linked);
    expect(new Set(told.map(({ code }) => code))).toEqual(new Set(["lock.outside-project"]));
    expect(told).toHaveLength(NAMES.length);
    expect(readdirSync(join(outside, "skills"))).toEqual([]);
  });
});

describe("installing many skills", () => {
  const FILES = Object.fromEntries(
    NAMES.flatMap((name) => Object.entries(skillFiles(`skills/${name}`, name))),
  );
  const AGENTS = ["claude-code", "codex"];

  function expectLinked(
    folders: readonly string[],
    installed: readonly { name: string; path: string }[],
  ): void {
    expect(installed).toHaveLength(NAMES.length);
    for (const { name, path } of installed) {
      for (const folder of folders) {
        expect(lstatSync(join(folder, name)).isSymbolicLink()).toBe(true);
        expect(realpathSync(join(folder, name))).toBe(realpathSync(path));
      }
    }
  }

  test("for two clients whose folders are one makes each link once", async () => {
    const world = createInstallWorld();
    const [claude, agents] = [".claude", ".agents"].map((one) => join(world.home, one, "skills"));
    mkdirSync(claude ?? "", { recursive: true });
    mkdirSync(dirname(agents ?? ""));
    symlinkSync(claude ?? "", agents ?? "");
    const repository = world.repository(FILES);
    const metier = await world.metier();
    const report = resultOf(await metier.install({ source: repository.url, skills: ["*"], agents: AGENTS }));
    expect(report.diagnostics).toEqual([]);
    expectLinked([claude ?? "", agents ?? ""], report.installed);
    expect(resultOf(await metier.install({})).diagnostics).toEqual([]);
  });

  test("over as many foreign folders takes them only by force, and keeps them aside", async () => {
    const world = createInstallWorld();
    const [claude = "", agents = ""] = [".claude", ".agents"].map((one) => join(world.home, one, "skills"));
    for (const name of NAMES) writeTree(join(claude, name), { "SKILL.md": `mine: ${name}` });
    const repository = world.repository(FILES);
    const request = { source: repository.url, skills: ["*"], agents: AGENTS };
    const kept = resultOf(await (await world.metier()).install(request));
    expect(kept.diagnostics.map(({ code }) => code)).toEqual(NAMES.map(() => "install.place-taken"));
    expectLinked([agents], kept.installed);
    for (const name of NAMES) {
      expect(readFileSync(join(claude, name, "SKILL.md"), "utf8")).toBe(`mine: ${name}`);
      rmSync(join(agents, name));
    }
    rmSync(world.places.lockFile);
    const forced = resultOf(await (await world.metier()).install({ ...request, force: true }));
    expect(forced.diagnostics.map(({ code }) => code)).toEqual(NAMES.map(() => "install.moved-aside"));
    expectLinked([claude, agents], forced.installed);
    const aside = join(world.home, ".claude", ".metier-aside");
    const texts = readdirSync(aside).map((name) => readFileSync(join(aside, name, "SKILL.md"), "utf8"));
    expect(texts.sort()).toEqual(NAMES.map((name) => `mine: ${name}`).sort());
  });
});
