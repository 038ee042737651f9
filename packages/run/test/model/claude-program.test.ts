/** The user's own `claude` as a model, with a stand-in that speaks its protocol: what it is given, and what stops it. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type ClaudeBehaviour,
  installClaude,
  type TestClaude,
} from "../../../../test/support/claude-program.ts";
import { createWorld, skill, type World } from "../../../../test/support/world.ts";
import { readTextAnswer } from "../../src/model/text-tools.ts";

function claudeWorld(
  behaviour: ClaudeBehaviour = {},
  more = 'accepted-terms = "2026-11-16"',
): { readonly world: World; readonly claude: TestClaude } {
  const world = createWorld({
    environment: { SECRET_OF_MINE: "abc", ANTHROPIC_MODEL: "x", PATH: "/tmp/evil:/usr/bin:/bin" },
  });
  const claude = installClaude(join(world.root, "bin"), behaviour);
  world.write({
    "home/.metier/config.toml": `[models.default]\nprovider = "claude-program"\nprogram = ${JSON.stringify(claude.path)}\n${more}\n`,
    "home/.metier/skills/count/SKILL.md": skill("count"),
    "project/note.txt": "A note of mine.",
  });
  return { world, claude };
}

describe("[U3] the user's own `claude` program", () => {
  test("answers, and its tokens are counted", async () => {
    const { world } = claudeWorld();
    const result = await (await world.metier()).run({ skill: "count", message: "Go." });
    expect(result).toMatchObject({
      status: "completed",
      text: "Hello from claude.",
      model: "claude-program/default",
      usage: { inputTokens: 15, outputTokens: 4 },
    });
  });

  test("has no tools, settings, servers, project, PATH or variables of its own; the prompt is in no argument", async () => {
    const { world, claude } = claudeWorld();
    await (await world.metier()).run({ skill: "count", message: "A private task." });
    const [start] = claude.starts();
    const flag = (name: string): string | undefined => start?.args[start.args.indexOf(name) + 1];
    expect([flag("--tools"), flag("--setting-sources"), flag("--mcp-config")]).toEqual([
      "",
      "",
      '{"mcpServers":{}}',
    ]);
    expect(start?.args).toContain("--strict-mcp-config");
    expect(start?.args.join(" ")).not.toContain("private task");
    expect(start?.message).toBe("A private task.");
    expect(start?.files).toEqual(["system.txt"]);
    expect(existsSync(start?.cwd ?? "")).toBe(false);
    expect(start?.env).toMatchObject({ ANTHROPIC_MODEL: "x" });
    expect(start?.env).not.toHaveProperty("SECRET_OF_MINE");
    expect(start?.env.PATH).not.toContain("evil");
  });

  test("calls Metier's tools by text, through Metier's policy, and gets their results", async () => {
    const { world, claude } = claudeWorld({
      texts: [
        'I look.\n<CALL>{"name": "read_file", "input": {"path": "note.txt"}}</CALL>',
        "It says: a note.",
      ],
    });
    const result = await (await world.metier()).run({ skill: "count", message: "What does note.txt say?" });
    expect(result).toMatchObject({
      status: "completed",
      text: expect.stringContaining("It says: a note."),
      iterations: 2,
    });
    const second = claude.starts()[1]?.message ?? "";
    expect(second).toMatch(/<call-(\w+)>{"name":"read_file","input":{"path":"note.txt"}}<\/call-\1>/);
    expect(second).toMatch(/<result-\w+>.*A note of mine\..*<\/result-\w+>/s);
  });

  test.each([
    ["says that it has tools", { tools: ["Bash"] }, "did not confirm that its own tools"],
    ["uses a tool of its own", { usesTool: true }, "used one of its own tools"],
    ["reports an error", { error: "Credit balance is too low" }, "Credit balance is too low"],
    ["is not signed in", { silent: true }, "Please run /login"],
  ] as const)("is stopped with the reason when it %s", async (_, behaviour, reason) => {
    const { world } = claudeWorld(behaviour);
    const result = await (await world.metier()).run({ skill: "count", message: "Go." });
    expect(result).toMatchObject({
      status: "failed",
      text: "",
      error: { message: expect.stringContaining(reason) },
    });
  });

  test("is off until its terms are accepted, and is not started before", async () => {
    const { world, claude } = claudeWorld({}, "");
    const result = await (await world.metier()).run({ skill: "count", message: "Go." });
    expect(result).toMatchObject({
      status: "failed",
      error: { code: "model.missing", message: expect.stringContaining("not accepted") },
    });
    expect(claude.starts()).toEqual([]);
  });

  test("serves nobody else: a runtime that is opened as a service refuses it and does not start it", async () => {
    const { world, claude } = claudeWorld();
    const metier = await world.metier({ service: true });
    for (const model of [undefined, "default", "claude-program/opus"]) {
      expect(await metier.run({ skill: "count", message: "Go.", model })).toMatchObject({
        status: "failed",
        error: {
          code: "model.missing",
          message: expect.stringContaining("your own `claude` program, which must not serve other people."),
        },
      });
    }
    await expect(metier.chat()).rejects.toThrow("must not serve other people");
    expect(claude.starts()).toEqual([]);
  });

  test("a project, even a trusted one, cannot accept for the user or name the program", async () => {
    const { world } = claudeWorld({}, "");
    mkdirSync(join(world.project, ".metier"), { recursive: true });
    writeFileSync(
      join(world.project, ".metier", "config.toml"),
      '[models.default]\naccepted-terms = "2026-11-16"\nprogram = "/bin/sh"\n',
    );
    const metier = await world.metier({ trust: "vouch" });
    expect(metier.config.config.models.default).not.toHaveProperty("acceptedTerms");
    expect(metier.config.config.models.default?.program).not.toBe("/bin/sh");
  });

  test("is cancelled with the run", async () => {
    const { world } = claudeWorld();
    const stop = new AbortController();
    stop.abort();
    const result = await (await world.metier()).run({ skill: "count", message: "Go.", signal: stop.signal });
    expect(result.status).toBe("cancelled");
  });
});

test("a call is read however its text is cut, and what only looks like one stays text", () => {
  const text = 'a<b <call-w> no\n</call-w>x<call-w>{"name":"t","input":{"a":1}}</call-w>';
  for (const size of [1, 2, 7, 1000]) {
    const reader = readTextAnswer("w");
    const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
    const parts = [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
    const said = parts.flatMap((part) => (part.type === "text-delta" ? [part.delta] : [])).join("");
    expect(said).toBe("a<b  no\nx");
    expect(parts.filter(({ type }) => type === "tool-call")).toMatchObject([
      { toolName: "t", input: '{"a":1}' },
    ]);
    expect(reader.calls).toBe(1);
  }
});
