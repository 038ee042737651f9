import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createNotesWorld, writeNotesBridge } from "../support/notes-bridge.ts";
import { verifies } from "../support/verifies.ts";
import { createWorld, skill } from "../support/world.ts";

describe("metier capability list and providers", () => {
  verifies([161, 177], "shows what a provider of the config offers, with every id", async () => {
    const world = createNotesWorld();
    const { code, stdout, stderr } = await world.cli("capability");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("notes.pad - A pad of notes.\n  available: yes\n  chats: all\n");
    expect(stdout).toContain("  sign-in: needed, metier capability auth begin notes.diary\n");
    expect(stdout).toContain(
      "  operation: add - Does add. (input: text; changes something; without sign-in)\n",
    );
    expect(stdout).toMatch(/\n\nTotal: 3\n$/);
  });

  test("leaves out what is not for this chat, unless all is asked for", async () => {
    const world = createNotesWorld();
    const { json } = await world.cli("capability", "list", "--chat-type", "group", "--json");
    expect(json.capabilities.map(({ id }: { id: string }) => id)).toEqual(["notes.pad", "notes.web"]);
    expect(json.faults).toEqual([]);
    const all = await world.cli("capability", "list", "--chat-type", "group", "--all", "--json");
    expect(all.json.capabilities[0]).toMatchObject({
      id: "notes.diary",
      available: false,
      sensitive: true,
      allowedChatTypes: ["private"],
    });
  });

  verifies(165, "a provider that cannot start is told, with what to do, and the rest works", async () => {
    const world = createNotesWorld(
      '[capabilities.providers.lost]\ncommand = ["no-such-program-here"]\n[skills.gog]\nenabled = true\n',
    );
    const { code, stdout, stderr } = await world.cli("capability");
    expect(code).toBe(0);
    expect(stdout).toContain("Total: 3");
    expect(stderr).toMatch(
      /provider lost: error: .*no-such-program-here.*\(capability_backend_unavailable\)/,
    );
    const { json } = await world.cli("capability", "providers", "--json");
    expect(json.providers).toEqual([
      expect.objectContaining({ name: "gog", origin: "preset", command: ["gogcli", "bridge"] }),
      expect.objectContaining({ name: "lost", capabilities: [], fault: expect.anything() }),
      {
        name: "notes",
        namespace: "notes",
        kind: "bridge",
        origin: "config",
        command: world.bridge.command,
        capabilities: ["notes.diary", "notes.pad", "notes.web"],
      },
    ]);
  });

  verifies(
    [94, 165],
    "a skill that is asked for brings its preset, and explicit config beats it",
    async () => {
      const world = createNotesWorld();
      const other = world.bridge.config.replace("providers.notes", "providers.gog");
      world.write({ "home/.metier/config.toml": `[skills.gog]\nenabled = true\n${other}` });
      const { json } = await world.cli("capability", "providers", "--json");
      expect(json.providers).toMatchObject([
        { name: "gog", origin: "config", command: world.bridge.command },
      ]);
    },
  );

  test("says so where there is nothing, and how to change that", async () => {
    const world = createWorld();
    const listed = await world.cli("capability", "list");
    expect([listed.code, listed.stdout]).toEqual([0, "Total: 0\n"]);
    expect(listed.stderr).toContain("`metier capability providers`");
    const providers = await world.cli("capability", "providers");
    expect(providers.stderr).toContain("[capabilities.providers.NAME]");
  });

  test("what a provider writes cannot write to the terminal", async () => {
    const world = createNotesWorld();
    const program = world.bridge.command[1] ?? "";
    const hostile = readFileSync(program, "utf8").replace(
      '"A pad of notes."',
      '"red \\u001b[31m and\\n  available: no"',
    );
    writeFileSync(program, hostile);
    const { stdout, stderr } = await world.cli("capability");
    expect(stdout).toContain("notes.diary - ");
    expect(`${stdout}${stderr}`).not.toContain("\u001b");
    expect(stdout).not.toContain("\n  available: no\n");
  });
});

describe("metier capability invoke", () => {
  test("performs an operation and echoes what was done, by option or by position", async () => {
    const world = createNotesWorld();
    const input = JSON.stringify({ text: "a\u202eb" });
    const text = await world.cli("capability", "invoke", "notes.pad", "echo", "--input", input);
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(
      /^request: cap_[0-9a-f]{16}\ncapability: notes\.pad\noperation: echo\noutput:\n\{/,
    );
    expect(text.stdout).toContain('"text": "a\\u202eb"');
    const flags = ["-c", "notes.pad", "-o", "list", "--json"];
    const { json } = await world.cli("capability", "invoke", ...flags);
    expect(json).toEqual({
      requestId: expect.stringMatching(/^cap_[0-9a-f]{16}$/),
      capability: "notes.pad",
      operation: "list",
      output: { did: "list", input: {}, account: null },
      isRepeat: false,
    });
  });

  test("a change is shown in the terminal, exactly and escaped, and done only after a typed yes", async () => {
    const world = createNotesWorld();
    const input = JSON.stringify({ text: "milk\u202e\nbread" });
    const flags = ["capability", "invoke", "notes.pad", "add", "--input", input];
    const declined = await world.cliAnswering(["y"], ...flags);
    expect(declined.code).toBe(3);
    expect(declined.stderr).toContain("  capability: notes.pad\n  operation: add - Does add.\n");
    expect(declined.stderr).toContain('    "text": "milk\\u202e\\nbread"\n');
    expect(declined.stderr).toContain("(capability_mutation_not_confirmed)");
    expect(world.bridge.asked()).toEqual([]);
    const done = await world.cliAnswering(["yes"], ...flags);
    expect([done.code, world.bridge.asked().length]).toEqual([0, 1]);
  });

  test("without a terminal a change is refused, and so it is with --json", async () => {
    const world = createNotesWorld();
    const flags = ["capability", "invoke", "notes.pad", "add", "--input", '{"text": "x"}'];
    const piped = await world.cli(...flags);
    expect(piped.code).toBe(3);
    expect(piped.stderr).toContain("nobody can confirm it");
    const { code, json } = await world.cliAnswering([], ...flags, "--json");
    expect(code).toBe(3);
    expect(json).toEqual({
      error: {
        code: "capability_mutation_not_confirmed",
        message: expect.any(String),
        hint: expect.any(String),
      },
    });
    expect(world.bridge.asked()).toEqual([]);
  });

  test.each<readonly [exit: number, code: string, args: readonly string[]]>([
    [1, "capability_not_found", ["notes.none", "list"]],
    [2, "capability_invalid_input", ["notes.pad", "none"]],
    [2, "capability_invalid_input", ["notes.pad", "echo", "--input", '{"txt": 1}']],
    [3, "capability_auth_required", ["notes.diary", "read"]],
    [3, "capability_access_denied", ["notes.diary", "read", "--chat-type", "group"]],
    [5, "notes_lost", ["notes.pad", "fail"]],
  ])("ends with %i for %s", async (exit, code, args) => {
    const world = createNotesWorld();
    const outcome = await world.cli("capability", "invoke", ...args, "--json");
    expect([outcome.code, outcome.json.error.code]).toEqual([exit, code]);
  });

  test("the rate limit of the config holds", async () => {
    const world = createNotesWorld("[capabilities]\nrate-limit = 1\n");
    const metier = await world.metier();
    const call = (): Promise<unknown> =>
      metier.capabilities.invoke(
        { capability: "notes.pad", operation: "list" },
        { caller: { userId: "u1" } },
      );
    expect(await call()).toMatchObject({ ok: true });
    expect(await call()).toMatchObject({ ok: false, fault: { code: "capability_rate_limited" } });
    await metier.capabilities.close();
  });
});

describe("metier.capabilities", () => {
  test("follows the config when it is read anew", async () => {
    const world = createWorld();
    const bridge = writeNotesBridge(join(world.root, "bridge"));
    const metier = await world.metier();
    expect(await metier.capabilities.providers()).toEqual([]);
    mkdirSync(join(world.home, ".metier"), { recursive: true });
    writeFileSync(join(world.home, ".metier/config.toml"), bridge.config);
    await metier.reload();
    expect(await metier.capabilities.providers()).toMatchObject([{ name: "notes" }]);
    await metier.capabilities.close();
  });

  test("a skill that declares capabilities shows whether somebody would perform them", async () => {
    const world = createNotesWorld();
    world.write({
      "home/.metier/skills/mail/SKILL.md": skill("mail", "capabilities: [notes.pad, gog.email]"),
    });
    const { stdout } = await world.cli("show", "mail");
    expect(stdout).toMatch(/capability +notes\.pad - by the provider notes/);
    expect(stdout).toMatch(/capability +gog\.email - no provider is configured for it/);
    const { json } = await world.cli("show", "mail", "--json");
    expect(json.capabilities).toEqual([
      { id: "notes.pad", provider: "notes" },
      { id: "gog.email", provider: null },
    ]);
    expect(world.bridge.asked()).toEqual([]);
  });
});
