/** What a small model is sent: measured at a stand-in for Ollama, for a skill and for a chat. */
import { describe, expect, test } from "vitest";
import { type OllamaChatRequest, type OllamaTurn, startOllama } from "../../../../test/support/ollama.ts";
import { createWorld, skill } from "../../../../test/support/world.ts";
import { chooseLeanTools, leanTool } from "../../src/run/lean-tools.ts";
import { answer, inputSchema, type Tool, textSchema } from "../../src/tools/tool.ts";

const tool = (name: string): Tool => ({
  name,
  description: `Does ${name}. And much more, in many words.`,
  inputSchema: inputSchema({ path: textSchema("The file.", 100) }, ["path"]),
  effect: "read",
  execute: async () => answer(name),
});
const TOOLS = [
  "bash",
  "read_file",
  "edit_file",
  "grep_search",
  "run_script",
  "use_skill",
  "list_skills",
  "mine",
].map(tool);
const names = (tools: readonly Tool[]): readonly string[] => tools.map(({ name }) => name);

describe("which tools a small model gets", () => {
  test.each([
    [{ named: [], instructions: "Count words.", others: [] }, ["bash", "read_file", "mine"]],
    [
      { named: ["Grep", "Bash(git:*)"], instructions: "Look.", others: [] },
      ["bash", "read_file", "grep_search", "mine"],
    ],
    [
      { named: [], instructions: "Run scripts/a.py, then `pdf`.", others: ["pdf"] },
      ["bash", "read_file", "run_script", "use_skill", "mine"],
    ],
  ])("for %j", (need, expected) => {
    expect(names(chooseLeanTools(TOOLS, need))).toEqual(expected);
  });

  test("without a shell, the tools that edit and search stay", () => {
    const need = { named: [], instructions: "Count.", others: [] };
    expect(names(chooseLeanTools(TOOLS.slice(1), need))).toEqual([
      "read_file",
      "edit_file",
      "grep_search",
      "mine",
    ]);
  });

  test("a chat keeps the way to its skills, and leaves out what its prompt says already", () => {
    expect(names(chooseLeanTools(TOOLS))).toEqual([
      "bash",
      "read_file",
      "edit_file",
      "run_script",
      "use_skill",
      "mine",
    ]);
  });
});

test("a tool is told in one sentence, with a bare schema", () => {
  expect(leanTool(tool("bash"))).toEqual({
    description: "Does bash.",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  });
});

describe("what is sent", () => {
  async function send(lean: boolean, turns: readonly OllamaTurn[]): Promise<readonly OllamaChatRequest[]> {
    const ollama = await startOllama([{ name: "m" }], turns);
    const world = createWorld();
    const lines = [
      "[models.default]",
      'provider = "ollama"',
      'model = "m"',
      `base-url = "${ollama.url}"`,
      `lean = ${lean}`,
    ];
    world.write({
      "home/.metier/config.toml": lines.join("\n"),
      "home/.metier/skills/count/SKILL.md": skill("count"),
    });
    const metier = await world.metier();
    const result = await metier.run({ skill: "count", message: "Go." });
    expect(result).toMatchObject({ status: "completed", usage: { inputTokens: 120 * turns.length } });
    return ollama.chats;
  }

  test("is less than half of what large models get", async () => {
    const [whole, lean] = [await send(false, [{ text: "One." }]), await send(true, [{ text: "One." }])];
    const bytes = (chats: readonly OllamaChatRequest[]): number => JSON.stringify(chats[0]).length;
    expect(bytes(lean)).toBeLessThan(bytes(whole) / 2);
    expect(bytes(lean)).toBeLessThan(3_500);
  });

  test("does not loosen what a call is checked against", async () => {
    const chats = await send(true, [
      { calls: [{ name: "read_file", arguments: { path: "" } }] },
      { text: "Done." },
    ]);
    expect(chats[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: expect.stringMatching(/^Error: .*path/s),
    });
  });
});
