import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { readLock } from "@metier/skills/formats";
import { projectLockFile, storeFolder, userLockFile } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import { fillStore, lockEntry, record } from "../../../../test/support/locks.ts";
import { writeTree } from "../../../../test/support/temporary.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import { clientPath, findClient, isClientPath, listPlacedClients } from "../../src/install/clients.ts";
import type { InstallReport, InstallRequest } from "../../src/install/requests.ts";

const CLAUDE = ".claude/skills/pdf";
const AGENTS = ".agents/skills/pdf";

describe("the folders of other clients", () => {
  test("get a relative link into the store, and the lock says so", async () => {
    const world = worldWithSource();
    const [done] = (await install(world, { agents: ["claude-code", "codex"] })).installed;
    const place = join(world.home, CLAUDE);
    expect(lstatSync(place).isSymbolicLink()).toBe(true);
    expect(isAbsolute(readlinkSync(place))).toBe(false);
    expect(realpathSync(place)).toBe(realpathSync(done?.path ?? ""));
    expect(realpathSync(join(world.home, AGENTS))).toBe(realpathSync(done?.path ?? ""));
    expect(entryOf(world).placed).toEqual([
      { client: "claude-code", path: place, how: "link" },
      { client: "codex", path: join(world.home, AGENTS), how: "link" },
    ]);
  });

  test("get the links of many skills, made together, and nothing is left of that", async () => {
    const world = createWorld();
    const names = Array.from({ length: 70 }, (_, number) => `skill-${number}`);
    world.write(Object.fromEntries(names.map((name) => [`source/${name}/SKILL.md`, skill(name)])));
    const taken = join(world.home, ".claude", "skills", "skill-7");
    mkdirSync(taken, { recursive: true });
    const asked = { skills: ["*"], agents: ["claude-code"] };
    const dry = await install(world, { ...asked, dryRun: true });
    expect(dry.installed.length).toBeGreaterThan(0);
    expect(readdirSync(join(world.home, ".claude", "skills"))).toEqual(["skill-7"]);
    const { installed, skipped } = await install(world, asked);
    expect(installed.length + skipped.length).toBe(70);
    const linked = installed.filter(({ placed = [] }) => placed.length > 0);
    expect(linked).toHaveLength(69);
    for (const { name, path, placed } of linked) {
      const [place = ""] = placed ?? [];
      const stats = lstatSync(place);
      expect([name, stats.isSymbolicLink(), stats.nlink]).toEqual([name, true, 1]);
      expect(isAbsolute(readlinkSync(place))).toBe(false);
      expect(realpathSync(place)).toBe(realpathSync(path));
    }
    expect(lstatSync(taken).isDirectory()).toBe(true);
  });

  test("get a copy with `copy`, and where links are not followed", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["claude-code"], copy: true });
    await install(world, { agents: ["agent-harness"] });
    for (const path of [CLAUDE, ".agent/skills/pdf"]) {
      expect(lstatSync(join(world.home, path)).isDirectory()).toBe(true);
      expect(readFileSync(join(world.home, path, "SKILL.md"), "utf8")).toBe(skill("pdf"));
    }
    expect(entryOf(world).copied).toBeUndefined();
    expect(entryOf(world).placed?.map(({ how }) => how)).toEqual(["copy", "copy"]);
  });

  test("are one place when several clients share it", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["codex", "zed", "agents"] });
    expect(entryOf(world).placed?.map(({ client }) => client)).toEqual(["codex"]);
  });

  test("are those of the project with `project`, named relative to it", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["cursor"], project: true });
    const read = readLock(projectLockFile(world.project));
    expect(read.ok && read.value.skills[0]?.placed).toEqual([
      { client: "cursor", path: AGENTS, how: "link" },
    ]);
    expect(existsSync(join(world.project, AGENTS, "SKILL.md"))).toBe(true);
  });

  test("show the skill once in the catalog, untrusted as it is", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["claude-code", "codex"] });
    const { json } = await world.cli("list", "--json");
    const found = json.skills.filter(({ name }: { name: string }) => name === "pdf");
    expect(found.map(({ scope, trust }: { scope: string; trust: string }) => [scope, trust])).toEqual([
      ["installed", "untrusted"],
    ]);
  });

  test("a client that nobody knows is refused with those that are known", async () => {
    const world = worldWithSource();
    const outcome = await (await world.metier()).install({ source: source(world), agents: ["claude-cod"] });
    if (outcome.ok) throw new Error("It was installed.");
    expect(outcome.fault.code).toBe("install.usage");
    expect(outcome.fault.message).toContain('"claude-cod"');
    expect(outcome.fault.hint).toMatch(/Did you mean `claude-code`/);
  });
});

describe("what stands there already", () => {
  test.each([
    ["a folder", (place: string) => writeTree(place, { "SKILL.md": "mine" })],
    ["a folder with the same content", (place: string) => writeTree(place, { "SKILL.md": skill("pdf") })],
    ["a file", (place: string) => writeFileSync(place, "mine")],
    ["a link to somewhere else", (place: string) => symlinkSync("/usr/share/pdf", place)],
  ])("is not touched: %s", async (_what, make) => {
    const world = worldWithSource();
    const place = join(world.home, CLAUDE);
    mkdirSync(join(place, ".."), { recursive: true });
    make(place);
    const before = describeFile(place);
    const { installed, diagnostics } = await install(world, { agents: ["claude-code", "codex"] });
    expect(installed).toHaveLength(1);
    expect(describeFile(place)).toBe(before);
    expect(diagnostics.find(({ code }) => code === "install.place-taken")).toMatchObject({ path: place });
    expect(entryOf(world).placed?.map(({ client }) => client)).toEqual(["codex"]);
  });

  test("is moved aside with `force`, out of the folder of skills", async () => {
    const world = worldWithSource();
    const place = join(world.home, CLAUDE);
    writeTree(place, { "SKILL.md": "mine" });
    const { diagnostics } = await install(world, { agents: ["claude-code"], force: true });
    expect(diagnostics.map(({ code }) => code)).toContain("install.moved-aside");
    expect(lstatSync(place).isSymbolicLink()).toBe(true);
    const aside = join(world.home, ".claude", ".metier-aside");
    const [kept = ""] = readdirSync(aside);
    expect(readFileSync(join(aside, kept, "SKILL.md"), "utf8")).toBe("mine");
  });

  test("another skill of the same name, installed under another one, leaves it to the first", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["claude-code"] });
    writeTree(join(world.root, "other/pdf"), { "SKILL.md": skill("pdf", "", "Another one.") });
    const { diagnostics } = await install(world, {
      source: join(world.root, "other"),
      name: "pdf-too",
      agents: ["claude-code"],
    });
    expect(diagnostics.find(({ code }) => code === "install.place-taken")?.message).toContain("`pdf`");
    expect(readFileSync(join(world.home, CLAUDE, "SKILL.md"), "utf8")).toBe(skill("pdf"));
  });

  test("a link on the way that points outside the project is not followed", async () => {
    const world = worldWithSource();
    mkdirSync(join(world.root, "elsewhere"));
    symlinkSync(join(world.root, "elsewhere"), join(world.project, ".claude"));
    const { diagnostics } = await install(world, { agents: ["claude-code"], project: true });
    expect(diagnostics.map(({ code }) => code)).toContain("install.place-taken");
    expect(readdirSync(join(world.root, "elsewhere"))).toEqual([]);
  });
});

describe("afterwards", () => {
  test("a new version replaces links and copies, but no copy that was changed by hand", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["claude-code"] });
    await install(world, { agents: ["codex", "cursor"], copy: true });
    const changed = join(world.home, ".cursor/skills/pdf/SKILL.md");
    writeFileSync(changed, "changed by hand");
    const text = skill("pdf", "", "Newer.");
    writeTree(world.root, { "source/pdf/SKILL.md": text });
    const { diagnostics } = await install(world, { force: false }, { conflict: async () => "replace" });
    expect(readFileSync(join(world.home, CLAUDE, "SKILL.md"), "utf8")).toBe(text);
    expect(readFileSync(join(world.home, AGENTS, "SKILL.md"), "utf8")).toBe(text);
    expect(readFileSync(changed, "utf8")).toBe("changed by hand");
    expect(diagnostics.map(({ code }) => code)).toContain("install.kept");
  });

  test("removing takes back what is recorded and nothing else", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["claude-code"] });
    await install(world, { agents: ["codex", "cursor"], copy: true });
    const changed = join(world.home, ".cursor/skills/pdf/SKILL.md");
    writeFileSync(changed, "changed by hand");
    writeTree(world.home, { ".claude/skills/mine/SKILL.md": skill("mine") });
    const outcome = await (await world.metier()).remove("pdf");
    expect(outcome.ok && outcome.diagnostics.map(({ path }) => path)).toEqual([
      join(world.home, ".cursor/skills/pdf"),
    ]);
    expect(readdirSync(join(world.home, ".claude/skills"))).toEqual(["mine"]);
    expect(existsSync(join(world.home, ".agents"))).toBe(false);
    expect(readFileSync(changed, "utf8")).toBe("changed by hand");
  });

  test("a restore puts back what is missing and repairs a link to an earlier version", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["claude-code"] });
    await install(world, { agents: ["codex"], copy: true });
    rmSync(join(world.home, AGENTS), { recursive: true });
    rmSync(join(world.home, CLAUDE));
    symlinkSync("../../.metier/store/pdf@0123456789abcdef", join(world.home, CLAUDE));
    const outcome = await (await world.metier()).install({});
    expect(outcome.ok && outcome.diagnostics).toEqual([]);
    for (const path of [CLAUDE, AGENTS]) {
      expect(readFileSync(join(world.home, path, "SKILL.md"), "utf8")).toBe(skill("pdf"));
    }
  });

  test("a frozen restore names a place that is not what the lock records", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["codex"], copy: true });
    writeFileSync(join(world.home, AGENTS, "SKILL.md"), "changed by hand");
    const outcome = await (await world.metier()).install({ frozen: true });
    expect(outcome.ok && outcome.skipped[0]).toMatchObject({ code: "install.differs" });
    expect(readFileSync(join(world.home, AGENTS, "SKILL.md"), "utf8")).toBe("changed by hand");
  });

  test("what a killed process left half-way beside the folder of skills goes", async () => {
    const world = worldWithSource();
    await install(world, { agents: ["codex"], copy: true });
    const { makeOwnedName } = await import("@metier/base/files");
    const abandoned = makeOwnedName({ prefix: ".metier-" }).replace(`${process.pid}`, "4194304999");
    writeTree(join(world.home, ".agents"), { [`${abandoned}/SKILL.md`]: "half" });
    rmSync(join(world.home, AGENTS), { recursive: true });
    await (await world.metier()).install({});
    expect(readdirSync(join(world.home, ".agents"))).toEqual(["skills"]);
  });
});

describe("a project's lock", () => {
  test("puts nothing where no client looks for the skill", async () => {
    const world = createWorld();
    const places = metierPlaces(world.home);
    const digest = fillStore(places, "pdf", { "SKILL.md": skill("pdf") });
    const placed = ["node_modules/left-pad", ".git/hooks/pdf", ".claude/skills/other", CLAUDE].map(
      (path) => ({
        client: "claude-code",
        path,
        how: "copy" as const,
      }),
    );
    record(projectLockFile(world.project), lockEntry("pdf", { digest, placed }));
    expect(existsSync(storeFolder(places, { name: "pdf", digest }))).toBe(true);
    const outcome = await (await world.metier()).install({});
    expect(
      outcome.ok && outcome.diagnostics.filter(({ code }) => code === "lock.outside-project"),
    ).toHaveLength(3);
    expect(existsSync(join(world.project, CLAUDE, "SKILL.md"))).toBe(true);
    expect(existsSync(join(world.project, "node_modules"))).toBe(false);
    expect(existsSync(join(world.project, ".git", "hooks"))).toBe(false);
    expect(existsSync(join(world.project, ".claude/skills/other"))).toBe(false);
  });
});

test("a link that a checkout brings from another machine is made anew", async () => {
  const world = worldWithSource();
  await install(world, { agents: ["claude-code"], project: true });
  const place = join(world.project, CLAUDE);
  rmSync(place);
  symlinkSync("../../../../home/someone/.metier/store/pdf@0123456789abcdef", place);
  await (await world.metier()).install({});
  expect(readFileSync(join(place, "SKILL.md"), "utf8")).toBe(skill("pdf"));
});

describe("the table of clients", () => {
  test("has each once, with folders inside home and project", () => {
    expect(new Set(listPlacedClients().map(({ id }) => id)).size).toBe(listPlacedClients().length);
    for (const client of listPlacedClients()) {
      expect(findClient(client.id)).toBe(client);
      for (const owner of ["user", "project"] as const) {
        expect(clientPath(client, owner, "pdf")).toMatch(/^\.[\w-]+(?:\/[\w-]+)*\/skills\/pdf$/);
      }
      expect(isClientPath(clientPath(client, "project", "pdf"), "pdf")).toBe(true);
    }
    expect(isClientPath(".claude/skills/pdf", "other")).toBe(false);
  });

  test("knows other names of some", () => {
    expect(findClient("github-copilot")?.id).toBe("copilot");
    expect(findClient("toString")).toBeUndefined();
  });
});

function worldWithSource(): World {
  const world = createWorld();
  world.write({ "source/pdf/SKILL.md": skill("pdf") });
  return world;
}

function source({ root }: World): string {
  return join(root, "source");
}

async function install(
  world: World,
  request: InstallRequest,
  decisions: Parameters<Awaited<ReturnType<World["metier"]>>["install"]>[1] = {},
): Promise<InstallReport> {
  const metier = await world.metier();
  const outcome = await metier.install({ source: source(world), ...request }, decisions);
  if (!outcome.ok) throw new Error(`${outcome.fault.message} ${outcome.fault.hint}`);
  return outcome;
}

function entryOf(world: World): ReturnType<typeof lockEntry> {
  const read = readLock(userLockFile(metierPlaces(world.home)));
  const [entry] = read.ok ? read.value.skills : [];
  if (!entry) throw new Error("The lock lists nothing.");
  return entry;
}

/** What is there and in it, without following a link. */
function describeFile(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (stats.isFile()) return `file ${readFileSync(path, "utf8")}`;
  return `folder ${stats.ino} ${readFileSync(join(path, "SKILL.md"), "utf8")}`;
}
