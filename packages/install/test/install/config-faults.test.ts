/** What the system, or this program, does wrong while the user's config is edited: the skills are installed by then. */
import fs, {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  createInstallWorld,
  type InstallWorld,
  resultOf,
  skillFiles,
} from "../../../../test/support/installing.ts";

/** One gets a link, one a copy. */
const AGENTS = ["claude-code", "agent-harness"];
const PLACES = [".claude/skills", ".agent/skills"];

interface LinkedConfig {
  readonly world: InstallWorld;
  /** Where the config really is. */
  readonly folder: string;
  /** Installs that version over the one before, as everything its source has. */
  install(version: string, count: number): ReturnType<Awaited<ReturnType<InstallWorld["metier"]>>["install"]>;
}

/** The user's config is a link into a folder that others look after. */
function linkConfig(): LinkedConfig {
  const world = createInstallWorld();
  const folder = mkdtempSync(join(world.root, "shared-"));
  writeFileSync(join(folder, "config.toml"), "# Mine.\n");
  mkdirSync(world.places.base);
  symlinkSync(join(folder, "config.toml"), join(world.places.base, "config.toml"));
  const names = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, number) => `skill-${number}`);
  const filesOf = (version: string, count: number): Record<string, string> =>
    Object.assign({}, ...names(count).map((name) => skillFiles(`skills/${name}`, name, version)));
  const repository = world.repository({ "README.md": "Skills.\n" });
  return {
    world,
    folder,
    async install(version, count) {
      repository.commit(filesOf(version, count));
      const request = { source: repository.url, skills: ["*"], agents: AGENTS };
      return (await world.metier()).install(request, { conflict: async () => "replace" });
    },
  };
}

/** Until the test ends, whoever lists that folder gets this fault. */
function refuseListing(folder: string, fault: Error): void {
  const { readdirSync } = fs;
  const spy = vi.spyOn(fs, "readdirSync").mockImplementation(((path: string, ...rest: never[]) => {
    if (path === folder) throw fault;
    return (readdirSync as (...all: unknown[]) => unknown)(path, ...rest);
  }) as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

/** Links and copies have that version, and so does the lock. */
function expectPlaced({ home, lock }: InstallWorld, version: string, count: number): void {
  expect(lock().skills).toHaveLength(count);
  for (const place of PLACES) {
    for (const { name } of lock().skills) {
      const folder = join(home, place, name);
      expect(readFileSync(join(folder, "SKILL.md"), "utf8")).toContain(version);
      expect(lstatSync(folder).isSymbolicLink()).toBe(place === PLACES[0]);
    }
  }
}

/** Few links are made by this thread, many by another. */
const COUNTS = [2, 70];

test.each(COUNTS)(
  "a config that the system refuses to change is a warning, and all of %i skills are placed",
  async (count) => {
    const { world, folder, install } = linkConfig();
    resultOf(await install("Before.", count));
    writeFileSync(join(folder, "config.toml"), "# Mine.\n");
    const refusal = { code: "EACCES", syscall: "scandir", path: folder };
    refuseListing(folder, Object.assign(new Error("EACCES: permission denied, scandir"), refusal));
    const { diagnostics, installed } = resultOf(await install("After.", count));
    expect(installed).toHaveLength(count);
    expect(diagnostics).toMatchObject([
      {
        code: "install.unfinished",
        severity: "warning",
        path: join(world.places.base, "config.toml"),
        message: "`skills.plugins` could not be updated. EACCES: permission denied, scandir.",
      },
    ]);
    expectPlaced(world, "After.", count);
    expect(readFileSync(join(folder, "config.toml"), "utf8")).toBe("# Mine.\n");
  },
);

test.each(COUNTS)("a fault of the program is thrown, once %i skills are placed", async (count) => {
  const { world, folder, install } = linkConfig();
  resultOf(await install("Before.", count));
  writeFileSync(join(folder, "config.toml"), "# Mine.\n");
  refuseListing(folder, new TypeError("Wrong."));
  await expect(install("After.", count)).rejects.toThrow("Wrong.");
  expectPlaced(world, "After.", count);
  expect(world.quarantined()).toEqual([]);
});

test("removing a skill whose config the system refuses to change is a warning", async () => {
  const { world, folder, install } = linkConfig();
  resultOf(await install("Before.", 2));
  const refusal = { code: "EROFS", syscall: "scandir", path: folder };
  refuseListing(folder, Object.assign(new Error("EROFS: read-only file system, scandir"), refusal));
  const removed = await (await world.metier()).remove(["skill-0", "skill-1"]);
  expect(removed).toMatchObject({ ok: true, diagnostics: [{ code: "install.unfinished" }] });
  expect(world.lock().skills).toEqual([]);
});

test.skipIf(process.getuid?.() === 0)(
  "a config in a folder that may be entered, but not listed, is a warning, and the skills are placed",
  async () => {
    const { world, folder, install } = linkConfig();
    chmodSync(folder, 0o311);
    onTestFinished(() => chmodSync(folder, 0o700));
    const { diagnostics } = resultOf(await install("Once.", 2));
    expect(diagnostics.map(({ code }) => code)).toEqual(["install.unfinished"]);
    expectPlaced(world, "Once.", 2);
  },
);

test("a config that is a link into a folder that is a file by now is a warning, and the skills are placed", async () => {
  const { world, folder, install } = linkConfig();
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "A file.");
  const { diagnostics } = resultOf(await install("Once.", 2));
  expect(diagnostics.map(({ code }) => code)).toContain("install.unfinished");
  expectPlaced(world, "Once.", 2);
});
