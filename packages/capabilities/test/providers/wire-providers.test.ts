import { chmodSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LoadedConfig } from "@metier/skills/config";
import { describe, expect, test } from "vitest";
import { MACHINE, wire } from "../../../../test/support/bridges.ts";
import { createWorld } from "../../../../test/support/config-world.ts";
import { temporaryFolder, writeTree } from "../../../../test/support/temporary.ts";
import { verifies } from "../../../../test/support/verifies.ts";
import type { CapabilityProvider } from "../../src/capability.ts";
import type { WiredProvider } from "../../src/provider-registry.ts";
import { findExecutable } from "../../src/providers/provider-launch.ts";
import { type WireRequest, wireProviders } from "../../src/providers/wire-providers.ts";

/** As `loadConfig` reads these files. */
async function wireFiles(files: Readonly<Record<string, string>>): Promise<readonly WiredProvider[]> {
  return wireLoaded(await createWorld(files).load());
}

function wireLoaded({ config }: LoadedConfig, more: Partial<WireRequest> = {}): readonly WiredProvider[] {
  return wireProviders({ config, places: { home: "/home/me" }, environment: {}, machine: MACHINE, ...more });
}

function summary(wired: readonly WiredProvider[]): readonly unknown[] {
  return wired.map(({ name, namespace, command, origin, timeoutMs }) => ({
    name,
    namespace,
    command,
    origin,
    timeoutMs,
  }));
}

describe("which providers there are", () => {
  test("none where nothing says so", async () => {
    expect(await wireFiles({})).toEqual([]);
    expect(await wireFiles({ user: "[skills.gog]\nenabled = false\n" })).toEqual([]);
    expect(await wireFiles({ user: "[skills.other]\nenabled = true\n" })).toEqual([]);
  });

  verifies(
    161,
    "those of a config file in the spelling of another system, with a command as one text",
    async () => {
      const user = [
        "[skills.gog.capability_provider]",
        "enabled = true",
        'namespace = "gog"',
        "command = \"my-gog bridge --account 'at work'\"",
        "timeout_seconds = 12",
        "[capabilities.providers.notes]",
        'command = ["notes-bridge"]',
      ].join("\n");
      expect(summary(await wireFiles({ user }))).toEqual([
        {
          name: "gog",
          namespace: "gog",
          command: ["my-gog", "bridge", "--account", "at work"],
          origin: "config",
          timeoutMs: 12_000,
        },
        { name: "notes", namespace: "notes", command: ["notes-bridge"], origin: "config", timeoutMs: 30_000 },
      ]);
    },
  );

  verifies(
    165,
    "a preset's where its skill is enabled; the config of the skill beats it, and its own table beats both",
    async () => {
      const enabled = "[skills.gog]\nenabled = true\n";
      const ofSkill = '[skills.gog.capability-provider]\ncommand = ["other"]\ntimeout-seconds = 5\n';
      const own = '[capabilities.providers.gog]\ncommand = ["mine", "bridge"]\n';
      const cases: Readonly<Record<string, readonly unknown[]>> = {
        [enabled]: [["gogcli", "bridge"], "preset", 30_000],
        [`${enabled}[capabilities.providers.gog]\ntimeout-seconds = 9\n`]: [
          ["gogcli", "bridge"],
          "preset",
          9_000,
        ],
        [enabled + ofSkill]: [["other"], "config", 5_000],
        [enabled + ofSkill + own]: [["mine", "bridge"], "config", 5_000],
        [own]: [["mine", "bridge"], "config", 30_000],
        "[capabilities.providers.gog]\nenabled = true\n": [["gogcli", "bridge"], "preset", 30_000],
      };
      for (const [user, expected] of Object.entries(cases)) {
        const [gog, ...others] = await wireFiles({ user });
        expect([gog?.command, gog?.origin, gog?.timeoutMs]).toEqual(expected);
        expect(others).toEqual([]);
      }
      for (const off of [
        "[capabilities.providers.gog]\nenabled = false\n",
        "[skills.gog.capability-provider]\nenabled = false\n",
      ])
        expect(await wireFiles({ user: enabled + off })).toEqual([]);
    },
  );

  test("none for the preset `desk`, which left: its table says where it went, until it names a program", async () => {
    expect(await wireFiles({ user: "[skills.desk]\nenabled = true\n" })).toEqual([]);
    const table = '[capabilities.providers.desk]\nenv = { DESK_ROOT = "/mail" }\n';
    expect(await wireFiles({ user: table })).toEqual([]);
    for (const user of [
      `[skills.desk]\nenabled = true\n${table}`,
      "[capabilities.providers.desk]\nenabled = true\n",
    ]) {
      const [desk] = await wireFiles({ user });
      expect(desk?.provider).toBeUndefined();
      expect(desk?.fault?.hint).toBe(
        "`desk` no longer comes with Metier. It is now an example: see `examples/desk` in the repository. Set `command` in `[capabilities.providers.desk]` to its program.",
      );
    }
    const named = table.replace("\n", '\ncommand = ["node", "examples/desk/bridge.ts"]\n');
    expect(await wireFiles({ user: `[skills.desk]\nenabled = true\n${named}` })).toMatchObject([
      { name: "desk", origin: "config", provider: expect.anything() },
    ]);
  });

  test("those that the program brings, before all others", async () => {
    const provider: CapabilityProvider = {
      namespace: "books",
      definitions: () => Promise.reject(new Error("not asked")),
      invoke: () => Promise.reject(new Error("not asked")),
    };
    const wired = wire({ archive: { command: ["archive"] } }, { given: [provider] });
    expect(wired[0]).toEqual({
      name: "books",
      namespace: "books",
      kind: "in-process",
      origin: "program",
      provider,
    });
    expect(wired[1]?.name).toBe("archive");
  });

  test("a server instead of a bridge where a stronger layer names one", async () => {
    const user =
      '[skills.gog]\nenabled = true\n[capabilities.providers.gog]\nmcp = "https://gog.example/mcp?key=s3cret"\n';
    const [gog] = await wireFiles({ user });
    expect(gog).toMatchObject({ kind: "mcp", command: ["https://gog.example/mcp"], origin: "config" });
  });

  test("one at fault is named, and the others are there", async () => {
    const user = [
      '[capabilities.providers.empty]\nnamespace = "empty"',
      '[capabilities.providers.both]\ncommand = "a"\nmcp = "b"',
      '[capabilities.providers."Big Name"]\ncommand = "a"',
      '[capabilities.providers.server]\nmcp = "b"\npersistent = true',
      '[capabilities.providers.remote]\nmcp = "https://a.example/"\nenv = { KEY = "x" }',
      '[capabilities.providers.good]\ncommand = "a"',
    ].join("\n");
    const wired = await wireFiles({ user });
    const faults = wired.flatMap(({ name, fault }) => (fault ? [[name, fault.message]] : []));
    expect(Object.fromEntries(faults)).toEqual({
      "Big Name": expect.stringContaining("its namespace is `Big Name`"),
      both: expect.stringContaining("both `command` and `mcp`"),
      empty: expect.stringContaining("neither `command` nor `mcp`"),
      remote: expect.stringContaining("`env` has `KEY`"),
      server: expect.stringContaining("`persistent` is only for bridges"),
    });
    expect(wired.find(({ name }) => name === "good")?.provider).toBeDefined();
  });
});

describe("a project's config", () => {
  const user = '[capabilities.providers.mail]\ncommand = ["mail-bridge"]\ntimeout-seconds = 20\n';
  const project = [
    "[skills.gog]\nenabled = true",
    '[skills.notes.capability-provider]\ncommand = ["evil"]',
    "[capabilities]\nrate-limit = 1000",
    '[capabilities.providers.mail]\ncommand = ["evil"]\nnamespace = "gog"\npersistent = true\ntimeout-seconds = 200',
    '[capabilities.providers.mail.env]\nLD_PRELOAD = "/project/evil.so"',
    '[capabilities.providers.more]\ncommand = ["evil"]\ntimeout-seconds = 5',
    '[capabilities.providers.server]\nmcp = "https://evil.example/"',
  ].join("\n");

  verifies(173, "neither adds a provider nor changes how one is started", async () => {
    const loaded = await createWorld({ user, project }).load();
    expect(summary(wireLoaded(loaded))).toEqual(summary(await wireFiles({ user })));
    expect(loaded.config.capabilities.providers.mail).toEqual({
      command: ["mail-bridge"],
      timeoutSeconds: 20,
    });
    expect(loaded.config.capabilities.rateLimit).toBe(60);
    const codes = new Set(loaded.diagnostics.map(({ code }) => code));
    expect([...codes].sort()).toEqual(["config.not-granted", "config.user-only"]);
    expect(JSON.stringify(loaded.diagnostics)).not.toContain("evil.so");
  });

  test("may switch one off, and make it give up sooner and be asked less", async () => {
    const shorter = "[capabilities]\nrate-limit = 5\n[capabilities.providers.mail]\ntimeout-seconds = 2\n";
    const loaded = await createWorld({ user, project: shorter }).load();
    expect(wireLoaded(loaded)[0]?.timeoutMs).toBe(2000);
    expect(loaded.config.capabilities.rateLimit).toBe(5);
    expect(await wireFiles({ user, project: "[capabilities.providers.mail]\nenabled = false\n" })).toEqual(
      [],
    );
  });
});

describe("the program of a provider", () => {
  test("is looked for beside Node, in a virtual environment, then on PATH", () => {
    const root = temporaryFolder();
    const program = (folder: string, name: string): string => {
      const path = join(root, folder, name);
      writeTree(root, { [join(folder, name)]: "" });
      return path;
    };
    const inVenv = program("venv/bin", "bridge");
    const onPath = program("bin", "bridge");
    const node = program("bin", "node");
    for (const file of [inVenv, onPath, node]) chmodSync(file, 0o755);
    const environment = { PATH: join(root, "bin"), VIRTUAL_ENV: join(root, "venv") };
    expect(findExecutable("bridge", environment)).toBe(inVenv);
    expect(findExecutable("bridge", { PATH: join(root, "bin") })).toBe(onPath);
    expect(findExecutable("node", environment)).toBe(join(dirname(process.execPath), "node"));
    expect(findExecutable("bridge", { PATH: "", VIRTUAL_ENV: "venv" })).toBeUndefined();
    expect(findExecutable("/opt/x/bridge", environment)).toBe("/opt/x/bridge");
  });

  test("may be a path from the home folder, or from where the config file belongs", async () => {
    const world = createWorld({
      user: '[capabilities.providers.a]\ncommand = "~/bin/bridge serve"\n[capabilities.providers.b]\ncommand = ["./bridge"]\n',
    });
    mkdirSync(join(world.home, "bin"));
    const wired = wireLoaded(await world.load());
    expect(wired.map(({ command }) => command)).toEqual([
      [join(world.home, "bin/bridge"), "serve"],
      [join(world.home, "bridge")],
    ]);
  });
});
