import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld } from "../../../../test/support/config-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import { explainConfig, formatKeyPath, parseKeyPath } from "../../src/config/show-config.ts";
import { checkSkillTables, skillSettings } from "../../src/config/skill-settings.ts";

describe("explaining the config", () => {
  test("names the layer, the file and the line of each value, and what it replaced", async () => {
    const world = createWorld({
      user: '[skills]\nnested = true\n[skills.mail]\nTOKEN = "s3cret"\nREGION = { value = "eu", secret = false }\n',
      project: '[skills]\ndisabled = ["gh"]\nallow = ["a-*"]\n',
      "home/.ash/config.toml": '[skills.mail]\nTOKEN = "older s3cret"\n',
      policy: '[skills]\nallow = ["*-b"]\nnested = false\n',
    });
    const rows = explainConfig(
      await world.load({
        preset: "ash",
        environment: { METIER_TOOLS__BASH: "deny" },
        overrides: [{ where: "--path", values: { skills: { paths: ["/x"] } } }],
      }),
    );
    const row = (key: string): unknown => rows.find((candidate) => candidate.key === key);
    expect(row("skills.nested")).toEqual({
      key: "skills.nested",
      value: false,
      origin: `policy ${world.policyFile}:3`,
      tightens: true,
      overridden: [
        { value: true, origin: `user file ${world.userFile}:2` },
        { value: false, origin: "default" },
      ],
    });
    expect(row("skills.disabled")).toMatchObject({
      origin: `project file ${world.projectFile}:2`,
      tightens: true,
    });
    expect(row("skills.allow")).toMatchObject({
      value: [["a-*"], ["*-b"]],
      overridden: [{ value: ["a-*"] }, { value: [] }],
    });
    expect(row("skills.default-execution")).toMatchObject({ value: "isolated", origin: "preset ash" });
    expect(row("skills.paths")).toMatchObject({ value: ["/x"], origin: "--path" });
    expect(row("tools.bash")).toMatchObject({ origin: "environment METIER_TOOLS__BASH" });
    expect(row("skills.mail.REGION")).toMatchObject({ value: "eu" });
    expect(row("skills.mail.TOKEN")).toMatchObject({
      value: "••••",
      overridden: [{ value: "••••", origin: `preset ${join(world.home, ".ash/config.toml")}:2` }],
    });
    expect(JSON.stringify(rows)).not.toContain("s3cret");
  });

  test("lists keys in the order of the table, names in their own", async () => {
    const world = createWorld({ user: "[skills.b]\nenabled = true\n[skills.a]\nenabled = true\n" });
    const keys = explainConfig(await world.load()).map(({ key }) => key);
    expect(keys[0]).toBe("skills.paths");
    expect(keys.filter((key) => key.endsWith(".enabled"))).toEqual(["skills.a.enabled", "skills.b.enabled"]);
  });
});

describe("the settings of one skill", () => {
  const user = [
    '[skills.defaults]\nallow-chat-ids = ["1"]',
    '[skills.own]\nallow-chat-ids = ["2"]\nmodel = "fast"',
    "[skills.open]\nallow-chat-ids = []\nenabled = false",
    '[skills.mail.capability-provider]\ncommand = ["a"]\nnamespace = "mail"',
    '[capabilities.providers.mail]\ncommand = ["b"]',
  ].join("\n");

  test("inherit the default chats; an own list replaces them, and an empty one lifts them", async () => {
    const { config } = await createWorld({ user }).load();
    expect(skillSettings(config, "unheard-of")).toEqual({ allowChatIds: ["1"], env: {} });
    expect(skillSettings(config, "own")).toEqual({ allowChatIds: ["2"], env: {}, model: "fast" });
    expect(skillSettings(config, "open")).toEqual({ allowChatIds: [], env: {}, enabled: false });
    expect(skillSettings(config, "constructor")).toEqual({ allowChatIds: ["1"], env: {} });
  });

  verifies(165, "take the provider from `[capabilities.providers]` first", async () => {
    const { config } = await createWorld({ user }).load();
    expect(skillSettings(config, "mail").capabilityProvider).toEqual({ command: ["b"], namespace: "mail" });
  });
});

describe("tables that name no skill", () => {
  test("are warned of once, with the line and a near name", async () => {
    const user =
      "[skills.defaults]\nallow-chat-ids = []\n[skills.reserch]\nenabled = true\nmodel = 'x'\n[skills.gh]\nenabled = true\n[skills.zzz]\nKEY = '1'\n";
    const world = createWorld({ user });
    const found = checkSkillTables(await world.load(), () => new Set(["research", "gh"]));
    expect(found).toEqual([
      {
        code: "config.unknown-skill",
        severity: "warning",
        message: "`[skills.reserch]` does not match any skill.",
        path: world.userFile,
        line: 4,
        hint: "Did you mean `research`?",
      },
      expect.objectContaining({ line: 9, hint: "Fix the name, or remove the table." }),
    ]);
  });

  test("are told where their skill went, if it came with Metier once", async () => {
    const world = createWorld({
      user: '[skills]\nenabled-bundled = ["desk", "gog"]\n[skills.desk]\nenabled = true\n',
    });
    const loaded = await world.load();
    const moved = {
      code: "config.no-longer-bundled",
      severity: "warning",
      path: world.userFile,
      hint: "`desk` no longer comes with Metier. It is now an example: see `examples/desk` in the repository.",
    };
    const message = (key: string) => `${key} names the skill \`desk\`, which is no longer bundled.`;
    const inList = { ...moved, line: 2, message: message("`skills.enabled-bundled`") };
    expect(checkSkillTables(loaded, () => new Set(["gog"]))).toEqual([
      inList,
      { ...moved, line: 4, message: message("`[skills.desk]`") },
    ]);
    // Whoever has installed the example has a skill of that name, which is still not a bundled one.
    expect(checkSkillTables(loaded, () => new Set(["desk"]))).toEqual([inList]);
  });
});

describe("dotted paths", () => {
  test.each([
    [["skills", "trusted-paths"], "skills.trusted-paths"],
    [["tools", "bash(git:*)"], 'tools."bash(git:*)"'],
    [["models", 'a."b'], 'models."a.\\"b"'],
  ])("%j is written %s and read back", (segments, text) => {
    expect(formatKeyPath(segments)).toBe(text);
    expect(parseKeyPath(text)).toEqual(segments);
  });

  test.each(["", "a.", ".a", 'a."b', "a b", "a..b"])("%j is no path", (text) => {
    expect(parseKeyPath(text)).toBeUndefined();
  });

  test("single quotes do as well", () => {
    expect(parseKeyPath("tools.'bash(a.b)'")).toEqual(["tools", "bash(a.b)"]);
  });
});
