/** The Python and Node packages of skills, installed by the real npm and pip in the real sandbox from servers on loopback. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { metierPlaces } from "@metier/base/places";
import { findNpm } from "@metier/install";
import type { EnvironmentRequest, PreparedEnvironments } from "@metier/run";
import { findPython, prepareEnvironments } from "@metier/run/engine";
import { type CommandOutcome, chooseSandbox, type PlacedFolder } from "@metier/sandbox";
import type { Config } from "@metier/skills/config";
import { describe, expect, test } from "vitest";
import { type LoopbackServer, openNpmRegistry, openPythonIndex } from "../support/registries.ts";
import { createRunFolders, type RunFolders } from "../support/run-world.ts";
import { sandboxTest } from "../support/sandbox.ts";
import { bash, openRuns, says } from "../support/scripted-runs.ts";
import { createWorld, skill } from "../support/world.ts";

const { sandbox } = await chooseSandbox({ backend: "auto", trust: "trusted" });
const python = sandbox?.backend === "bubblewrap" ? await findPython(sandbox) : undefined;
/** Where npm, or a pip in the sandbox, is missing, these are skipped. */
const nodeTest = findNpm(process.env) ? sandboxTest : test.skip;
const pythonTest = python?.hasPip ? sandboxTest : test.skip;

const GREETING = { name: "greeting", version: "1.2.3", files: { "index.js": "module.exports = 'hello';" } };
const LIMITS = { timeoutMs: 20_000, maxOutputBytes: 4096 };

function prepare(
  folders: Pick<RunFolders, "home" | "skill">,
  server: LoopbackServer,
  more: Partial<EnvironmentRequest> = {},
): Promise<PreparedEnvironments> {
  const environments = { build: true, nodeRegistry: server.url, pythonIndex: server.url };
  return prepareEnvironments({
    skill: "pdf",
    folder: folders.skill,
    trust: "trusted",
    config: { environments } as Config,
    places: metierPlaces(folders.home),
    environment: process.env,
    build: true,
    addresses: server.addresses,
    ...(sandbox && { sandbox }),
    ...more,
  });
}

/** What the skill's own commands see. */
function runIn(
  folders: RunFolders,
  placed: readonly PlacedFolder[],
  argv: readonly string[],
): Promise<CommandOutcome> {
  if (!sandbox) throw new Error("There is no sandbox.");
  return sandbox.run({ argv, world: folders.world({ placed }), env: {}, limits: LIMITS });
}

function inSkill(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`skills/pdf/${name}`, text]));
}

function cached({ home }: Pick<RunFolders, "home">): readonly string[] {
  const folder = join(home, ".metier", "cache", "environments");
  return existsSync(folder) ? readdirSync(folder) : [];
}

describe("Node packages", () => {
  nodeTest(
    "a script imports what its skill locks, and the second use asks the registry nothing",
    async () => {
      const registry = await openNpmRegistry([GREETING]);
      const folders = createRunFolders();
      folders.write(
        inSkill({ ...registry.files, "hi.mjs": "import text from 'greeting'; console.log(text);" }),
      );
      const progress: string[] = [];
      const first = await prepare(folders, registry, { onProgress: (line) => progress.push(line) });
      expect(first.diagnostics).toMatchObject([{ code: "environment.built", severity: "info" }]);
      expect(first.environments).toEqual([
        { kind: "node", lock: "package-lock.json", packages: ["greeting"], status: "ready" },
      ]);
      expect(progress).toEqual([`Installing 1 node package for pdf from ${registry.url}`]);
      expect((await runIn(folders, first.placed, ["node", join(folders.skill, "hi.mjs")])).stdout).toBe(
        "hello\n",
      );
      const asked = registry.asked.length;
      const second = await prepare(folders, registry);
      expect(second).toMatchObject({ placed: first.placed, diagnostics: [] });
      expect(registry.asked).toHaveLength(asked);
    },
  );

  nodeTest("no script of a package runs", async () => {
    const scripts = { preinstall: "touch ran", install: "touch ran", postinstall: "touch ran" };
    const files = { ...GREETING.files, "package.json": JSON.stringify({ scripts }) };
    const registry = await openNpmRegistry([{ ...GREETING, files }]);
    const folders = createRunFolders();
    folders.write(inSkill(registry.files));
    const { placed } = await prepare(folders, registry);
    const { stdout } = await runIn(folders, placed, ["ls", join(folders.skill, "node_modules", "greeting")]);
    expect(stdout.trim().split("\n").sort()).toEqual(["index.js", "package.json"]);
  });

  nodeTest("the rest of the skill's folder is as it was: whole, read-only, secrets hidden", async () => {
    const registry = await openNpmRegistry([GREETING]);
    const folders = createRunFolders();
    folders.write(inSkill({ ...registry.files, "SKILL.md": "text", ".env": "KEY=1", "lib/a.txt": "deep" }));
    const { placed } = await prepare(folders, registry);
    const command = `cd '${folders.skill}'; cat SKILL.md lib/a.txt; cat .env; touch new node_modules/new; ls -A`;
    const { stdout, stderr } = await runIn(folders, placed, ["sh", "-c", command]);
    expect(stdout).toMatch(/^textdeep/);
    expect(stdout).not.toContain("KEY");
    expect(stdout.split("\n").slice(1, -1).sort()).toEqual(
      ["SKILL.md", "lib", "node_modules", "package-lock.json", "package.json"].sort(),
    );
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(existsSync(join(folders.skill, "node_modules"))).toBe(false);
  });

  nodeTest("a package that is not what the lock says is not installed", async () => {
    const registry = await openNpmRegistry([GREETING]);
    const folders = createRunFolders();
    const lock = registry.files["package-lock.json"].replace(/sha512-..../, "sha512-AAAA");
    folders.write(inSkill({ ...registry.files, "package-lock.json": lock }));
    const { placed, diagnostics } = await prepare(folders, registry);
    expect(placed).toEqual([]);
    expect(diagnostics).toMatchObject([
      { code: "environment.failed", severity: "warning", message: expect.stringContaining("EINTEGRITY") },
    ]);
    expect(cached(folders)).toEqual([]);
  });

  nodeTest("a registry that cannot be reached is said, with what npm said last", async () => {
    const registry = await openNpmRegistry([GREETING]);
    const folders = createRunFolders();
    folders.write(inSkill(registry.files));
    const addresses = { resolve: async () => [], isPublic: () => true };
    const { placed, diagnostics } = await prepare(folders, registry, { addresses });
    expect(placed).toEqual([]);
    expect(diagnostics).toMatchObject([
      {
        code: "environment.failed",
        message: expect.stringContaining("\nNot reached: `npm.example.com` has no address."),
        hint: expect.stringContaining("metier setup pdf --install"),
      },
    ]);
    expect(cached(folders)).toEqual([]);
  });

  nodeTest(
    "a lock that names another host than the registry is refused before anything is fetched",
    async () => {
      const registry = await openNpmRegistry([GREETING]);
      const folders = createRunFolders();
      const lock = registry.files["package-lock.json"].replace("npm.example.com", "other.example.com");
      folders.write(inSkill({ ...registry.files, "package-lock.json": lock }));
      const { diagnostics } = await prepare(folders, registry);
      expect(diagnostics).toMatchObject([
        { code: "environment.source", message: expect.stringContaining("other.example.com") },
      ]);
      expect(registry.asked).toEqual([]);
    },
  );

  nodeTest("several installations at once leave one, and nothing half-made", async () => {
    const registry = await openNpmRegistry([GREETING]);
    const folders = createRunFolders();
    folders.write(inSkill(registry.files));
    const all = await Promise.all([prepare(folders, registry), prepare(folders, registry)]);
    expect(all.map(({ placed }) => placed.length)).toEqual([1, 1]);
    expect(cached(folders)).toHaveLength(1);
    expect(cached(folders)[0]).toMatch(/^[0-9a-f]{64}$/);
  });

  nodeTest("an installation that is stopped leaves nothing that is believed", async () => {
    const registry = await openNpmRegistry([GREETING]);
    const folders = createRunFolders();
    folders.write(inSkill(registry.files));
    const stop = new AbortController();
    const { placed, diagnostics } = await prepare(folders, registry, {
      signal: stop.signal,
      onProgress: () => setTimeout(() => stop.abort(), 50),
    });
    expect(placed).toEqual([]);
    expect(diagnostics).toMatchObject([
      { code: "environment.failed", message: expect.stringContaining("cancelled") },
    ]);
    expect(cached(folders)).toEqual([]);
  });

  nodeTest("a run of the skill has its packages", async () => {
    const registry = await openNpmRegistry([GREETING]);
    const world = createWorld();
    const folder = join(world.home, ".metier", "skills", "pdf");
    const files = {
      ...registry.files,
      "SKILL.md": skill("pdf"),
      "hi.cjs": "console.log(require('greeting'));",
    };
    world.write(
      Object.fromEntries(
        Object.entries(files).map(([name, text]) => [`home/.metier/skills/pdf/${name}`, text]),
      ),
    );
    await prepare({ home: world.home, skill: folder }, registry);
    const runs = await openRuns(world, [
      bash('node "$METIER_SKILL_DIR/hi.cjs"'),
      says("Done.", { toolResult: "hello" }),
    ]);
    const { result } = await runs.run({ skill: "pdf", approve: "all" });
    expect(result).toMatchObject({ status: "completed", diagnostics: [] });
    const { json } = await world.cli("setup", "--json");
    expect(json.environments).toMatchObject([{ skill: "pdf", kind: "node", status: "ready" }]);
  });
});

describe("Python packages", () => {
  pythonTest(
    "a script imports a wheel that its skill pins, and the second use asks the index nothing",
    async () => {
      const index = await openPythonIndex("greeting", "1.0", "TEXT = 'hello'\n");
      const folders = createRunFolders();
      folders.write(
        inSkill({ "requirements.txt": index.requirement, "hi.py": "import greeting; print(greeting.TEXT)" }),
      );
      const first = await prepare(folders, index);
      expect(first.diagnostics).toMatchObject([{ code: "environment.built" }]);
      expect(first.environments).toMatchObject([{ kind: "python", packages: ["greeting"], status: "ready" }]);
      const outcome = await runIn(folders, first.placed, ["python3", join(folders.skill, "hi.py")]);
      expect(outcome).toMatchObject({ stdout: "hello\n", exitCode: 0 });
      const asked = index.asked.length;
      expect((await prepare(folders, index)).placed).toEqual(first.placed);
      expect(index.asked).toHaveLength(asked);
    },
  );

  pythonTest("a wheel with another digest is not installed", async () => {
    const index = await openPythonIndex("greeting", "1.0", "TEXT = 'hello'\n");
    const folders = createRunFolders();
    folders.write(inSkill({ "requirements.txt": index.requirement.replace(/sha256:..../, "sha256:0000") }));
    const { placed, diagnostics } = await prepare(folders, index);
    expect(placed).toEqual([]);
    expect(diagnostics).toMatchObject([
      { code: "environment.failed", message: expect.stringMatching(/do(?:es)? not match/i) },
    ]);
  });
});

describe("nothing is installed", () => {
  const files = { "requirements.txt": "greeting==1.0\n" };

  sandboxTest("for an untrusted skill, not even when another has the same packages", async () => {
    const registry = await openNpmRegistry([GREETING]);
    const folders = createRunFolders();
    folders.write(inSkill(registry.files));
    const { placed, diagnostics, environments } = await prepare(folders, registry, { trust: "untrusted" });
    expect({ placed, asked: registry.asked, cached: cached(folders) }).toEqual({
      placed: [],
      asked: [],
      cached: [],
    });
    expect(environments).toMatchObject([{ status: "absent" }]);
    expect(diagnostics).toMatchObject([
      { code: "environment.not-built", message: expect.stringContaining("untrusted") },
    ]);
  });

  test("where the config says so", async () => {
    const index = await openPythonIndex("greeting", "1.0", "");
    const folders = createRunFolders();
    folders.write(inSkill(files));
    const config = { environments: { build: false } } as Config;
    expect((await prepare(folders, index, { config })).diagnostics).toMatchObject([
      { code: "environment.not-built", message: expect.stringContaining("`environments.build` is off") },
    ]);
  });

  test("without bubblewrap", async () => {
    const index = await openPythonIndex("greeting", "1.0", "");
    const folders = createRunFolders();
    folders.write(inSkill(files));
    const { sandbox: unsandboxed } = await chooseSandbox({ backend: "none", trust: "trusted" });
    if (!unsandboxed) throw new Error("A trusted skill may run without a sandbox where the config says so.");
    const { placed, diagnostics } = await prepare(folders, index, { sandbox: unsandboxed });
    expect(placed).toEqual([]);
    expect(diagnostics).toMatchObject([
      { code: "environment.not-built", message: expect.stringContaining("bubblewrap") },
    ]);
    expect(index.asked).toEqual([]);
  });

  sandboxTest("from an address that is not public, whatever the config names", async () => {
    const registry = await openNpmRegistry([GREETING]);
    const world = createWorld();
    const { port } = new URL(registry.url);
    const local = `http://127.0.0.1:${port}/`;
    const folder = "home/.metier/skills/pdf";
    world.write({
      "home/.metier/config.toml": `[environments]\nnode-registry = "${local}"\n`,
      [`${folder}/SKILL.md`]: skill("pdf"),
      [`${folder}/package.json`]: registry.files["package.json"],
      [`${folder}/package-lock.json`]: registry.files["package-lock.json"].replaceAll(registry.url, local),
    });
    const shown = await world.cli("setup");
    expect(shown).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("1 node package, not installed"),
    });
    const { code, stdout } = await world.cli("setup", "--install");
    expect(code).toBe(findNpm(process.env) ? 5 : 3);
    expect(stdout).toContain("user:pdf package-lock.json");
    expect(registry.asked).toEqual([]);
  });
});
