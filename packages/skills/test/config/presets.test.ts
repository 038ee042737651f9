import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, onlyDiagnostic } from "../../../../test/support/config-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { presetLayout, resolveLayout } from "../../src/clients/clients.ts";
import { PRESETS } from "../../src/config/config.ts";
import { SCOPES } from "../../src/skill/skill-name.ts";

describe("layouts", () => {
  test("Metier's own directories stand in the order other clients, then its own", () => {
    const { projectDirs, userDirs, order } = presetLayout();
    expect(projectDirs).toEqual([".claude/skills", ".agents/skills", ".metier/skills"]);
    expect(userDirs).toEqual(["~/.claude/skills", "~/.agents/skills", "~/.metier/skills"]);
    expect(order).toEqual(SCOPES);
  });

  test.each(PRESETS)("%s orders every scope once", (preset) => {
    expect([...presetLayout(preset).order].sort()).toEqual([...SCOPES].sort());
  });

  test("each preset has its own directories and its own idea of who wins", () => {
    expect(presetLayout("ash")).toMatchObject({
      projectDirs: ["workspace/skills"],
      userDirs: ["~/.ash/skills"],
    });
    const harness = presetLayout("agent-harness");
    expect(harness).toMatchObject({
      projectDirs: [".claude/skills", ".agent/skills"],
      userDirs: ["~/.agent/skills"],
      installedDirs: ["~/.agent/plugins"],
    });
    expect(harness.order.at(-1)).toBe("installed");
    expect(presetLayout("mamba")).toMatchObject({
      projectDirs: [".mamba/skills"],
      userDirs: ["~/.mamba/skills"],
    });
    expect(presetLayout("mamba").order.slice(0, 2)).toEqual(["remote", "custom"]);
    expect(presetLayout("weakincentives")).toMatchObject({
      projectDirs: [],
      userDirs: [],
      installedDirs: [],
    });
  });

  test("the config's directories replace the preset's, and the rest is made absolute", async () => {
    const world = createWorld({ user: '[skills]\npreset = "agent-harness"\nuserDir = "~/mine"\n' });
    const { config } = await world.load();
    expect(resolveLayout(config.skills, world.places)).toEqual({
      projectDirs: [".claude/skills", ".agent/skills"],
      userDirs: [join(world.home, "mine")],
      installedDirs: [join(world.home, ".agent/plugins")],
      order: ["remote", "bundled", "integration", "custom", "user", "project", "installed"],
    });
    const own = createWorld({
      user: '[skills]\nproject-dirs = ["s"]\nplugins-dir = "/p"\norder = ["user"]\n',
    });
    const loaded = await own.load();
    expect(resolveLayout(loaded.config.skills, own.places)).toMatchObject({
      projectDirs: ["s"],
      installedDirs: ["/p"],
      order: ["remote", "bundled", "integration", "installed", "custom", "project", "user"],
    });
    expect(resolveLayout({ ...config.skills, autoDiscover: false }, world.places)).toEqual({
      projectDirs: [],
      userDirs: [],
      installedDirs: [],
      order: config.skills.order,
    });
  });

  test.each([
    ["ash", "isolated"],
    ["mamba", "inline"],
    ["weakincentives", "inline"],
    ["agent-harness", "auto"],
  ] as const)("%s runs skills %s unless the user says otherwise", async (preset, execution) => {
    const world = createWorld();
    const { config } = await world.load({ preset });
    expect(config.skills).toMatchObject({
      preset,
      defaultExecution: execution,
      order: presetLayout(preset).order,
    });
    const environment = { METIER_SKILLS__DEFAULT_EXECUTION: "auto" };
    expect((await world.load({ preset, environment })).config.skills.defaultExecution).toBe("auto");
  });
});

describe("another system's config file", () => {
  verifies(161, "of Ash is read under its preset, below the user's own file", async () => {
    const world = createWorld({
      "home/.ash/config.toml": [
        "[telegram]\ntoken = 's3cret'",
        "[models.fast]\nprovider = 'anthropic'\nmodel = 'small'\ntemperature = 0.5",
        "[skills.mail]\nMAIL_TOKEN = 'a'\nmodel = 'fast'\n[skills.mail.capability_provider]\ncommand = ['bridge']",
      ].join("\n"),
      user: '[skills]\npreset = "ash"\n[skills.mail]\nmodel = "smart"\n',
    });
    const loaded = await world.load();
    expect(loaded.config.skills.settings.mail).toMatchObject({
      model: "smart",
      env: { MAIL_TOKEN: { value: "a" } },
      capabilityProvider: { command: ["bridge"] },
    });
    expect(loaded.config.models.fast).toEqual({ provider: "anthropic", model: "small" });
    expect(onlyDiagnostic(loaded)).toMatchObject({
      code: "config.not-used",
      severity: "info",
      message: "Metier does not know `models.fast.temperature` and ignores it.",
      line: 6,
    });
  });

  verifies(166, "of Agent Harness is read under its preset", async () => {
    const world = createWorld({
      "home/.agent/config.yaml": [
        "model: ignored",
        "skills:",
        "  plugins:",
        '    - {url: "https://example.com/a.git", name: a, enabled: false, installedAt: "2024-01-05T10:30:00Z"}',
        "    - {url: 'https://example.com/b.git', ref: v1}",
        "    - https://example.com/c.git",
        "  pluginsDir: ~/plugins",
        "  userDir: ~/mine",
        "  disabledBundled: [gh]",
        "  enabledBundled: []",
        "  scriptTimeout: 30000",
      ].join("\n"),
    });
    const { config, diagnostics } = await world.load({ preset: "agent-harness" });
    expect(diagnostics).toEqual([]);
    expect(config.skills).toMatchObject({
      pluginsDir: join(world.home, "plugins"),
      userDir: join(world.home, "mine"),
      disabledBundled: ["gh"],
      enabledBundled: [],
      scriptTimeoutMs: 30_000,
      plugins: [
        { url: "https://example.com/a.git", name: "a", enabled: false, installedAt: "2024-01-05T10:30:00Z" },
        { url: "https://example.com/b.git", ref: "v1", enabled: true },
        { url: "https://example.com/c.git", enabled: true },
      ],
    });
  });

  test("that is broken is reported, and the preset holds without it", async () => {
    const world = createWorld({ "home/.ash/config.toml": "[skills\n" });
    const loaded = await world.load({ preset: "ash" });
    expect(onlyDiagnostic(loaded)).toMatchObject({ code: "config.broken", line: 1 });
    expect(loaded.config.skills.defaultExecution).toBe("isolated");
  });
});

/** The founding documents lie beside the repository where it is developed, not in it. */
const SHARED = join(import.meta.dirname, "../../../../shared");

describe.skipIf(!existsSync(SHARED))("the examples of the founding documents (beside the repository)", () => {
  const blocks = (file: string, language: string): readonly string[] =>
    [
      ...readFileSync(join(SHARED, file), "utf8").matchAll(
        new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"),
      ),
    ].map(([, text = ""]) => text);

  test("the blueprint's default config loads without a diagnostic", async () => {
    const [user = ""] = blocks("design.md", "toml");
    expect(user).toContain("[skills]");
    expect((await createWorld({ user }).load()).diagnostics).toEqual([]);
  });

  test("Ash's loads under its preset and as Metier's own", async () => {
    const examples = blocks("seeds/000_00252cfaa656ea93.txt", "toml");
    expect(examples.length).toBeGreaterThan(1);
    for (const text of examples) {
      const ash = await createWorld({ "home/.ash/config.toml": text }).load({ preset: "ash" });
      const own = await createWorld({ user: text }).load();
      expect([...ash.diagnostics, ...own.diagnostics]).toEqual([]);
      expect(own.config.skills.settings).toEqual(ash.config.skills.settings);
      expect(own.config.skills.settings.gog?.capabilityProvider?.timeoutSeconds).toBe(30);
    }
  });

  test("Agent Harness's loads under its preset and as Metier's own", async () => {
    const examples = blocks("seeds/002_8fa60805edb98101.txt", "yaml").filter((text) =>
      text.startsWith("skills:"),
    );
    expect(examples.length).toBe(1);
    for (const text of examples) {
      const harness = await createWorld({ "home/.agent/config.yaml": text }).load({
        preset: "agent-harness",
      });
      const world = createWorld({ "project/.metier/config.yaml": text });
      const own = await world.load({ projectGrant: () => true });
      expect([...harness.diagnostics, ...own.diagnostics]).toEqual([]);
      expect(own.config.skills.plugins).toEqual(harness.config.skills.plugins);
      expect(own.config.skills.disabledBundled).toEqual(["gh"]);
    }
  });
});
