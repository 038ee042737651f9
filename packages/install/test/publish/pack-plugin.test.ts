import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identifyFolder } from "@metier/skills/trust";
import { describe, expect, test } from "vitest";
import {
  createInstallWorld,
  type InstallWorld,
  readText,
  resultOf,
} from "../../../../test/support/installing.ts";
import { TOKEN, writeSkills } from "../../../../test/support/publishing.ts";
import { skill } from "../../../../test/support/world.ts";
import {
  type PackOptions,
  type PackOutcome,
  type PackReport,
  packPlugin,
} from "../../src/publish/pack-plugin.ts";
import { readAuthor } from "../../src/publish/plugin-manifest.ts";

async function pack(world: InstallWorld, options: Partial<PackOptions> = {}): Promise<PackOutcome> {
  return packPlugin(await world.metier(), {
    skills: ["skills"],
    output: "plugin",
    cwd: world.project,
    name: "team-tools",
    ...options,
  });
}

async function packed(world: InstallWorld, options?: Partial<PackOptions>): Promise<PackReport> {
  const outcome = await pack(world, options);
  if (!outcome.ok) throw new Error(`${outcome.fault.message} ${outcome.fault.hint}`);
  return outcome;
}

async function fault(world: InstallWorld, options?: Partial<PackOptions>): Promise<string> {
  const outcome = await pack(world, options);
  if (outcome.ok) throw new Error("It was packed.");
  return `${outcome.fault.code}: ${outcome.fault.message}`;
}

function createPluginWorld(): InstallWorld {
  const world = createInstallWorld();
  writeSkills(world);
  return world;
}

describe("a plugin", () => {
  test.each(["plugin", "plugin.tar.gz"])(
    "written to %s is installed with the same content",
    async (output) => {
      const world = createPluginWorld();
      const report = await packed(world, { output });
      const metier = await world.metier();
      const { installed } = resultOf(
        await metier.install({ source: `./${output}`, skills: ["pdf", "report"], yes: true }),
      );
      const digests = Object.fromEntries(installed.map(({ name, digest }) => [name, digest]));
      expect(Object.keys(digests).sort()).toEqual(["pdf", "report"]);
      for (const { name, identity } of report.skills) {
        expect(identity).toBe(digests[name]);
        expect(identifyFolder(join(world.project, "skills", name))).toMatchObject({
          value: { digest: identity },
        });
      }
    },
  );

  test("has a manifest with the fields of the standard, in its order", async () => {
    const world = createPluginWorld();
    await packed(world, {
      license: "MIT",
      version: "1.2.0",
      description: "Tools of a team.",
      author: readAuthor("Ada L. <ada@example.com> (https://example.com)"),
      homepage: "https://example.com/tools",
      repository: "https://example.com/tools.git",
      keywords: ["pdf"],
      extensions: { "com.example.client": { setting: true } },
    });
    const text = readText(world.project, "plugin/plugin.json");
    expect(Object.keys(JSON.parse(text))).toEqual([
      ...["$schema", "name", "version", "description", "author", "homepage"],
      ...["repository", "license", "keywords", "extensions"],
    ]);
    expect(JSON.parse(text)).toMatchObject({
      $schema: "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json",
      author: { name: "Ada L.", email: "ada@example.com", url: "https://example.com" },
    });
  });

  test("begins with a `plugin.json`, over which options go", async () => {
    const world = createPluginWorld();
    world.write({ "project/plugin.json": JSON.stringify({ name: "old", version: "1.0.0", license: "MIT" }) });
    const { plugin } = await packed(world, {
      manifestFile: "plugin.json",
      name: undefined,
      version: "2.0.0",
    });
    expect(plugin).toMatchObject({ name: "old", version: "2.0.0", license: "MIT" });
  });

  test("of one skill is called and described as that is", async () => {
    const world = createInstallWorld();
    world.write({ "project/skills/pdf/SKILL.md": skill("pdf", 'license: MIT\nmetadata:\n  version: "1.2"') });
    const { plugin } = await packed(world, { name: undefined });
    expect(plugin).toMatchObject({
      name: "pdf",
      description: "The pdf skill.",
      version: "1.2",
      license: "MIT",
    });
  });

  test("has the same bytes as an archive, wherever and whenever it is packed", async () => {
    const [one, two] = [createPluginWorld(), createPluginWorld()];
    await packed(one, { output: "a.tgz" });
    await packed(two, { output: "b/c.tar.gz", skills: ["skills/report", "skills/pdf"] });
    const bytes = readFileSync(join(one.project, "a.tgz"));
    expect(readFileSync(join(two.project, "b/c.tar.gz")).equals(bytes)).toBe(true);
  });

  test("takes the MCP servers of a file, and adds what a `command` alone tells", async () => {
    const world = createPluginWorld();
    const servers = {
      local: { command: "npx", args: ["-y", "tool"], cwd: "./data" },
      far: { type: "streamable-http", url: "https://example.com/mcp", headers: { "X-Tenant": "public" } },
    };
    world.write({ "project/.mcp.json": JSON.stringify({ mcpServers: servers }) });
    const report = await packed(world, { mcpFile: ".mcp.json" });
    expect(report.servers).toEqual(["far", "local"]);
    expect(JSON.parse(readText(world.project, "plugin/mcp.json"))).toEqual({
      $schema: "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json",
      mcpServers: { local: { type: "stdio", ...servers.local }, far: servers.far },
    });
  });

  test("replaces an older plugin only when it is told to, and never another folder", async () => {
    const world = createPluginWorld();
    await packed(world);
    expect(await fault(world)).toContain("publish.taken");
    await packed(world, { force: true, version: "2" });
    expect(readText(world.project, "plugin/plugin.json")).toContain('"version": "2"');
    world.write({ "project/mine/notes.md": "x" });
    expect(await fault(world, { output: "mine", force: true })).toContain("is not a plugin");
    expect(existsSync(join(world.project, "mine/notes.md"))).toBe(true);
  });

  test("leaves out the plugin of before when everything around it is packed again", async () => {
    const world = createPluginWorld();
    await packed(world, { skills: [] });
    expect((await packed(world, { skills: [], force: true })).skills).toHaveLength(2);
  });
});

describe("no plugin is written", () => {
  test.each([
    ["a--b", /name/],
    ["Team", /name/],
    ["a..b", /name/],
    [".a", /name/],
    ["a".repeat(65), /name/],
  ])("under the name %s", async (name, reason) => {
    const world = createPluginWorld();
    expect(await fault(world, { name })).toMatch(reason);
    expect(existsSync(join(world.project, "plugin"))).toBe(false);
  });

  test("without a name, with fields that the standard does not have, or as another archive", async () => {
    const world = createPluginWorld();
    expect(await fault(world, { name: undefined })).toContain("needs a name");
    world.write({ "project/plugin.json": JSON.stringify({ name: "old", hooks: {} }) });
    expect(await fault(world, { manifestFile: "plugin.json" })).toContain("hooks");
    expect(await fault(world, { output: "plugin.zip" })).toContain("publish.usage");
  });

  test("with a skill that must not be published", async () => {
    const world = createPluginWorld();
    writeFileSync(join(world.project, "skills/report/key.md"), `${TOKEN}\n`);
    chmodSync(join(world.project, "skills/report/key.md"), 0o600);
    expect(await fault(world)).toContain("publish.refused");
  });

  test.each([
    [{ a: { type: "http", url: "https://example.com" } }, /streamable-http/],
    [{ a: { type: "streamable-http", url: "http://example.com" } }, /neither encrypted/],
    [{ a: { type: "sse", url: "https://u:p@example.com" } }, /password/],
    [{ a: { type: "sse", url: "https://example.com", headers: { A: "1", a: "2" } } }, /twice/],
    [{ a: { command: "npx tool" } }, /command/],
    [{ a: { command: "../tool" } }, /command/],
    [{ a: { command: "tool", cwd: "/etc" } }, /cwd/],
    [{ a: { command: "tool", env: { PLUGIN_ROOT: "x" } } }, /PLUGIN_ROOT|env/],
    [{ a: { command: "tool", env: { KEY: TOKEN } } }, /GitHub token/],
    [{ a: { command: "tool", extra: 1 } }, /extra/],
  ])("with the MCP server %j", async (mcpServers, reason) => {
    const world = createPluginWorld();
    world.write({ "project/mcp.json": JSON.stringify({ mcpServers }) });
    expect(await fault(world, { mcpFile: "mcp.json" })).toMatch(reason);
  });
});
