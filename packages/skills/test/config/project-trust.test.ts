import { createHash } from "node:crypto";
import { chownSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, onlyDiagnostic } from "../../../../test/support/config-world.ts";
import { fileText, SAMPLE_FIELDS } from "./sample-values.ts";

const FILE = "project/.metier/config.json";

/** The sample values that loosen something; all other samples of `tighten` rows tighten. */
const LOOSENING = new Set(["skills.nested", "skills.namespace-tools", "sandbox.network"]);

describe("a project file without a grant", () => {
  test.each(SAMPLE_FIELDS.map((sample) => [sample.segments.join("."), sample] as const))(
    "%s does what the table says",
    async (key, sample) => {
      const world = createWorld({ [FILE]: fileText(sample) });
      const { config, origins, diagnostics, layers } = await world.load();
      const { config: without } = await createWorld().load();
      const isTaken = sample.field.project === "tighten" && !LOOSENING.has(sample.field.path);
      expect(origins.get(key)?.layer === "project").toBe(isTaken);
      const status = layers.find(({ layer }) => layer === "project")?.status;
      if (isTaken) {
        expect(diagnostics).toEqual([]);
        expect(status).toBe("loaded");
        return;
      }
      expect(config).toEqual(without);
      expect(status).toBe("ignored");
      const diagnostic = onlyDiagnostic({ diagnostics });
      expect(diagnostic.code).toBe(
        sample.field.project === "never" ? "config.user-only" : "config.not-granted",
      );
      expect(diagnostic.severity).toBe("warning");
      expect(diagnostic.message).toContain(`\`${key}`);
      expect(diagnostic.path).toBe(join(world.root, FILE));
      expect(diagnostic.line).toBe(1 + sample.segments.length);
      expect(diagnostic.hint).toContain(world.userFile);
      expect(JSON.stringify(diagnostics)).not.toContain("s3cret");
    },
  );

  test("tightens what the user set, key by key, and says what it may not do", async () => {
    const world = createWorld({
      user: [
        '[skills]\ndisabled = ["a"]\nallow = ["pdf-*", "mail"]\nscript-timeout-ms = 100',
        '[skills.defaults]\nallow-chat-ids = ["1", "2"]',
        "[skills.mail]\nenabled = false",
        '[tools]\nbash = "deny"\nweb = "allow"\n"bash(git:*)" = "ask"',
        '[sandbox]\nbackend = "none"\nnetwork = ["*.example.com", "other.org"]',
      ].join("\n"),
      project: [
        '[skills]\ndisabled = ["b", "a"]\nallow = ["*-forms"]\nscript-timeout-ms = 200',
        '[skills.defaults]\nallow-chat-ids = ["2", "3"]',
        "[skills.mail]\nenabled = true",
        '[skills.news]\nallow-chat-ids = ["9"]',
        '[tools]\nbash = "ask"\nweb = "ask"\n"bash(git:*)" = "deny"\nread = "allow"',
        '[sandbox]\nbackend = "auto"\nnetwork = ["api.example.com", "evil.org"]',
      ].join("\n"),
    });
    const { config, diagnostics, layers } = await world.load();
    expect(config.skills).toMatchObject({
      disabled: ["a", "b"],
      allow: ["pdf-*", "mail"],
      allowWithin: [["*-forms"]],
      scriptTimeoutMs: 100,
      defaults: { allowChatIds: ["2"] },
      settings: { mail: { enabled: false } },
    });
    expect(config.skills.settings.news).toBeUndefined();
    expect(config.tools).toEqual({ bash: "deny", web: "ask", "bash(git:*)": "deny" });
    expect(config.sandbox).toMatchObject({ backend: "auto", network: ["api.example.com"] });
    expect(diagnostics.map(({ message }) => message.split("`")[1])).toEqual([
      "skills.script-timeout-ms = 200",
      'skills.defaults.allow-chat-ids = ["2","3"]',
      "skills.mail.enabled = true",
      'skills.news.allow-chat-ids = ["9"]',
      'tools.bash = "ask"',
      'tools.read = "allow"',
      'sandbox.network = ["api.example.com","evil.org"]',
    ]);
    expect(layers).toContainEqual({ layer: "project", where: world.projectFile, status: "partly-ignored" });
  });

  test("cannot lift a chat restriction, neither with an empty list nor with other chats", async () => {
    const world = createWorld({
      user: '[skills.defaults]\nallow-chat-ids = ["1"]\n[skills.mail]\nallow-chat-ids = ["2"]\n',
      project: '[skills.defaults]\nallow-chat-ids = []\n[skills.mail]\nallow-chat-ids = ["3"]\n',
    });
    const { config, diagnostics } = await world.load();
    expect(config.skills.defaults.allowChatIds).toEqual(["1"]);
    expect(config.skills.settings.mail?.allowChatIds).toEqual(["2"]);
    expect(diagnostics).toHaveLength(2);
  });

  test("repeating what the user set is not worth a word", async () => {
    const text = '[skills]\nnested = true\n[tools]\nbash = "allow"\n';
    expect((await createWorld({ user: text, project: text }).load()).diagnostics).toEqual([]);
  });

  test("cannot choose a preset, so that none of its files are read", async () => {
    const world = createWorld({
      project: '[skills]\npreset = "ash"\n',
      "home/.ash/config.toml": "[skills]\nnested = true\n",
    });
    const { config, layers } = await world.load();
    expect(config.skills.preset).toBeUndefined();
    expect(config.skills.nested).toBe(false);
    expect(layers.some(({ layer }) => layer === "preset")).toBe(false);
  });
});

describe("a granted project file", () => {
  test.each(SAMPLE_FIELDS.map((sample) => [sample.segments.join("."), sample] as const))(
    "%s counts unless it is a credential",
    async (key, sample) => {
      const world = createWorld({ [FILE]: fileText(sample) });
      const { origins, diagnostics } = await world.load({ projectGrant: () => true });
      const isCredential = sample.field.project === "never";
      expect(origins.get(key)?.layer === "project").toBe(!isCredential);
      expect(diagnostics.map(({ code }) => code)).toEqual(isCredential ? ["config.user-only"] : []);
    },
  );

  test("is asked for with the file and the digest of what was read", async () => {
    const world = createWorld({ project: "[skills]\nnested = true\n" });
    const sha256 = createHash("sha256").update(readFileSync(world.projectFile)).digest("hex");
    const asked: unknown[] = [];
    const { projectFile, config } = await world.load({
      projectGrant: (...question) => asked.push(question) > 0,
    });
    expect(asked).toEqual([[world.projectFile, sha256]]);
    expect(projectFile).toEqual({ path: world.projectFile, sha256, granted: true });
    expect(config.skills.nested).toBe(true);
  });
});

describe("which project file is read", () => {
  const text = (name: string): string => `[skills]\ndisabled = ["${name}"]\n`;

  test("the nearest one from the working directory to the repository root", async () => {
    const world = createWorld({
      project: text("root"),
      "project/a/.metier/config.toml": text("near"),
      "project/a/b/x": "",
    });
    const inner = await world.load({ cwd: join(world.project, "a/b") });
    expect(inner.config.skills.disabled).toEqual(["near"]);
    const outer = await world.load({ cwd: world.project });
    expect(outer.config.skills.disabled).toEqual(["root"]);
  });

  test("never one above the repository, nor above a folder that is in none", async () => {
    const world = createWorld({ ".metier/config.toml": text("above"), "loose/x": "", "loose/sub/x": "" });
    expect((await world.load()).config.skills.disabled).toEqual([]);
    expect((await world.load({ cwd: join(world.root, "loose/sub") })).config.skills.disabled).toEqual([]);
  });

  test("the working directory's own, also outside of a repository", async () => {
    const world = createWorld({ "loose/.metier/config.toml": text("own") });
    expect((await world.load({ cwd: join(world.root, "loose") })).config.skills.disabled).toEqual(["own"]);
  });

  test("never the home's, which is the user file, even when home is a repository", async () => {
    const world = createWorld({ user: text("user"), "home/code/x": "" });
    mkdirSync(join(world.home, ".git"));
    for (const cwd of [world.home, join(world.home, "code")]) {
      const { projectFile, config } = await world.load({ cwd });
      expect(projectFile).toBeUndefined();
      expect(config.skills.disabled).toEqual(["user"]);
    }
  });

  test("of two formats beside each other TOML wins, and it is said", async () => {
    const world = createWorld({
      project: text("toml"),
      "project/.metier/config.yml": "skills: {disabled: [yml]}\n",
      [FILE]: "{}",
    });
    const loaded = await world.load();
    expect(loaded.config.skills.disabled).toEqual(["toml"]);
    const diagnostic = onlyDiagnostic(loaded);
    expect(diagnostic).toMatchObject({ code: "config.two-files", path: world.projectFile });
    expect(diagnostic.message).toContain(join(world.root, FILE));
    expect(diagnostic.hint).toContain("config.toml, config.yaml, config.yml, config.json");
  });

  test.skipIf(process.getuid?.() !== 0)(
    "never one that belongs to another user (needs root to set up)",
    async () => {
      for (const foreign of ["project", "project/.metier", "project/.metier/config.toml"]) {
        const world = createWorld({ project: text("foreign") });
        chownSync(join(world.root, foreign), 12_345, 12_345);
        const loaded = await world.load({ projectGrant: () => true });
        expect(onlyDiagnostic(loaded)).toMatchObject({
          code: "config.foreign-owner",
          path: world.projectFile,
        });
        expect(loaded.config.skills.disabled).toEqual([]);
      }
    },
  );
});
