/** What adapters say of tools that nobody holds, and when a turn ends. The contract of all of them is `contract.test.ts`. */
import { tool as langChainTool } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createWorld, skill } from "../../../../test/support/world.ts";
import type { AdaptedSkills } from "../../src/adapters/adapter.ts";
import { aiSdkSkills } from "../../src/adapters/ai-sdk.ts";
import { claudeSkills, mountClaudeSkills } from "../../src/adapters/claude.ts";
import { langChainSkills } from "../../src/adapters/langchain.ts";
import { mastraSkills } from "../../src/adapters/mastra.ts";
import { openAiAgentSkills, openAiChatSkills, openAiResponsesSkills } from "../../src/adapters/openai.ts";
import { plainSkills } from "../../src/adapters/plain.ts";
import type { Metier } from "../../src/runtime/create-metier.ts";

/** Each adapter used for its tools alone: nothing of the program is put under it. */
const UNHELD: Readonly<Record<string, (metier: Metier) => Promise<AdaptedSkills & UsesSkill>>> = {
  async "AI SDK"(metier) {
    const skills = await aiSdkSkills(metier);
    return { ...skills, use: (input) => skills.tools.use_skill?.execute(input, { messages: [] }) };
  },
  async "OpenAI Agents"(metier) {
    const skills = await openAiAgentSkills(metier);
    return { ...skills, use: (input) => skills.tools[0]?.invoke({}, JSON.stringify(input)) };
  },
  async "OpenAI Responses"(metier) {
    const skills = await openAiResponsesSkills(metier);
    const call = { type: "function_call", name: "use_skill", call_id: "1" };
    return { ...skills, use: (input) => skills.answer([{ ...call, arguments: JSON.stringify(input) }]) };
  },
  async "OpenAI chat completions"(metier) {
    const skills = await openAiChatSkills(metier);
    const call = (input: object) => ({ id: "1", function: { name: "use_skill", arguments: input } });
    return { ...skills, use: (input) => skills.answer({ tool_calls: [call(input)] }) };
  },
  async plain(metier) {
    const skills = await plainSkills(metier);
    return { ...skills, use: (input) => skills.call("use_skill", input) };
  },
  async "Claude Agent SDK"(metier) {
    const skills = await claudeSkills(metier, { z });
    return { ...skills, use: (input) => skills.tools[0]?.handler(input, {}) };
  },
  async "LangChain.js"(metier) {
    const skills = await langChainSkills(metier, { tool: langChainTool });
    return { ...skills, use: (input) => skills.tools[0]?.invoke(input) };
  },
  async Mastra(metier) {
    const skills = await mastraSkills(metier);
    return { ...skills, use: (input) => skills.tools.use_skill?.execute(input, { messages: [] }) };
  },
};

interface UsesSkill {
  use(input: { skill: string }): unknown;
}

test.each(Object.entries(UNHELD))(
  "%s reports a skill whose `disallowed-tools` the program does not hold, once, and to the logger [C13]",
  async (_name, open) => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/careful/SKILL.md": skill("careful", "disallowed-tools: [Bash]", "Look."),
    });
    const lines: string[] = [];
    const log = (message: string) => void lines.push(message);
    const metier = await world.metier({ logger: { debug: log, info: log, warn: log, error: log } });
    const skills = await open(metier);
    await skills.use({ skill: "careful" });
    await skills.use({ skill: "careful" });
    expect(skills.reports).toEqual([
      {
        code: "tools.unenforced",
        severity: "warning",
        message: expect.stringContaining("`disallowed-tools` of skill `careful` (`Bash`) is not enforced"),
        path: expect.stringContaining("SKILL.md"),
        hint: expect.stringContaining("adapters.md"),
      },
    ]);
    expect(lines).toEqual([skills.reports[0]?.message]);
  },
);

describe("a turn of the user ends what skills disallow", () => {
  test("for hosts that are told, and for none before", async () => {
    const world = createWorld();
    world.write({
      "home/.metier/skills/careful/SKILL.md": skill("careful", "disallowed-tools: [Bash]", "Look."),
    });
    const skills = await plainSkills(await world.metier());
    const run = skills.guard(() => "made");
    await skills.call("use_skill", { skill: "careful" });
    expect(skills.narrow([{ name: "shell" }])).toEqual([]);
    expect(await run("Bash", "{}")).toMatchObject({ isError: true });
    skills.startTurn();
    expect(skills.narrow([{ name: "shell" }])).toHaveLength(1);
    expect(await run("Bash", "{}")).toBe("made");
    // What is asked for again is followed again.
    await skills.call("use_skill", { skill: "careful" });
    expect(skills.narrow([{ name: "shell" }])).toEqual([]);
  });
});

test("a tool goes altogether where nobody looks at its calls, and that is reported", async () => {
  const world = createWorld();
  const more = 'disallowed-tools: ["Bash(rm:*)"]';
  world.write({ "home/.metier/skills/careful/SKILL.md": skill("careful", more, "Look.") });
  const skills = await plainSkills(await world.metier());
  expect(skills.narrow([{ name: "bash" }])).toHaveLength(1);
  await skills.call("use_skill", { skill: "careful" });
  expect(skills.narrow([{ name: "bash" }, { name: "weather" }])).toEqual([{ name: "weather" }]);
  expect(skills.reports).toMatchObject([{ code: "tools.scope-unenforceable" }]);
});

test("a tool that OpenAI carries out itself is reported when a skill disallows it", async () => {
  const world = createWorld();
  world.write({
    "home/.metier/skills/local/SKILL.md": skill("local", "disallowed-tools: [WebSearch]", "Look."),
  });
  const skills = await openAiAgentSkills(await world.metier());
  const hosted = { type: "hosted_tool", name: "web_search", providerData: {} };
  expect(skills.guard([hosted])).toEqual([hosted]);
  await skills.tools[0]?.invoke({}, '{"skill":"local"}');
  expect(skills.reports).toMatchObject([
    { code: "tools.unenforced", message: expect.stringContaining("`web_search`") },
  ]);
});

describe("tools of the AI SDK and Mastra under a guard", () => {
  async function guarded(execute: () => unknown) {
    const world = createWorld();
    const more = 'disallowed-tools: ["Bash(rm:*)"]';
    world.write({ "home/.metier/skills/careful/SKILL.md": skill("careful", more, "Look.") });
    const skills = await aiSdkSkills(await world.metier());
    class Shell {
      readonly description = "A shell.";
      readonly execute = execute;
    }
    const { shell, hosted } = skills.guard({
      shell: new Shell() as Shell & Ran,
      hosted: { type: "provider" },
    });
    expect(hosted).toEqual({ type: "provider" });
    expect(shell).toBeInstanceOf(Shell);
    expect(shell.description).toBe("A shell.");
    return { skills, shell };
  }

  interface Ran {
    execute(input: object): unknown;
  }

  test("are as they were while nothing is followed, also those that answer in parts", async () => {
    async function* parts() {
      yield "one";
      yield "two";
    }
    const { skills, shell } = await guarded(parts);
    expect(shell.execute({ command: "rm x" })).toHaveProperty("next");
    await skills.tools.use_skill?.execute({ skill: "careful" }, { messages: [] });
    expect(await shell.execute({ command: "ls" })).toBe("two");
    await expect(shell.execute({ command: "rm x" })).rejects.toThrow("was not allowed");
  });

  test("refuse a call that cannot be read", async () => {
    const { skills, shell } = await guarded(() => "ran");
    await skills.tools.use_skill?.execute({ skill: "careful" }, { messages: [] });
    for (const input of [
      {},
      { command: "" },
      { command: '"' },
      { command: "$(echo rm) x" },
      "no JSON",
      null,
    ]) {
      await expect(async () => shell.execute(input as object), JSON.stringify(input)).rejects.toThrow(
        /not allowed/,
      );
    }
  });
});

describe("misuse of an adapter [L6]", () => {
  test("what a host has to hand over is named", async () => {
    const metier = await createWorld().metier();
    await expect(claudeSkills(metier, {} as never)).rejects.toThrow("`claudeSkills` needs `z`");
    await expect(langChainSkills(metier, {} as never)).rejects.toThrow("`langChainSkills` needs `tool`");
  });

  test("an option that none of them has is thrown, with a near name", async () => {
    const metier = await createWorld().metier();
    const wrong = { callers: {} } as object;
    for (const open of [aiSdkSkills, openAiAgentSkills, openAiChatSkills, plainSkills, mastraSkills]) {
      await expect(open(metier, wrong)).rejects.toMatchObject({ code: "option.unknown" });
    }
    await expect(claudeSkills(metier, { z, ...wrong })).rejects.toMatchObject({ code: "option.unknown" });
    await expect(langChainSkills(metier, { tool: langChainTool, ...wrong })).rejects.toMatchObject({
      code: "option.unknown",
    });
    await expect(mountClaudeSkills(metier, { workspaces: "." } as never)).rejects.toMatchObject({
      code: "option.unknown",
    });
  });
});
