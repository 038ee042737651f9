import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "@metier/base/errors";
import { describe, expect, test } from "vitest";
import { createWorld, onlyDiagnostic } from "../../../../test/support/config-world.ts";
import { verifies } from "../../../../test/support/verifies.ts";

const grantAll = { projectGrant: () => true };

describe("layers", () => {
  test("without any file the defaults hold, and nothing is said", async () => {
    const { config, diagnostics, layers, origins, projectFile } = await createWorld().load();
    expect(diagnostics).toEqual([]);
    expect(projectFile).toBeUndefined();
    expect(layers.map(({ layer, status }) => `${layer} ${status}`)).toEqual([
      "default loaded",
      "user absent",
      "project absent",
      "environment absent",
      "option absent",
      "policy absent",
    ]);
    expect(config.skills).toEqual({
      paths: [],
      trustedPaths: [],
      disabled: [],
      allow: [],
      allowWithin: [],
      deny: [],
      order: ["remote", "bundled", "integration", "installed", "custom", "user", "project"],
      autoDiscover: true,
      disabledBundled: [],
      enabledBundled: [],
      nested: false,
      namespaceTools: true,
      defaultExecution: "auto",
      dynamicContext: false,
      secretEnv: "allow",
      scriptTimeoutMs: 60_000,
      plugins: [],
      defaults: { allowChatIds: [] },
      settings: {},
    });
    const reach = { network: [], read: [], write: [], programs: [] };
    const limits = { memoryMb: 4096, processes: 256, workMb: 2048 };
    expect(config.sandbox).toEqual({ backend: "auto", ...reach, ...limits });
    expect(origins.get("skills.order")).toMatchObject({ layer: "default", overridden: [] });
  });

  test("each layer beats the one below it, and the value knows every layer it replaced", async () => {
    const world = createWorld({
      "home/.ash/config.toml": "[skills]\nscript_timeout = 1\n",
      user: '[skills]\npreset = "ash"\nscript-timeout-ms = 2\n',
      project: "\n[skills]\nscript-timeout-ms = 3\n",
      policy: "[skills]\nscript-timeout-ms = 5\n",
    });
    const environment = { METIER_SKILLS__SCRIPT_TIMEOUT_MS: "4" };
    const overrides = [{ where: "--timeout", values: { skills: { scriptTimeoutMs: 6 } } }];
    const { config, origins, diagnostics } = await world.load({ ...grantAll, environment, overrides });
    expect(diagnostics).toEqual([]);
    expect(config.skills.scriptTimeoutMs).toBe(5);
    expect(origins.get("skills.script-timeout-ms")).toEqual({
      layer: "policy",
      where: world.policyFile,
      line: 2,
      value: 5,
      tightens: true,
      overridden: [
        { value: 6, origin: { layer: "option", where: "--timeout" } },
        { value: 4, origin: { layer: "environment", where: "METIER_SKILLS__SCRIPT_TIMEOUT_MS" } },
        { value: 3, origin: { layer: "project", where: world.projectFile, line: 3 } },
        { value: 2, origin: { layer: "user", where: world.userFile, line: 3 } },
        { value: 1, origin: { layer: "preset", where: join(world.home, ".ash/config.toml"), line: 2 } },
        { value: 60_000, origin: { layer: "default" } },
      ],
    });
  });

  test("an override may add to a list instead of replacing it", async () => {
    const world = createWorld({ user: '[skills]\npaths = ["/a", "/b"]\n' });
    const values = { skills: { paths: ["/b", "sub"] } };
    const added = await world.load({ overrides: [{ where: "--path", values, append: true }] });
    const replaced = await world.load({ overrides: [{ where: "--path", values }] });
    expect(added.config.skills.paths).toEqual(["/a", "/b", join(world.project, "sub")]);
    expect(replaced.config.skills.paths).toEqual(["/b", join(world.project, "sub")]);
  });

  test("a config is frozen, and names like `constructor` are only names", async () => {
    const world = createWorld({ user: "[skills.x]\nenabled = true\n" });
    const { config } = await world.load();
    expect(Object.isFrozen(config.skills.settings.x?.env)).toBe(true);
    expect(config.skills.settings.constructor).toBeUndefined();
  });
});

describe("keys", () => {
  verifies(
    167,
    "kebab, snake and camel case and the other systems' names are accepted everywhere",
    async () => {
      const spellings = [
        [
          "skills-dirs",
          "user-skills-dir",
          "custom-paths",
          "auto-discover",
          "namespace-tools",
          "trusted-paths",
        ],
        [
          "skills_dirs",
          "user_skills_dir",
          "custom_paths",
          "auto_discover",
          "namespace_tools",
          "trusted_paths",
        ],
        ["skillsDirs", "userSkillsDir", "customPaths", "autoDiscover", "namespaceTools", "trustedPaths"],
      ];
      for (const [dirs, userDir, custom, discover, namespace, trusted] of spellings) {
        const user = `[skills]\n${dirs} = [".mamba/skills"]\n${userDir} = "~/mine"\n${custom} = ["/shared"]\n${discover} = false\n${namespace} = false\n${trusted} = ["/shared"]\n`;
        const world = createWorld({ user });
        const { config, diagnostics } = await world.load();
        expect(diagnostics).toEqual([]);
        expect(config.skills).toMatchObject({
          projectDirs: [".mamba/skills"],
          userDir: join(world.home, "mine"),
          paths: ["/shared"],
          autoDiscover: false,
          namespaceTools: false,
          trustedPaths: ["/shared"],
        });
      }
    },
  );

  test("an unknown key is an error with a suggestion, and the rest of the file counts", async () => {
    const world = createWorld({ user: '[skills]\nnested = true\n\ntrusted-path = ["/x"]\n' });
    const loaded = await world.load();
    expect(onlyDiagnostic(loaded)).toEqual({
      code: "config.unknown-key",
      severity: "error",
      message: "`skills.trusted-path` is not a config key.",
      hint: "Did you mean `trusted-paths`?",
      path: world.userFile,
      line: 4,
      column: 1,
    });
    expect(loaded.config.skills.nested).toBe(true);
    expect(loaded.config.skills.settings).toEqual({});
  });

  test("an unknown section, an unknown key of a model and a section that is no table are errors", async () => {
    const world = createWorld({
      user: 'sandbox = 3\n[skill]\n[models]\nfast = "x"\n[models.smart]\nmodl = "x"\n',
    });
    const { diagnostics } = await world.load();
    expect(diagnostics.map(({ message, hint }) => `${message} ${hint}`)).toEqual([
      "`sandbox` must be a table. Fix the value; until then it is ignored.",
      "`skill` is not a config key. Did you mean `skills`?",
      "`models.fast` must be a table. Fix the value; until then it is ignored.",
      "`models.smart.modl` is not a config key. Did you mean `model`?",
    ]);
  });

  test("a setting's name is reserved: it cannot be the table of a skill", async () => {
    const loaded = await createWorld({ user: "[skills.disabled]\nenabled = true\n" }).load();
    expect(onlyDiagnostic(loaded)).toMatchObject({
      code: "config.invalid-value",
      message: "`skills.disabled` is a table; allowed: a list of strings.",
      hint: "`disabled` is a setting of `[skills]`, so it cannot be a skill's name here.",
    });
  });

  test("a wrong value is an error that says what is allowed, and the layer below holds", async () => {
    const world = createWorld({ user: '[skills]\ndefault-execution = "inlined"\nscript-timeout-ms = -1\n' });
    const { config, diagnostics } = await world.load();
    expect(diagnostics.map(({ message, line }) => `${line}: ${message}`)).toEqual([
      '2: `skills.default-execution` is "inlined"; allowed: `auto`, `inline`, `isolated`.',
      "3: `skills.script-timeout-ms` is -1; allowed: a whole number of milliseconds from 1 to 86400000.",
    ]);
    expect(config.skills).toMatchObject({ defaultExecution: "auto", scriptTimeoutMs: 60_000 });
  });

  test("two spellings with the same value are fine; with different values neither counts", async () => {
    const same = createWorld({ user: "[skills]\nauto_discover = false\nautoDiscover = false\n" });
    expect(await same.load()).toMatchObject({ diagnostics: [], config: { skills: { autoDiscover: false } } });
    const different = createWorld({
      user: '[skills]\ncustom_paths = ["/a"]\nnested = true\npaths = ["/b"]\n',
    });
    const loaded = await different.load();
    expect(onlyDiagnostic(loaded)).toMatchObject({
      code: "config.spelled-twice",
      severity: "error",
      line: 4,
    });
    expect(loaded.config.skills).toMatchObject({ paths: [], nested: true });
  });

  test("relative paths start at the folder that holds `.metier`, and `~` is the home", async () => {
    const world = createWorld({
      user: '[skills]\npaths = ["team", "~/own"]\n',
      "project/.metier/config.yaml":
        "skills:\n  trusted-paths: [vendor/skills]\n  project_dirs: [tools/skills]\n",
    });
    const { config } = await world.load(grantAll);
    expect(config.skills.paths).toEqual([join(world.home, "team"), join(world.home, "own")]);
    expect(config.skills.trustedPaths).toEqual([join(world.project, "vendor/skills")]);
    expect(config.skills.projectDirs).toEqual(["tools/skills"]);
  });
});

describe("a skill's table", () => {
  verifies([161, 162], "holds settings, its environment exactly as written, and its provider", async () => {
    const user = [
      "[skills.defaults]",
      "allow_chat_ids = [1]",
      "[skills.mail]",
      'model = "fast"',
      "enabled = true",
      'allow_chat_ids = ["7"]',
      'MAIL_TOKEN = "t"',
      'MODEL = "not the model"',
      'REGION = { value = "eu", secret = false }',
      "[skills.mail.capability_provider]",
      "enabled = true",
      'namespace = "mail"',
      'command = ["mail-bridge", "serve"]',
      "timeout_seconds = 12",
      "[capabilities.providers.mail]",
      'command = "other-bridge --port 1"',
    ].join("\n");
    const { config, diagnostics } = await createWorld({ user }).load();
    expect(diagnostics).toEqual([]);
    expect(config.skills.defaults.allowChatIds).toEqual(["1"]);
    expect(config.skills.settings.mail).toEqual({
      enabled: true,
      model: "fast",
      allowChatIds: ["7"],
      env: {
        MAIL_TOKEN: { value: "t", secret: true },
        MODEL: { value: "not the model", secret: true },
        REGION: { value: "eu", secret: false },
      },
      capabilityProvider: {
        enabled: true,
        namespace: "mail",
        command: ["mail-bridge", "serve"],
        timeoutSeconds: 12,
      },
    });
    expect(config.capabilities.providers.mail).toEqual({ command: ["other-bridge", "--port", "1"] });
  });

  verifies(162, "does not take a variable in another case, and says how variables are written", async () => {
    const loaded = await createWorld({ user: '[skills.mail]\nmail_token = "s3cret"\n' }).load();
    const diagnostic = onlyDiagnostic(loaded);
    expect(diagnostic.message).toBe("`skills.mail.mail_token` is not a config key.");
    expect(diagnostic.hint).toContain("Write the skill's variables in UPPER_CASE.");
    expect(JSON.stringify(loaded)).not.toContain("s3cret");
  });

  test("by a reserved name, and plugins with unknown keys, show nothing of what stands in them", async () => {
    const user = '[[skills.plugins]]\ntoken = "s3cret"\n[skills.paths]\nTOKEN = "s3cret"\n';
    const { diagnostics } = await createWorld({ user }).load();
    expect(diagnostics.map(({ message }) => message.split(";")[0])).toEqual([
      "`skills.plugins` is a list with tables",
      "`skills.paths` is a table",
    ]);
  });

  test("of endless length is cut in messages", async () => {
    const user = `[models.${"x".repeat(5000)}]\n${"y".repeat(5000)} = 1\n`;
    expect(onlyDiagnostic(await createWorld({ user }).load()).message.length).toBeLessThan(200);
  });

  test("shows where a variable is fetched, which is no secret", async () => {
    const user =
      '[skills.mail]\nTOKEN = { command = ["pass", "show", "mail"] }\nKEY = { keychain = "mail/me" }\n';
    const { origins, config } = await createWorld({ user }).load();
    expect(origins.get("skills.mail.TOKEN")?.value).toEqual({ command: ["pass", "show", "mail"] });
    expect(origins.get("skills.mail.KEY")?.value).toEqual({ keychain: { service: "mail", account: "me" } });
    expect(config.skills.settings.mail?.env.TOKEN).toEqual({
      command: ["pass", "show", "mail"],
      secret: true,
    });
  });

  test("keeps secrets out of origins and messages", async () => {
    const user =
      '[skills.mail]\nTOKEN = "s3cret"\nOTHER = ["s3cret"]\n[models.default]\napi-key = "s3cret"\nbase-url = "https://me:s3cret@host/"\n';
    const environment = { METIER_SKILLS__MAIL__TOKEN: "t0ken" };
    const { origins, diagnostics, config } = await createWorld({ user }).load({ environment });
    const shown = JSON.stringify([[...origins], diagnostics]);
    expect(shown).not.toMatch(/s3cret|t0ken/);
    expect(origins.get("skills.mail.TOKEN")).toMatchObject({
      value: "••••",
      overridden: [{ value: "••••" }],
    });
    expect(origins.get("models.default.base-url")?.value).toBe("https://••••@host/");
    expect(diagnostics[0]?.message).toContain("is ••••; allowed:");
    expect(config.skills.settings.mail?.env.TOKEN).toEqual({ value: "t0ken", secret: true });
    expect(config.models.default?.apiKey).toBe("s3cret");
  });
});

describe("files", () => {
  test.each([
    ["toml", '[skills]\nnested = true\nname = "s3cret\n', 3],
    ["yaml", "skills:\n  nested: true\n  name: 'a' s3cret\n", 3],
    ["json", '{\n  "skills": {\n    "nested": s3cret }}', 3],
  ])(
    "a broken project file (%s) is an error with its line, and the rest still works",
    async (ending, text, line) => {
      const world = createWorld({
        user: "[skills]\nnested = true\n",
        [`project/.metier/config.${ending}`]: text,
      });
      const loaded = await world.load(grantAll);
      const file = join(world.project, `.metier/config.${ending}`);
      expect(onlyDiagnostic(loaded)).toMatchObject({
        code: "config.broken",
        severity: "error",
        path: file,
        line,
      });
      expect(onlyDiagnostic(loaded).message).toContain(
        `\`${file}\` is not valid ${ending.toUpperCase()} at line ${line}`,
      );
      expect(JSON.stringify(loaded.diagnostics)).not.toContain("s3cret");
      expect(loaded.layers).toContainEqual({ layer: "project", where: file, status: "broken" });
      expect(loaded.config.skills.nested).toBe(true);
    },
  );

  test("a broken user file does not hide the project's", async () => {
    const world = createWorld({ user: "[skills\n", project: '[skills]\ndisabled = ["gh"]\n' });
    const loaded = await world.load();
    expect(onlyDiagnostic(loaded)).toMatchObject({ code: "config.broken", path: world.userFile, line: 1 });
    expect(loaded.config.skills.disabled).toEqual(["gh"]);
  });

  test("a folder, a huge file, bytes that are no text and a dangling link are reported, not read", async () => {
    const cases: readonly ((file: string) => void)[] = [
      (file) => mkdirSync(file),
      (file) => writeFileSync(file, "#".repeat(300_000)),
      (file) => writeFileSync(file, Buffer.from([0x5b, 0xff, 0xfe])),
      (file) => symlinkSync("/nowhere/at/all", file),
    ];
    for (const make of cases) {
      const world = createWorld({ "home/.metier/x": "" });
      make(world.userFile);
      const { path, severity, hint } = onlyDiagnostic(await world.load());
      expect({ path, severity }).toEqual({ path: world.userFile, severity: "error" });
      expect(hint).toContain("skipped");
    }
  });

  test.skipIf(process.getuid?.() === 0)("an unreadable file is reported", async () => {
    const world = createWorld({ user: "" });
    chmodSync(world.userFile, 0);
    expect(onlyDiagnostic(await world.load())).toMatchObject({ code: "config.unreadable" });
  });

  test("a user file in another format is pointed out, since it is not read", async () => {
    const world = createWorld({ "home/.metier/config.yaml": "skills:\n  nested: true\n" });
    const loaded = await world.load();
    expect(onlyDiagnostic(loaded)).toMatchObject({
      code: "config.not-read",
      path: join(world.home, ".metier/config.yaml"),
    });
    expect(loaded.config.skills.nested).toBe(false);
  });

  test("`--config` replaces the project's file and is the user's word; credentials stay in the user file", async () => {
    const world = createWorld({
      project: "[skills]\nnested = true\n",
      "home/work/ci.json": '{"skills": {"paths": ["vendor"]}, "models": {"default": {"api-key": "k"}}}',
    });
    const loaded = await world.load({ configFile: "~/work/ci.json" });
    const file = join(world.home, "work/ci.json");
    expect(loaded.config.skills).toMatchObject({ nested: false, paths: [join(world.home, "work/vendor")] });
    expect(loaded.projectFile).toMatchObject({ path: file, granted: true });
    expect(onlyDiagnostic(loaded)).toMatchObject({ code: "config.user-only", path: file, line: 1 });
    expect(loaded.config.models.default?.apiKey).toBeUndefined();
  });

  test("`--config` that is missing or broken throws; the user file itself is not read twice", async () => {
    const world = createWorld({ user: '[models.default]\napi-key = "k"\n', "project/bad.toml": "[x\n" });
    await expect(world.load({ configFile: "none.toml" })).rejects.toThrow(ConfigError);
    await expect(world.load({ configFile: "none.toml" })).rejects.toThrow(join(world.project, "none.toml"));
    await expect(world.load({ configFile: "bad.toml" })).rejects.toThrow("line 1");
    expect((await world.load({ configFile: world.userFile })).diagnostics).toEqual([]);
  });
});
